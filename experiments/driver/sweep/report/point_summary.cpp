// How the points of a study ended.
#include "experiments/driver/sweep/report/study_page.hpp"
#include "experiments/driver/sweep/store/point_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tutti::sweep {

namespace {

constexpr PointStatus last_status = PointStatus::defect;

} // namespace

Table status_table(const PointTable& table) {
  const TableColumn& status = table.column("status");
  std::vector<std::size_t> counts(status.dictionary.size(), 0);
  for (const std::uint32_t text : status.texts)
    if (text != 0) ++counts[text - 1];
  Table result{{{"status"}, {"points", Align::right}}, {}};
  for (int s = 0; s <= static_cast<int>(last_status); ++s) {
    const std::string name(to_text(static_cast<PointStatus>(s)));
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (status.dictionary[i] == name && counts[i] > 0)
        result.rows.push_back({name, fmt::to_string(counts[i])});
  }
  return result;
}

Table problem_table(const PointTable& table) {
  const TableColumn& status = table.column("status");
  const TableColumn* message = table.find("message");
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> counts; // by places of texts
  for (std::size_t row = 0; row < table.rows; ++row)
    ++counts[{status.texts[row], message == nullptr ? 0 : message->texts[row]}];
  using Problem = std::tuple<std::size_t, std::string, std::string>;
  std::vector<Problem> problems;
  for (const auto& [texts, count] : counts) {
    const std::string name = texts.first == 0 ? "" : status.dictionary[texts.first - 1];
    const std::string words = texts.second == 0 ? "" : message->dictionary[texts.second - 1];
    const bool ended = name != "done" && name != "pending" && name != "running";
    if (ended) problems.emplace_back(count, name, words);
  }
  std::sort(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    if (std::get<0>(a) != std::get<0>(b)) return std::get<0>(a) > std::get<0>(b);
    return a < b;
  });
  Table result{{{"points", Align::right}, {"status"}, {"message"}}, {}};
  for (const auto& [count, name, words] : problems)
    result.rows.push_back({fmt::to_string(count), name, words});
  return result;
}

} // namespace tutti::sweep
