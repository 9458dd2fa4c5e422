// Archive: values as bytes and back, for searches that are kept, moved or resumed.
//
// Numbers are written as this machine has them (x86-64: little-endian). What is read may come from anywhere: a Reader
// never reads past the end, never allocates more than the bytes there could fill, and throws Damaged on anything odd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace playout {

struct Damaged : std::invalid_argument {
  Damaged() : std::invalid_argument("the saved state of the search is damaged") {}
};

class Writer {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_arithmetic_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  template <class T>
  void put(const std::vector<T>& values, std::size_t count) {
    put<std::uint64_t>(count);
    for (std::size_t i = 0; i < count; i++) put(values[i]);
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(values, values.size());
  }
  void put_bytes(std::string_view bytes) { bytes_.append(bytes); }
  // A number that is small most of the time: seven bits a byte, the lowest first.
  void put_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }
  const std::string& bytes() const { return bytes_; }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T get() {
    T value;
    if (bytes_.size() < sizeof value) throw Damaged();
    bytes_.copy(reinterpret_cast<char*>(&value), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }
  std::uint64_t get_varint() {
    if (!bytes_.empty() && static_cast<std::uint8_t>(bytes_[0]) < 0x80) {
      const auto value = static_cast<std::uint8_t>(bytes_[0]);
      bytes_.remove_prefix(1);
      return value;
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes_.size() && i < 10; i++) {
      const auto byte = static_cast<std::uint8_t>(bytes_[i]);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
      if (byte >= 0x80) continue;
      bytes_.remove_prefix(i + 1);
      return value;
    }
    throw Damaged();
  }
  // How many elements of at least that size follow.
  std::size_t get_count(std::size_t element_size) { return checked(get<std::uint64_t>(), element_size); }
  // The same of a count that was written as a varint.
  std::size_t get_small_count(std::size_t element_size) { return checked(get_varint(), element_size); }
  template <class T>
  void get(std::vector<T>& values) {
    values.resize(get_count(sizeof(T)));
    for (T& value : values) value = get<T>();
  }
  std::string_view get_bytes(std::size_t count) {
    if (count > bytes_.size()) throw Damaged();
    const std::string_view found = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return found;
  }
  // A number that can be compared.
  double get_number() {
    const auto value = get<double>();
    if (value != value) throw Damaged();
    return value;
  }
  // A number that must be below a limit.
  template <class T>
  T get_below(T limit) {
    const T value = get<T>();
    if (value < 0 || value >= limit) throw Damaged();
    return value;
  }
  bool at_end() const { return bytes_.empty(); }
  std::string_view rest() { return std::exchange(bytes_, {}); }
  void expect_end() const {
    if (!bytes_.empty()) throw Damaged();
  }

 private:
  std::size_t checked(std::uint64_t count, std::size_t element_size) const {
    if (count > bytes_.size() / element_size) throw Damaged();
    return count;
  }

  std::string_view bytes_;
};

}  // namespace playout
