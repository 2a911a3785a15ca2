// How long work without partial results (a replay, a verification, an execution) tells how far it
// is, and hears that it shall end. What is asked is a value that the caller hands in.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace tutti {

/// In units of the work's own (transfers, operations). A total of 0: nobody knows.
struct WorkProgress {
  std::uint64_t done = 0, total = 0;
  std::int64_t memory = 0; ///< the most that its process ever held, bytes; 0: the asking one's
};

/// Called now and then, by one thread at a time, with how far the work is; true ends it. May be
/// empty.
using Watch = std::function<bool(const WorkProgress&)>;

/// The same of work that has several stages, each in words: "replay on native".
using StageWatch = std::function<bool(std::string_view stage, const WorkProgress&)>;

/// A watch on one stage, which begins now. Refers to `watch`, and is empty where that is. Errors:
/// Stopped.
[[nodiscard]] Watch watch_of(const StageWatch& watch, std::string stage);

/// The work was ended by its watch: there is no result. Not an error of anybody's, so that nothing
/// that deals with errors takes it for one.
class Stopped : public std::exception {
public:
  [[nodiscard]] const char* what() const noexcept override { return "stopped by its watch"; }
};

/// Asks a watch once in some thousand steps, so that a step costs next to nothing.
class WatchedSteps {
public:
  /// Refers to the watch.
  explicit WatchedSteps(const Watch& watch) : watch_(watch) {}

  /// So many steps more are done; `progress` says how far the work is. Errors: Stopped.
  template <typename Progress> void take(std::uint64_t steps, const Progress& progress) {
    since_asked_ += steps;
    if (since_asked_ >= between) [[unlikely]]
      ask(progress());
  }

private:
  static constexpr std::uint64_t between = 4096;

  void ask(const WorkProgress& progress); // not inline, as it seldom happens

  const Watch& watch_;
  std::uint64_t since_asked_ = 0;
};

} // namespace tutti
