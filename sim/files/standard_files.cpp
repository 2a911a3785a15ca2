// A stream remembers that something was lost, not why: so one more character is written, which
// meets the same obstacle.
#include "sim/files/standard_files.hpp"

#include "sim/error.hpp"

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace tutti {

void guard_standard_files() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(file, F_GETFD) < 0 && errno == EBADF) // the least that is free is this one
        [[maybe_unused]]
      const int opened = ::open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void flush_standard_output() {
  const bool is_lost = std::ferror(stdout) != 0;
  std::clearerr(stdout);
  if (is_lost) (void)std::fputc('\n', stdout);
  errno = 0;
  if (std::fflush(stdout) == 0 && !is_lost) return;
  throw InputError("cannot write to the standard output: " +
                   std::generic_category().message(errno != 0 ? errno : EIO));
}

} // namespace tutti
