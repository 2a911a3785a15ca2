// Chakra traces byte by byte, from the format's description alone: varints, tagged fields, messages
// behind their lengths.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::samples {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>((value & 0x7f) | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}
inline std::string number_field(unsigned field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}
inline std::string bytes_field(unsigned field, const std::string& value) {
  return varint(field << 3 | 2) + varint(value.size()) + value;
}
inline std::string framed(const std::string& message) { return varint(message.size()) + message; }

/// Field numbers of attribute values.
inline constexpr unsigned int32_value = 7, int64_value = 9, uint64_value = 13, sint64_value = 17,
                          bool_value = 27;

inline std::string attribute(const std::string& name, std::uint64_t value,
                             unsigned field = int64_value) {
  return bytes_field(10, bytes_field(1, name) + number_field(field, value));
}
inline std::string text_attribute(const std::string& name, const std::string& value) {
  return bytes_field(10, bytes_field(1, name) + bytes_field(29, value));
}
inline std::string flags_attribute(const std::string& name, const std::vector<bool>& flags) {
  std::string packed;
  for (const bool flag : flags) packed.push_back(flag ? '\1' : '\0');
  return bytes_field(10, bytes_field(1, name) + bytes_field(28, bytes_field(1, packed)));
}

enum TraceNode : std::uint8_t { invalid, metadata, load, store, comp, send, receive, collective };

/// A node without its attributes, which follow.
inline std::string node(std::uint64_t id, TraceNode type, const std::string& rest = "",
                        const std::string& name = "op") {
  return framed(number_field(1, id) + bytes_field(2, name) + number_field(3, type) + rest);
}
inline std::string after(std::uint64_t id) { return number_field(5, id); }
inline std::string after_control(std::uint64_t id) { return number_field(4, id); }
inline std::string micros(std::uint64_t duration) { return number_field(7, duration); }

inline std::string trace(const std::string& nodes) {
  return framed(bytes_field(1, "0.0.4")) + nodes;
}

inline std::string groups_node(std::uint64_t id, const std::string& list) {
  return node(id, metadata, bytes_field(8, bytes_field(1, list)));
}
inline std::string all_reduce(std::uint64_t id, std::uint64_t size, const std::string& rest = "") {
  return node(id, collective, attribute("comm_type", 0) + attribute("comm_size", size) + rest,
              "sum");
}

} // namespace tutti::samples
