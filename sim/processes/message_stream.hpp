// Messages between processes: whole texts or values, each behind its length, on one end of a
// socket. Both ends are on one machine and of one version, so values travel byte for byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tutti {

/// Messages in both directions. Signals interrupt nothing, messages may arrive in any number of
/// parts, and a peer that is gone is a value. One thread at a time sends, one receives.
class MessageStream {
public:
  /// Called some twenty times a second while one waits for the peer; ends the wait by an exception.
  using WhileWaiting = std::function<void()>;

  /// The socket stays its owner's.
  explicit MessageStream(int socket) : socket_(socket) {}

  /// Waits until it is on its way. False where the peer is gone.
  [[nodiscard]] bool send(std::string_view message, const WhileWaiting& ask = {}) const;
  /// Waits for something and reads what there is: complete messages are for take() then. False
  /// where the peer is gone and nothing else comes.
  [[nodiscard]] bool read_some();
  /// The first message that has arrived as a whole; doesn't wait.
  [[nodiscard]] std::optional<std::string> take();
  /// Waits for the next message; nothing where the peer is gone before it is complete.
  [[nodiscard]] std::optional<std::string> receive(const WhileWaiting& ask = {});

private:
  using Length = std::uint64_t;
  void arrange(std::string_view bytes);

  int socket_;
  std::deque<std::string> arrived_;
  std::array<char, sizeof(Length)> length_{}; // of the message that is arriving
  std::size_t length_bytes_ = 0;              // of `length_` that are there
  std::string body_;                          // what is there of that message
};

/// Writes values into a message: those that can be copied byte for byte, vectors of them, texts.
class ByteWriter {
public:
  static constexpr bool writes = true;
  std::string bytes;
  template <typename T> void value(const T& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  template <typename T> void vector(const std::vector<T>& v) {
    static_assert(std::is_trivially_copyable_v<T>);
    value(v.size());
    bytes.append(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(T));
  }
  void text(const std::string& v) {
    value(v.size());
    bytes += v;
  }
};

/// Reads them in the order in which they were written. Errors: std::runtime_error where the message
/// ends before.
class ByteReader {
public:
  static constexpr bool writes = false;
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}
  template <typename T> void value(T& v) { std::memcpy(&v, take(sizeof v), sizeof v); }
  template <typename T> void vector(std::vector<T>& v) {
    const std::size_t size = count(sizeof(T));
    v.resize(size);
    if (size > 0) std::memcpy(v.data(), take(size * sizeof(T)), size * sizeof(T));
  }
  void text(std::string& v) {
    const std::size_t size = count(1);
    v.assign(take(size), size);
  }
  /// All of a report.
  template <typename Report, typename Exchange>
  void whole(Report& report, const Exchange& exchange) {
    exchange(*this, report);
  }

private:
  std::size_t count(std::size_t each) {
    std::size_t size = 0;
    value(size);
    if (size > left_.size() / each) throw std::runtime_error("the message is cut off");
    return size;
  }
  const char* take(std::size_t size) {
    if (left_.size() < size) throw std::runtime_error("the message is cut off");
    const char* const taken = left_.data();
    left_.remove_prefix(size);
    return taken;
  }
  std::string_view left_;
};

/// A value that may be missing, which each(stream, value) writes or reads.
template <typename Stream, typename Optional, typename Each>
void exchange_optional(Stream& stream, Optional& optional, const Each& each) {
  bool is_there = optional.has_value();
  stream.value(is_there);
  if constexpr (!Stream::writes) {
    optional.reset();
    if (is_there) optional.emplace();
  }
  if (is_there) each(stream, *optional);
}

/// A vector whose items each(stream, item) writes or reads.
template <typename Stream, typename Items, typename Each>
void exchange_items(Stream& stream, Items& items, const Each& each) {
  std::size_t size = items.size();
  stream.value(size);
  if constexpr (!Stream::writes) {
    items.clear();
    for (std::size_t i = 0; i < size; ++i) each(stream, items.emplace_back());
  } else {
    for (auto& item : items) each(stream, item);
  }
}

/// A map by texts, whose values each(stream, value) writes or reads.
template <typename Stream, typename Map, typename Each>
void exchange_map(Stream& stream, Map& map, const Each& each) {
  std::size_t size = map.size();
  stream.value(size);
  if constexpr (!Stream::writes) {
    map.clear();
    for (std::size_t i = 0; i < size; ++i) {
      std::string key;
      stream.text(key);
      each(stream, map[key]);
    }
  } else {
    for (auto& [key, value] : map) {
      stream.text(key);
      each(stream, value);
    }
  }
}

} // namespace tutti
