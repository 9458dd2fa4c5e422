#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>

#include "bindings/bindings.h"
#include "cluster/in_process.h"
#include "cluster/member.h"
#include "cluster/shared_nodes.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace playout::bindings {
namespace {

std::string_view view(const nb::bytes& bytes) { return {static_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace

void register_cluster(nb::module_& m) {
  nb::class_<Traffic>(m, "Traffic", "What has gone through a port.")
      .def_ro("messages_sent", &Traffic::messages_sent)
      .def_ro("bytes_sent", &Traffic::bytes_sent)
      .def_ro("batches_sent", &Traffic::batches_sent)
      .def_ro("messages_received", &Traffic::messages_received)
      .def_ro("bytes_received", &Traffic::bytes_received)
      .def_ro("batches_received", &Traffic::batches_received)
      .def_ro("idle_seconds", &Traffic::idle_seconds);

  nb::class_<Port>(m, "Port", "Where the messages of one rank go out and come in.")
      .def(nb::init<int, int>(), "rank"_a, "ranks"_a)
      .def_prop_ro("rank", &Port::rank)
      .def_prop_ro("ranks", &Port::ranks)
      .def(
          "send", [](Port& port, int to, int kind, const nb::bytes& bytes) { port.send(to, kind, view(bytes)); },
          "to"_a, "kind"_a, "bytes"_a)
      .def(
          "receive",
          [](Port& port) -> nb::object {
            Message message;
            if (!port.receive(message)) return nb::none();
            return nb::make_tuple(message.from, message.kind, nb::bytes(message.bytes.data(), message.bytes.size()));
          },
          nb::sig("def receive(self) -> tuple[int, int, bytes] | None"),
          "The next message, as who sent it, its kind and its bytes; None if there is none.")
      .def(
          "take",
          [](Port& port, int to) {
            const std::string batch = port.take(to);
            return nb::bytes(batch.data(), batch.size());
          },
          "to"_a, "All that waits for a rank, for whoever moves it there.")
      .def(
          "deliver",
          [](Port& port, int from, const nb::bytes& batch) {
            const std::string_view bytes = view(batch);
            const nb::gil_scoped_release release;
            port.deliver(from, bytes);
          },
          "rank"_a, "batch"_a, "Takes in what another rank's port gave; raises ValueError if it is no such thing.")
      .def("add_idle", &Port::add_idle, "seconds"_a)
      .def_prop_ro("traffic", &Port::traffic);

  nb::class_<Network>(m, "Network", "Ranks in this process, and what connects them.")
      .def(nb::init<int, double, double, std::optional<std::uint64_t>>(), "ranks"_a, "delay"_a = 0.0,
           "bandwidth"_a = std::numeric_limits<double>::infinity(), "seed"_a = nb::none())
      .def("port", &Network::port, "rank"_a)
      .def("check", &Network::check, "Raises what ended the thread that moves messages, if something has.")
      .def("deliver", &Network::deliver, nb::call_guard<nb::gil_scoped_release>(),
           "With a seed: has every link carry what waits there, in an order of its own; returns how many batches did.");

  nb::class_<SharingSettings>(m, "SharingSettings")
      .def(nb::init<>())
      .def_rw("broadcast", &SharingSettings::broadcast)
      .def_rw("interval", &SharingSettings::interval)
      .def_rw("simulations", &SharingSettings::simulations)
      .def_rw("depth", &SharingSettings::depth)
      .def_rw("min_visits", &SharingSettings::min_visits)
      .def_rw("min_share", &SharingSettings::min_share);
  nb::class_<SplitSettings>(m, "SplitSettings")
      .def(nb::init<>())
      .def_rw("duplicate_after", &SplitSettings::duplicate_after)
      .def_rw("sync_every", &SplitSettings::sync_every)
      .def_rw("overload", &SplitSettings::overload);
  nb::class_<SharingReport>(m, "SharingReport", "What sharing has cost a rank.")
      .def_ro("exchanges", &SharingReport::exchanges)
      .def_ro("nodes", &SharingReport::nodes)
      .def_ro("told", &SharingReport::told)
      .def_ro("heard", &SharingReport::heard)
      .def_ro("lost", &SharingReport::lost)
      .def_ro("seconds", &SharingReport::seconds)
      .def_ro("worked", &SharingReport::worked)
      .def_ro("idle", &SharingReport::idle);
}

}  // namespace playout::bindings
