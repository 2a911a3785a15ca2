// A message is 8 bytes of length, as the machine has them, and its text. What arrives is put in
// place at once, so that a large message is copied once, from the kernel's pages into its text.
#include "sim/processes/message_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tutti {

namespace {

constexpr std::size_t small = 65536; // a message that is sent as a whole, behind its length

/// Until the socket is ready for this, or broken.
void wait_for(int socket, short event, const MessageStream::WhileWaiting& ask) {
  constexpr int milliseconds_between = 50;
  pollfd waits{socket, event, 0};
  do ask();
  while (::poll(&waits, 1, milliseconds_between) <= 0); // nothing yet, or a signal
}

bool send_all(int socket, std::string_view bytes, const MessageStream::WhileWaiting& ask) {
  const int flags = ask ? MSG_NOSIGNAL | MSG_DONTWAIT : MSG_NOSIGNAL;
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), flags);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && ask && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      wait_for(socket, POLLOUT, ask);
      continue;
    }
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

} // namespace

bool MessageStream::send(std::string_view message, const WhileWaiting& ask) const {
  const Length length = message.size();
  std::string first(sizeof length, '\0');
  std::memcpy(first.data(), &length, sizeof length);
  if (message.size() <= small) return send_all(socket_, first.append(message), ask);
  return send_all(socket_, first, ask) && send_all(socket_, message, ask);
}

bool MessageStream::read_some() {
  std::array<char, small> buffer;
  const ssize_t count = ::read(socket_, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR;
  arrange({buffer.data(), static_cast<std::size_t>(count)});
  return count > 0;
}

void MessageStream::arrange(std::string_view bytes) {
  while (!bytes.empty()) {
    if (length_bytes_ < length_.size()) {
      length_[length_bytes_++] = bytes.front();
      bytes.remove_prefix(1);
      if (length_bytes_ < length_.size()) continue;
    }
    Length length = 0;
    std::memcpy(&length, length_.data(), sizeof length);
    const std::size_t count = std::min<Length>(length - body_.size(), bytes.size());
    body_.append(bytes.substr(0, count));
    bytes.remove_prefix(count);
    if (body_.size() < length) return;
    arrived_.push_back(std::exchange(body_, {}));
    length_bytes_ = 0;
  }
}

std::optional<std::string> MessageStream::take() {
  if (arrived_.empty()) return std::nullopt;
  std::string message = std::move(arrived_.front());
  arrived_.pop_front();
  return message;
}

std::optional<std::string> MessageStream::receive(const WhileWaiting& ask) {
  while (arrived_.empty()) {
    if (ask) wait_for(socket_, POLLIN, ask);
    if (!read_some()) break; // what is complete by now is still there
  }
  return take();
}

} // namespace tutti
