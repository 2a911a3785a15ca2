// What a page of the explorer was given, read back by zlib and a JSON library.
#pragma once

#include "tests/catch.hpp"

#include <nlohmann/json.hpp>
#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace explored_page {

inline std::string bytes_of(const std::string& base64) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0, count = 0;
  for (const char digit : base64) {
    if (digit == '=') break;
    bits = bits << 6 | static_cast<std::uint32_t>(digits.find(digit));
    count += 6;
    if (count >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 255);
  }
  return bytes;
}

inline std::string inflated(const std::string& packed) {
  z_stream stream{};
  REQUIRE(inflateInit2(&stream, -MAX_WBITS) == Z_OK);
  std::vector<Bytef> in(packed.begin(), packed.end());
  stream.next_in = in.data();
  stream.avail_in = static_cast<uInt>(in.size());
  std::string out;
  char piece[4096];
  int end = Z_OK;
  while (end == Z_OK) {
    stream.next_out = reinterpret_cast<Bytef*>(piece);
    stream.avail_out = sizeof piece;
    end = inflate(&stream, Z_NO_FLUSH);
    out.append(piece, sizeof piece - stream.avail_out);
  }
  CHECK(end == Z_STREAM_END);
  inflateEnd(&stream);
  return out;
}

/// The data in a page.
inline nlohmann::json data_of(const std::string& page) {
  const std::string begin = R"(<script id="tutti-data" type="application/json">)";
  const std::size_t at = page.find(begin) + begin.size();
  REQUIRE(at >= begin.size());
  return nlohmann::json::parse(page.substr(at, page.find("</script>", at) - at));
}

/// Its tables and timelines.
inline nlohmann::json results_of(const nlohmann::json& data) {
  return nlohmann::json::parse(inflated(bytes_of(data.at("results").at("data"))));
}

/// The table of this title; null where there is none.
inline nlohmann::json table_of(const nlohmann::json& results, const std::string& title) {
  for (const nlohmann::json& table : results.at("tables"))
    if (table.at("title") == title) return table;
  return nullptr;
}

/// The values of a column; null where there is none.
inline nlohmann::json values_of(const nlohmann::json& table, const std::string& column) {
  for (const nlohmann::json& each : table.at("columns"))
    if (each.at("name") == column) return each.at("values");
  return nullptr;
}

} // namespace explored_page
