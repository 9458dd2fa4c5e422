// The solver of tree search: what is proven of the state an action leads to is proven of the action, and perhaps of the
// node it belongs to.
#pragma once

#include <algorithm>
#include <cstdint>

#include "search/tree.h"

namespace playout {

using GameTree = Tree<WinAction, WinAmaf>;

// What is proven of a node's actions is proven of the node.
template <class Access>
void settle(GameTree& tree, Node& node) {
  Bounds of_node = node.player == 0 ? Bounds{0, 0} : Bounds{2, 2};
  WinAction* list = tree.actions(node);
  for (std::uint32_t i = 0; i < node.count; i++) {
    if (link_of(Access::load(list[i].link)) == kIllegal) continue;
    const Bounds one = WinAction::bounds(Access::load(list[i].tag));
    if (node.player == 0)
      of_node = {std::max(of_node.lower, one.lower), std::max(of_node.upper, one.upper)};
    else
      of_node = {std::min(of_node.lower, one.lower), std::min(of_node.upper, one.upper)};
  }
  for (bool stored = false; !stored;) {
    const Bounds before = bounds_of<Access>(node), now = both(before, of_node);
    stored =
        now == before || now.lower > now.upper || Access::exchange(node.bounds, Node::pack(before), Node::pack(now));
  }
}

// Takes what is proven of an action.
template <class Access>
void prove(GameTree& tree, Node& node, WinAction& action, const Bounds& proven) {
  if (WinAction::bounds(Access::load(action.tag)) == proven) return;
  while (true) {  // what others have proven meanwhile stays
    const std::uint32_t tag = Access::load(action.tag);
    const Bounds before = WinAction::bounds(tag), now = both(before, proven);
    if (now == before || now.lower > now.upper) return;  // in a graph the ways may differ in what superko forbids
    if (Access::exchange(action.tag, tag, (tag & ~WinAction::pack({3, 3})) | WinAction::pack(now))) break;
  }
  settle<Access>(tree, node);
}

// Takes what is proven of the state it leads to.
template <class Access>
void prove(GameTree& tree, Node& node, WinAction& action) {
  const Link link = link_of(Access::load(action.link));
  if (link > kIllegal) prove<Access>(tree, node, action, bounds_of<Access>(tree.node(link)));
}

}  // namespace playout
