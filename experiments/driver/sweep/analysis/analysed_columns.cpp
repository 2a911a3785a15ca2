#include "experiments/driver/sweep/analysis/analysis.hpp"
#include "experiments/driver/sweep/space/expression.hpp"
#include "experiments/driver/sweep/store/point_results.hpp"

#include <algorithm>

namespace tutti::sweep {

std::vector<std::string> shown_columns(const Study& study) {
  std::vector<std::string> names = parameter_names(study);
  for (const Definition& definition : study.definitions) names.push_back(definition.name);
  const std::vector<std::string> facts = fact_names(study);
  names.insert(names.end(), facts.begin(), facts.end());
  if (study.experiment)
    for (const ResultColumn& column : result_columns(study.experiment->kind()))
      names.push_back(column.name);
  names.insert(names.end(), {"status", "message"});
  return names;
}

std::vector<std::string> analysed_columns(const Study& study) {
  const std::vector<std::string> known = shown_columns(study);
  std::vector<std::string> names = parameter_names(study);
  names.emplace_back("status");
  for (const Objective& objective : study.objectives) {
    const Expression expression(objective.expression, known);
    for (const std::string& name : expression.names())
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

} // namespace tutti::sweep
