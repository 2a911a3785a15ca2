// The module itself: what its files share, errors, and versions. Errors of ours become Python's
// classes in tutti.errors, so that they can be caught, pickled and documented there.
#include "python/bindings/bindings.hpp"

#include "experiments/driver/records/provenance.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "sim/engines/simgrid/worker.hpp"
#include "sim/error.hpp"
#include "sim/units.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <thread>

namespace tutti::python {

namespace {

// The interpreter's, which is the only one.
std::atomic<bool> is_ending = false;
std::atomic<int> at_work = 0;

} // namespace

void end_all_work() {
  constexpr int most_seconds = 10;
  is_ending = true;
  const py::gil_scoped_release others_may;
  for (int i = 0; at_work > 0 && i < most_seconds * 200; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

void forget_work_of_others() { at_work = 0; }

bool Waiting::is_cancelled() const { return raised_ > 0 || is_ending; }

void Waiting::listen() {
  try {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
    std::string stage;
    WorkProgress progress;
    {
      const std::lock_guard lock(mutex_);
      if (!std::exchange(is_news_, false)) return;
      stage = stage_;
      progress = progress_;
    }
    if (!heard_.is_none()) heard_(stage, progress.done, progress.total);
  } catch (py::error_already_set& error) {
    if (!first_) first_.emplace(error);
    ++raised_;
  }
}

void Waiting::run(const std::function<void()>& work) {
  constexpr auto between = std::chrono::milliseconds(20);
  if (is_ending) throw Stopped();
  struct AtWork {
    AtWork() { ++at_work; }
    ~AtWork() { --at_work; }
  } const is_at_work;
  std::mutex mutex;
  std::condition_variable ended;
  bool has_ended = false;
  std::exception_ptr thrown;
  std::thread worker([&] {
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    has_ended = true;
    ended.notify_one();
  });
  for (bool goes_on = true; goes_on;) {
    {
      const py::gil_scoped_release others_may;
      std::unique_lock lock(mutex);
      goes_on = !ended.wait_for(lock, between, [&] { return has_ended; });
    }
    if (goes_on) listen();
  }
  worker.join();
  if (!first_) listen(); // the last word of a callback, and a signal that came just now
  if (thrown && !first_) std::rethrow_exception(thrown);
}

StageWatch Waiting::watch(unsigned ended_by) {
  return [this, ended_by](std::string_view stage, const WorkProgress& progress) {
    const std::lock_guard lock(mutex_);
    stage_ = stage;
    progress_ = progress;
    is_news_ = true;
    return raised_ >= ended_by || is_ending;
  };
}

void Waiting::raise(const py::object& best) {
  if (!first_) return;
  if (!first_->matches(PyExc_KeyboardInterrupt)) throw py::error_already_set(*first_);
  const py::object type = py::module_::import("tutti.errors").attr("Interrupted");
  PyErr_SetObject(type.ptr(), type(best).ptr());
  throw py::error_already_set();
}

Bytes bytes_of(const py::object& value, const char* argument) {
  if (py::isinstance<py::str>(value)) return parse_bytes(value.cast<std::string>());
  if (py::isinstance<py::bool_>(value) || PyIndex_Check(value.ptr()) == 0)
    throw py::type_error(
        fmt::format("{}: an int of bytes, or a text with a unit (\"64MiB\"), not {}", argument,
                    py::str(py::type::of(value).attr("__name__")).cast<std::string>()));
  const auto count = argument_of<std::int64_t>(value, argument, "an int below 2^63");
  if (count < 1) throw InputError(fmt::format("{} {} must be at least 1 byte", argument, count));
  return {count};
}

ModelWords model_words(const py::dict& words) {
  ModelWords found;
  for (const auto& [key, value] : words) {
    const auto name = key.cast<std::string>();
    std::optional<std::string>* const place = name == "link_busy"       ? &found.link_busy
                                              : name == "forwarding"    ? &found.forwarding
                                              : name == "discipline"    ? &found.discipline
                                              : name == "network_model" ? &found.network_model
                                                                        : nullptr;
    if (place == nullptr)
      throw py::type_error(fmt::format(
          "unknown argument {} (of the time model there are link_busy, forwarding, discipline, "
          "network_model)",
          name));
    if (!py::isinstance<py::str>(value)) throw py::type_error(name + ": a str is expected");
    *place = value.cast<std::string>();
  }
  return found;
}

TimeModel ModelWords::over(TimeModel model) const {
  if (link_busy) model.link_busy = link_busy_words.parse(*link_busy);
  if (forwarding) model.forwarding = forwarding_words.parse(*forwarding);
  if (discipline) model.discipline = discipline_words.parse(*discipline);
  if (network_model) model.network = network_model_words.parse(*network_model);
  return model;
}

py::dtype row_type(std::initializer_list<Field> fields, std::size_t size) {
  py::list names, formats, offsets;
  for (const Field& field : fields) {
    names.append(field.name);
    formats.append(py::dtype(field.format));
    offsets.append(field.offset);
  }
  return {names, formats, offsets, static_cast<py::ssize_t>(size)};
}

py::array array_of(const py::dtype& type, const void* values, std::size_t count,
                   const py::object& owner) {
  const std::byte nothing{}; // NumPy copies where it is given no place
  py::array array = count == 0 ? py::array(type, {py::ssize_t{0}}, {type.itemsize()}, &nothing)
                               : py::array(type, {static_cast<py::ssize_t>(count)},
                                           {type.itemsize()}, values, owner);
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

namespace {

void set_error(const char* type, const char* text) {
  PyErr_SetString(py::module_::import("tutti.errors").attr(type).ptr(), text);
}

void translate(std::exception_ptr thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InputError& error) {
    set_error("InputError", error.what());
  } catch (const Stopped&) {
    set_error("Interrupted", "stopped");
  }
}

} // namespace

} // namespace tutti::python

PYBIND11_MODULE(_tutti, module) {
  namespace py = pybind11;
  using namespace tutti::python;
  module.doc() = "Values and functions of Tutti's C++ libraries; use the package tutti.";
  py::register_local_exception_translator(&translate);
  // A second interpreter is given a copy of the module without a call of this function, and would
  // share its classes with the first one.
  module.def("is_main_interpreter",
             [] { return PyInterpreterState_Get() == PyInterpreterState_Main(); });
  module.def("versions", [] {
    const tutti::Provenance made = tutti::find_provenance();
    py::dict versions;
    versions["tutti"] = made.tutti;
    versions["commit"] = made.commit;
    versions["simgrid"] = made.simgrid;
    versions["built_for_python"] = PY_VERSION;
    return versions;
  });
  py::module_::import("atexit").attr("register")(py::cpp_function(&end_all_work));
  // A fork has none of the threads that were at work.
  py::module_::import("os").attr("register_at_fork")(py::arg("after_in_child") =
                                                         py::cpp_function(&forget_work_of_others));
  module.def("version", &tutti::tutti_version);
  module.def("algorithm_names", &tutti::algorithm_names);
  module.def("simgrid_worker", &tutti::find_simgrid_worker);
  module.def("parse_bytes", [](const std::string& text) { return tutti::parse_bytes(text).count; });
  module.def("parse_time", [](const std::string& text) { return tutti::parse_time(text).ps; });
  module.def("short_time", [](std::int64_t ps) { return tutti::short_text(tutti::Time{ps}); });
  bind_topology(module);
  bind_collective(module);
  bind_schedule(module);
  bind_work(module);
}
