// The signals are blocked and read from a file (signalfd), so that poll() waits for them beside
// everything else and no code runs in a handler. A child process inherits the mask: a signal that
// is sent to it stays pending, where any of its threads finds it.
#include "experiments/driver/pool/interrupts.hpp"

#include <fmt/format.h>

#include <array>

#include <sys/signalfd.h>
#include <unistd.h>

namespace tutti {

namespace {

constexpr std::array ending{SIGINT, SIGTERM};

bool is_ignored(int signal) {
  struct sigaction action {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

} // namespace

Interrupts::Interrupts() {
  sigemptyset(&signals_);
  for (const int signal : ending)
    if (!is_ignored(signal)) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, &mask_before_);
  file_ = signalfd(-1, &signals_, SFD_NONBLOCK | SFD_CLOEXEC);
}

Interrupts::~Interrupts() {
  (void)count(); // what has come is dealt with and must not end the process now
  if (file_ >= 0) close(file_);
  pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
}

std::uint64_t Interrupts::count() {
  signalfd_siginfo info{};
  while (file_ >= 0 && read(file_, &info, sizeof info) == sizeof info) ++count_;
  return count_;
}

bool Interrupts::cancels() {
  const std::lock_guard lock(one_cancels_);
  if (count_ == 0 && count() > 0) pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  return count_ > 0;
}

void Interrupts::pass_on(int child) const {
  for (const int signal : ending)
    if (sigismember(&signals_, signal) == 1) kill(child, signal);
}

bool GracePeriod::is_over(bool interrupted) {
  constexpr auto period = std::chrono::seconds(1);
  if (!interrupted) return false;
  const auto now = std::chrono::steady_clock::now();
  if (!since_) since_ = now;
  return now - *since_ >= period;
}

std::string interrupted_text(std::string_view stage) {
  return fmt::format("tutti: interrupted: ending {}, to show what there is; once more ends at "
                     "once\n",
                     stage.empty() ? "the work" : stage);
}

bool interrupt_pending() {
  sigset_t pending;
  if (sigpending(&pending) != 0) return false;
  for (const int signal : ending)
    if (sigismember(&pending, signal) == 1) return true;
  return false;
}

} // namespace tutti
