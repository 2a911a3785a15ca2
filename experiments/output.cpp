// fmt::print() throws where it can't write, which is no defect of ours, and on stderr would hide
// what it was to say.
#include "experiments/output.hpp"

#include "experiments/printable.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace tutti {

namespace {

[[noreturn]] void fail(int error) {
  throw InputError(fmt::format("cannot write to the standard output: {}",
                               std::generic_category().message(error != 0 ? error : EIO)));
}

} // namespace

void print_text(std::string_view text) {
  const std::string shown = printable(text, "\n\t");
  errno = 0;
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) != shown.size()) fail(errno);
}

void flush_out() {
  errno = 0;
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) fail(errno);
}

void print_message(std::string_view text) {
  const std::string line = "tutti: " + printable(text) + "\n";
  [[maybe_unused]] const std::size_t written = std::fwrite(line.data(), 1, line.size(), stderr);
}

void guard_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(file, F_GETFD) < 0 && errno == EBADF) // the least that is free is this one
        [[maybe_unused]]
      const int opened = ::open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

} // namespace tutti
