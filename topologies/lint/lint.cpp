// Why: a dump of a faulty machine is read like that of a healthy one, and its times are believed.
// A new rule is a row here, with a check of what a server's file lists, of a network, or of both.
#include "topologies/lint/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace tutti {

namespace {

/// How many findings of a rule are listed before the number of the others is.
constexpr std::size_t most_of_a_rule = 20;

} // namespace

void topologies::append_findings(std::vector<Finding>& found, const LintRule& rule,
                                 std::vector<std::string> lines) {
  const std::size_t more = lines.size() - std::min(lines.size(), most_of_a_rule);
  lines.resize(lines.size() - more);
  if (more > 0) lines.push_back(fmt::format("and {} more like these", more));
  for (std::string& line : lines) found.push_back({std::string(rule.name), std::move(line)});
}

std::span<const LintRule> lint_rules() {
  using namespace topologies;
  static constexpr std::array<LintRule, 12> rules{
      {{"unequal-gpus", "GPUs of several kinds: tuning tables of NCCL's go by the oldest",
        unequal_models, nullptr},
       {"unequal-links",
        "a GPU or NPU has other links than its siblings: rings avoid it, or wait for it",
        unequal_links, missing_links},
       {"unequal-pcie", "a GPU has a slower PCIe, or a faster one, than its siblings", unequal_pcie,
        nullptr},
       {"one-way-links", "a link leads one way only, among others that lead both ways",
        one_way_links, one_way_links},
       {"unequal-directions", "what joins two nodes is faster one way than the other",
        unequal_directions, unequal_directions},
       {"unknown-values", "a speed or a width that no such part has", unknown_values, nullptr},
       {"far-cards", "GPUs without a network card at their CPU, though there are enough cards",
        far_cards, nullptr},
       {"listed-twice", "a card stands in the file more than once", listed_twice, nullptr},
       {"shared-gpus", "several ranks on one GPU, which share its links", shared_gpus, nullptr},
       {"parts-apart", "NPUs that can't reach each other: no collective can have all of them",
        nullptr, parts_apart},
       {"crossed-rails",
        "what leaves a node by one card comes in by another number: it crosses the spine, or meets "
        "other traffic",
        nullptr, nullptr},
       {"around-nvlink", "data goes by PCIe or the host between GPUs that have NVLink", nullptr,
        nullptr}}};
  return rules;
}

std::vector<Finding> lint(const Topology& network) {
  std::vector<Finding> found = network.parts().odd;
  for (const LintRule& rule : lint_rules())
    if (rule.check_network != nullptr &&
        std::ranges::find(network.parts().odd, rule.name, &Finding::rule) ==
            network.parts().odd.end())
      topologies::append_findings(found, rule, rule.check_network(network));
  return found;
}

std::vector<Finding> topologies::odd_in(const SeenServer& server) {
  std::vector<Finding> found;
  for (const LintRule& rule : lint_rules())
    if (rule.check_server != nullptr) append_findings(found, rule, rule.check_server(server));
  return found;
}

} // namespace tutti
