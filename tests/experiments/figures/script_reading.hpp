// What stands in gnuplot's scripts: how often, and the data of a style.
#pragma once

#include <cstddef>
#include <string>

namespace tutti::script_reading {

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// The data that is drawn in a style with this in it, but for those that have `other` in it.
inline std::string data_of_style(const std::string& script, const std::string& style,
                                 const std::string& other = "\n") {
  std::string data;
  for (std::size_t at = script.find("$d"); at != std::string::npos;
       at = script.find("$d", at + 1)) {
    const std::string name = script.substr(at, script.find(' ', at) - at);
    const std::string plot = script.substr(at, script.find('\n', at) - at);
    if (plot.find(style) == std::string::npos || plot.find(other) != std::string::npos) continue;
    const std::size_t begin = script.find(name + " << END\n") + name.size() + 8;
    data += script.substr(begin, script.find("END\n", begin) - begin);
  }
  return data;
}

} // namespace tutti::script_reading
