#include "experiments/trace_events.hpp"

#include <fmt/format.h>

#include <ostream>

namespace tutti {

std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20)
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      result += c;
  }
  return result + '"';
}

std::string microseconds(Time time) {
  return fmt::format("{}.{:06}", time.ps / 1'000'000, time.ps % 1'000'000);
}

void write_metadata(std::ostream& out, std::string_view what, std::uint32_t pid, std::uint32_t tid,
                    std::string_view key, const std::string& value) {
  out << fmt::format(
      "{{\"name\":\"{}\",\"ph\":\"M\",\"pid\":{},\"tid\":{},\"args\":{{\"{}\":{}}}}},\n", what, pid,
      tid, key, value);
}

} // namespace tutti
