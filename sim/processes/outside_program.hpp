// A program that somebody else wrote, asked over its standard input and output: what it says is
// read within limits, and however it ends is told in words.
#pragma once

#include "sim/processes/message_stream.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tutti {

/// It crashed, ended, or said too much: "./swing.py was killed by signal 11 (Segmentation fault)".
class ProgramFailure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Two connected sockets of this type, and no pipe: writing to one whose reader is gone is a
/// signal. Errors: ProgramFailure.
[[nodiscard]] std::array<int, 2> socket_ends(int type);

/// Ends with its parent at the latest. All ends are of this process.
struct RunningProgram {
  int process = 0, in = -1, out = -1, errors = -1;
};
/// In a process group of its own, as OutsideProgram says. Errors: ProgramFailure.
[[nodiscard]] RunningProgram start_program(const std::string& file,
                                           std::span<const std::string> arguments,
                                           std::int64_t limit_bytes);
void close_ends(const RunningProgram& program);
/// It, and what it has started; waits for its end.
void kill_program(const RunningProgram& program);

/// How a program ended.
struct ProgramEnd {
  bool by_signal = false;
  int status = 0; ///< the signal, or the exit code
};
/// A child's, which it leaves to be waited for; nothing while it goes on.
[[nodiscard]] std::optional<ProgramEnd> end_of(const RunningProgram& program);

/// Ends with this object, and with it whatever it has started, or with the thread that made it.
class OutsideProgram {
public:
  using WhileWaiting = MessageStream::WhileWaiting;

  /// Starts it, in a process group of its own. `file`: a path, or a name to look for as a shell
  /// does. `limit_bytes`: of its memory; 0: as this process. Errors: ProgramFailure where it can't
  /// be started.
  OutsideProgram(std::string file, std::span<const std::string> arguments,
                 std::int64_t limit_bytes = 0);
  /// One that a ProgramKeeper has lent for as long as `session` is open: its end is told there, and
  /// whether it is free ('i') or at work ('b') is said there.
  OutsideProgram(std::string file, const RunningProgram& lent, int session);
  ~OutsideProgram();
  OutsideProgram(const OutsideProgram&) = delete;
  OutsideProgram& operator=(const OutsideProgram&) = delete;

  /// Waits until it has taken the text; what it has said unasked before is a failure. Errors:
  /// ProgramFailure; what `ask` throws (so the next two).
  void send(std::string_view text, const WhileWaiting& ask = {});
  /// Its next line of at most so many bytes, without the end of the line.
  [[nodiscard]] std::string line(std::size_t most, const WhileWaiting& ask = {});
  /// All that it says until it ends. Errors: also where it doesn't end with code 0, or says
  /// nothing.
  [[nodiscard]] std::string rest(std::size_t most, const WhileWaiting& ask = {});
  /// Its answer made sense, and nothing is left to say: a keeper may lend it again.
  void set_free() const;
  /// CPU seconds that it has taken, without those of what it has started.
  [[nodiscard]] double cpu_seconds() const;
  /// The process that started it: after a fork, the other one mustn't use it.
  [[nodiscard]] int owner() const { return owner_; }

private:
  /// Waits for what it takes or says, and moves it; false at the end of its output.
  bool exchange(std::string_view& to_send, std::size_t most, const WhileWaiting& ask);
  void read_errors();
  void tell(char state) const;
  [[nodiscard]] const std::optional<ProgramEnd>& ended();
  [[noreturn]] void fail(const std::string& otherwise);

  std::string file_;
  int owner_ = 0;
  RunningProgram is_;
  int session_ = -1; ///< -1: it is a child
  std::optional<ProgramEnd> end_;
  std::string said_;         ///< what it has said beyond the last line
  std::size_t searched_ = 0; ///< of that, without the end of a line
  std::string complaints_;   ///< the end of what it has said on stderr
};

} // namespace tutti
