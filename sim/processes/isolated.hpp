// Runs a simulation, or what a solver does, in a child process and brings its answer back.
#pragma once

#include "sim/watch.hpp"

#include <cstddef>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tutti {

/// Plain values and vectors of them, byte for byte: both ends are this very program.
class ByteWriter {
public:
  std::string bytes;
  template <typename T> void value(const T& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  template <typename T> void vector(const std::vector<T>& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    value(v.size());
    bytes.append(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
  }
};

class ByteReader {
public:
  explicit ByteReader(const std::string& bytes) : bytes_(bytes) {}
  template <typename T> void value(T& v) { std::memcpy(&v, take(sizeof v), sizeof v); }
  template <typename T> void vector(std::vector<T>& v) {
    std::size_t size = 0;
    value(size);
    v.resize(size);
    if (size > 0) std::memcpy(v.data(), take(size * sizeof(T)), size * sizeof(T));
  }

private:
  const char* take(std::size_t size) {
    if (bytes_.size() - at_ < size) throw std::runtime_error("the simulation's report is cut off");
    at_ += size;
    return bytes_.data() + at_ - size;
  }
  const std::string& bytes_;
  std::size_t at_ = 0;
};

/// Calls `simulate` in a forked child; what it returns comes back through a pipe. An InputError
/// thrown there is thrown here again. Meanwhile this process asks the watch, some twenty times a
/// second; where that says so the child is killed, and Stopped is thrown. Errors: also
/// std::runtime_error where the child dies or can't be made. Not from several threads at once: a
/// child would hold the other pipes open.
/// Cost: a fork (about 1 ms) plus copying what is returned.
[[nodiscard]] std::string bytes_of_child(const std::function<std::string()>& simulate,
                                         const Watch& watch = {});

/// The same for a report, whose fields exchange(stream, report) hands to either stream, in one
/// order.
template <typename Simulate, typename Exchange>
[[nodiscard]] auto run_isolated(const Simulate& simulate, const Exchange& exchange,
                                const Watch& watch) {
  const std::string bytes = bytes_of_child(
      [&] {
        auto report = simulate();
        ByteWriter writer;
        exchange(writer, report);
        return std::move(writer.bytes);
      },
      watch);
  decltype(simulate()) report;
  ByteReader reader(bytes);
  exchange(reader, report);
  return report;
}

} // namespace tutti
