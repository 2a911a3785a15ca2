// What the files of Python's module `_tutti` share. The module binds values and functions of the
// libraries and nothing else: what can be said in Python is in python/tutti. Three classes are
// bound, whose memory NumPy looks into; all other answers are dictionaries, from which Python makes
// its own values.
#pragma once

#include "experiments/driver/requests/collective_request.hpp"
#include "sim/collective.hpp"
#include "sim/compact_schedule.hpp"
#include "sim/schedule.hpp"
#include "sim/time_model.hpp"
#include "sim/topology.hpp"
#include "sim/watch.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tutti::python {

namespace py = pybind11;

/// A collective, and how it was asked for, so that it can be cut otherwise.
struct BoundCollective {
  std::shared_ptr<Topology> topology;
  CollectiveRequest request;           ///< without texts: it is as it is
  std::optional<std::uint32_t> chunks; ///< per shard; none: auto
  std::shared_ptr<const Collective> made;

  /// With so many chunks per shard. Errors: as make_collective().
  [[nodiscard]] Collective cut(std::uint32_t chunks_per_shard) const;
};

struct BoundSchedule {
  std::shared_ptr<BoundCollective> collective;
  std::optional<Schedule> list;
  std::optional<CompactSchedule> compact; ///< instead
  std::string algorithm;
  TimeModel model; ///< that it was made for

  [[nodiscard]] const Topology& topology() const { return *collective->topology; }
  [[nodiscard]] std::size_t size() const { return list ? list->size() : compact->size(); }
};

/// Work of ours while Python waits: it runs in a thread of its own, without Python's lock, and the
/// thread that has called asks for signals and tells how far it is meanwhile. So no other thread
/// ever calls into Python, and Ctrl-C is heard whatever the work does.
class Waiting {
public:
  /// `heard`: called with (stage, done, total), or None.
  explicit Waiting(py::object heard) : heard_(std::move(heard)) {}

  /// Returns when `work` has ended. Errors: what it throws, unless Python has raised something;
  /// Stopped where Python is about to end.
  void run(const std::function<void()>& work);
  /// Whether Python has raised something, or is about to end: for what ends with the best so far.
  /// Any thread.
  [[nodiscard]] bool is_cancelled() const;
  /// A watch that ends the work with the first that is raised or, where it may finish what is made
  /// already, with the second. Any thread; refers to this.
  [[nodiscard]] StageWatch watch(unsigned ended_by = 1);
  /// Errors: tutti.Interrupted with `best` where a KeyboardInterrupt has been raised meanwhile;
  /// anything else that was, as it is.
  void raise(const py::object& best = py::none());

private:
  void listen();

  py::object heard_;
  std::atomic<unsigned> raised_ = 0;
  std::optional<py::error_already_set> first_;
  std::mutex mutex_; // of what follows
  std::string stage_;
  WorkProgress progress_;
  bool is_news_ = false;
};

/// Has all work end, and waits for that: a thread that came back to an interpreter that has ended
/// would end the process. For atexit.
void end_all_work();
/// In a forked child.
void forget_work_of_others();

/// The argument as a T. Errors: TypeError with its name, and in words what it should be.
template <typename T>
[[nodiscard]] T argument_of(const py::object& value, const char* argument, const char* expected) {
  try {
    return value.cast<T>();
  } catch (const py::cast_error&) {
    throw py::type_error(std::string(argument) + ": " + expected + " is expected, not " +
                         py::repr(value).cast<std::string>());
  }
}

/// An int, or a text with a unit. Errors: TypeError and InputError with the argument's name.
[[nodiscard]] Bytes bytes_of(const py::object& value, const char* argument);

/// "serialization", "auto", "fifo", "ideal", as on the command line; None: as `model` has it.
struct ModelWords {
  std::optional<std::string> link_busy, forwarding, discipline, network_model;
  [[nodiscard]] TimeModel over(TimeModel model) const;
};
[[nodiscard]] ModelWords model_words(const py::dict& words);

/// A field of an array's rows: name, NumPy's format, offset.
struct Field {
  const char* name;
  const char* format;
  std::size_t offset;
};
[[nodiscard]] py::dtype row_type(std::initializer_list<Field> fields, std::size_t size);

/// Numbers that `owner` holds, and goes on holding as long as the array lives. Nobody can write.
[[nodiscard]] py::array array_of(const py::dtype& type, const void* values, std::size_t count,
                                 const py::object& owner);
template <typename T>
[[nodiscard]] py::array array_of(const py::dtype& type, std::span<const T> values,
                                 const py::object& owner) {
  return array_of(type, values.data(), values.size(), owner);
}
/// The same of numbers that nobody holds any more.
template <typename T>
[[nodiscard]] py::array array_of(const py::dtype& type, std::vector<T> values) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  const std::vector<T>* const at = kept.get();
  const py::capsule owner(kept.release(), [](void* p) { delete static_cast<std::vector<T>*>(p); });
  return array_of(type, at->data(), at->size(), owner);
}
inline constexpr std::initializer_list<Field> link_use_fields{
    {"bytes", "<i8", 0}, {"busy_ps", "<i8", 8}, {"transfers", "<i8", 16}};

void bind_topology(py::module_& module);
void bind_collective(py::module_& module);
void bind_schedule(py::module_& module);
void bind_work(py::module_& module);

} // namespace tutti::python
