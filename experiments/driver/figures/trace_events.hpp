// Writes the Trace Event Format (JSON object form) that ui.perfetto.dev and chrome://tracing read,
// event by event: for trace.hpp and iteration_trace.hpp. Same calls, same bytes.
#pragma once

#include "sim/units.hpp"

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

/// What viewers round times down to.
inline constexpr Time viewer_resolution{1'000};

/// A JSON string. Names are the users' own, so anything may stand in them.
[[nodiscard]] std::string json_string(std::string_view text);

/// Picoseconds as microseconds, exactly: 1234567 ps is "1.234567".
[[nodiscard]] std::string microseconds(Time time);

/// The events of a file, or of a part of one: objects with commas between.
class TraceEvents {
public:
  explicit TraceEvents(std::ostream& out) : out_(out) {}

  void add(std::string_view object);
  /// All events of a part; none where it is empty.
  void add_part(std::istream& part);

private:
  void separate();

  std::ostream& out_;
  bool is_first_ = true;
};

/// A slice of a track: something that takes time. `name` and `arguments` are JSON: a string, and
/// what stands between the braces.
struct TraceSlice {
  std::string_view name, category;
  std::uint32_t track = 0;
  Time begin, end;
  std::string_view arguments;
};

/// The slice that an arrow comes from.
struct ArrowStart {
  std::uint32_t track = 0;
  Time begin, end;
};

/// From `at` on a quantity is larger by `change`.
struct LoadStep {
  Time at;
  std::int64_t change = 0;
};

/// A process of the viewer: a run, with its tracks (threads of the viewer, numbered from 1 on) and
/// counters.
class TraceProcess {
public:
  /// Pre: pid >= 1, as viewers give 0 a meaning of its own; unique within the file.
  TraceProcess(TraceEvents& events, std::uint32_t pid, std::string_view name);

  /// Tracks are shown by `position`. Slices of a track don't overlap.
  void name_track(std::uint32_t track, std::string_view name, std::uint32_t position);
  void slice(const TraceSlice& slice);
  /// From the end of a slice to what is on a track at `at`, which is no earlier than that slice.
  /// Viewers bind an arrow to the slice that is there at its time, and where the next one follows
  /// at once that isn't the earlier one any more: so the arrow leaves a nanosecond, which is their
  /// resolution, before the end (before `at`, where data is passed on as it streams in).
  void arrow(std::string_view name, const ArrowStart& from, std::uint32_t track, Time at);
  /// Its value whenever that changes, the first time included. `name` is JSON; `value` turns a sum
  /// of steps into JSON.
  void counter(std::string_view name, std::string_view unit, std::vector<LoadStep> steps,
               const std::function<std::string(std::int64_t)>& value);
  /// A mark over the process.
  void mark(std::string_view name, Time at);

private:
  void metadata(std::string_view what, std::uint32_t track, std::string_view key,
                const std::string& value);

  TraceEvents& events_;
  std::uint32_t pid_;
  std::uint64_t arrows_ = 0;
};

/// A whole file, through a temporary and a rename. `left_out` says in words what one might expect
/// in it and doesn't find; it stands in the file, too, behind the events, so that `write` may still
/// add to it.
/// Errors: InputError "FILE: cannot write: ..."; what `write` throws.
void save_trace(const std::string& file, const std::vector<std::string>& left_out,
                const std::function<void(TraceEvents&)>& write);
void write_trace(std::ostream& out, const std::vector<std::string>& left_out,
                 const std::function<void(TraceEvents&)>& write);

} // namespace tutti
