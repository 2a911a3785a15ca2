// `tutti lint`: what is odd in a network, so that a faulty machine's dump isn't believed.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/records/records.hpp"
#include "topologies/lint/lint.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

namespace tutti {

namespace {

struct LintRow {
  Finding finding;
  std::string meaning; ///< of its rule
};

Fields<LintRow> lint_fields() {
  using namespace column_words;
  using R = LintRow;
  return {{{"rule", text, key}, [](const R& r) { return r.finding.rule; }},
          {{"finding", text, key}, [](const R& r) { return r.finding.words; }},
          {{"meaning", text, note}, [](const R& r) { return r.meaning; }}};
}

} // namespace

int lint_command(const LintArguments& arguments) {
  const Topology network = make_network(arguments.topology);
  std::vector<LintRow> rows;
  for (Finding& finding : lint(network)) {
    const auto rule = std::ranges::find(lint_rules(), finding.rule, &LintRule::name);
    rows.push_back({std::move(finding), std::string(rule->meaning)});
  }
  if (arguments.json || arguments.tables.columns) {
    const Records records = records_of(lint_fields(), std::span<const LintRow>(rows));
    if (arguments.json)
      print_text(answer_json("lint", runs_json("finding", records)));
    else
      print_tables(to_text(whole_table(records), table_form(arguments.tables)));
  } else if (rows.empty()) {
    print_text(fmt::format("{}: nothing odd\n", network.name()));
  } else {
    for (const LintRow& row : rows) print_text(row.finding.words + "\n");
    std::string meanings;
    for (const LintRule& rule : lint_rules())
      if (std::ranges::any_of(rows, [&](const LintRow& r) { return r.finding.rule == rule.name; }))
        meanings += fmt::format("\n{}: {}", rule.name, rule.meaning);
    print_text(meanings + "\n");
  }
  return rows.empty() ? 0 : 1;
}

} // namespace tutti
