// Open file description locks (fcntl's F_OFD_SETLK, of Linux): unlike POSIX record locks they
// belong to the open file and aren't lost when another part of the process closes it. They are
// local: a store is for the processes of one machine.
#include "experiments/driver/sweep/store/store_owners.hpp"

#include "sim/error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace tutti::sweep {

namespace {

constexpr std::int64_t turn_byte = 0; // owners count from 1

// Locks of the open file, not of the process: two stores in one process are two owners.
struct flock lock_of(short kind, std::int64_t byte) {
  struct flock lock {};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

} // namespace

StoreOwners::StoreOwners(const std::string& store) : file_name_(store + "-owners") {
  file_ = ::open(file_name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file_ < 0)
    throw InputError(fmt::format("{}: cannot write: {}", file_name_, std::strerror(errno)));
}

StoreOwners::~StoreOwners() { ::close(file_); }

void StoreOwners::hold(std::int64_t owner) {
  struct flock lock = lock_of(F_WRLCK, owner);
  if (::fcntl(file_, F_OFD_SETLK, &lock) != 0)
    throw InputError(fmt::format("{}: cannot lock: {}", file_name_, std::strerror(errno)));
}

bool StoreOwners::is_alive(std::int64_t owner) const {
  struct flock lock = lock_of(F_WRLCK, owner);
  if (::fcntl(file_, F_OFD_GETLK, &lock) != 0) return true; // rather wait than do it twice
  return lock.l_type != F_UNLCK;
}

void StoreOwners::wait_for_turn() {
  struct flock lock = lock_of(F_WRLCK, turn_byte);
  while (::fcntl(file_, F_OFD_SETLKW, &lock) != 0)
    if (errno != EINTR)
      throw InputError(fmt::format("{}: cannot lock: {}", file_name_, std::strerror(errno)));
}

void StoreOwners::end_turn() {
  struct flock lock = lock_of(F_UNLCK, turn_byte);
  (void)::fcntl(file_, F_OFD_SETLK, &lock); // unlocking what is ours can't fail
}

} // namespace tutti::sweep
