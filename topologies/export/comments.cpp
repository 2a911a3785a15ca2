// Why: a file for another program has to say what it rests on and what it leaves out, whatever its
// comments look like; names and notes come from files of others and may have any bytes.
#include "topologies/export/comments.hpp"

#include "topologies/import/text_lines.hpp"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

namespace tutti {

std::string plain_line(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  for (std::size_t at = 0; (at = topologies::first_no_text(text)) != std::string::npos;)
    text[at] = ' ';
  return text;
}

std::vector<std::string> title_lines(const Topology& topology) {
  std::vector<std::string> lines{plain_line(topology.name())};
  if (const std::string& note = topology.parts().note; !note.empty())
    lines.push_back(plain_line(note));
  return lines;
}

std::vector<std::string> assumed_lines(const Topology& topology) {
  std::vector<std::string> lines;
  for (const std::string& line : topology.parts().assumed)
    lines.push_back("assumed: " + plain_line(line));
  return lines;
}

std::vector<std::string> lines_of_models_left_out(const Topology& topology) {
  std::vector<std::string> lines;
  if (const std::string& model = topology.parts().npu_model; !model.empty())
    lines.push_back("left out: NPUs: " + plain_line(model));
  std::set<std::string> parts;
  for (std::uint32_t l = 0; l < topology.link_count(); ++l)
    if (std::string part = topology.part_of(LinkId{l}); !part.empty())
      parts.insert(std::move(part));
  for (const std::string& part : parts) lines.push_back("left out: links: " + plain_line(part));
  return lines;
}

} // namespace tutti
