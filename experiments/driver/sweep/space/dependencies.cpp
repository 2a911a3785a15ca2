// A directed graph of the names of a sweep. What follows from what is asked twice: to recompute
// only what a changed parameter changes, and to refuse definitions that follow from themselves. A
// `largest` is special: its condition is about itself, which is a trial and no cycle.
#include "experiments/driver/sweep/space/dependencies.hpp"

#include "experiments/driver/records/renames.hpp"
#include "sim/error.hpp"
#include "sim/expressions/expression.hpp"
#include "sim/expressions/placeholders.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace tutti::sweep {

namespace {

std::size_t index_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// All that can be reached from a value, itself only where a cycle leads back to it; what `stop`
/// says is reached and not passed.
template <typename Stop>
std::vector<std::size_t> reached(const std::vector<std::vector<std::size_t>>& next,
                                 std::size_t from, const Stop& stop) {
  std::vector<bool> seen(next.size());
  std::vector<std::size_t> stack{from}, found;
  while (!stack.empty()) {
    const std::size_t value = stack.back();
    stack.pop_back();
    for (const std::size_t other : next[value]) {
      if (seen[other]) continue;
      seen[other] = true;
      found.push_back(other);
      if (!stop(other)) stack.push_back(other);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool contains(const std::vector<std::size_t>& sorted, std::size_t value) {
  return std::binary_search(sorted.begin(), sorted.end(), value);
}

} // namespace

std::vector<std::size_t> Dependencies::followers(std::size_t value) const {
  std::vector<std::size_t> all =
      reached(users, value, [value](std::size_t other) { return other == value; });
  std::erase(all, value);
  return all;
}

std::vector<std::size_t> Dependencies::sources(std::size_t value) const {
  std::vector<std::size_t> all =
      reached(uses, value, [value](std::size_t other) { return other == value; });
  std::erase(all, value);
  return all;
}

std::vector<std::string> names_of(const Definition& definition,
                                  const std::vector<std::string>& known) {
  if (const auto* text = std::get_if<TextDefinition>(&definition.what))
    return known_names_in(text->text, known);
  if (const auto* number = std::get_if<NumberDefinition>(&definition.what))
    return Expression(number->expression, known, unknown_column).names();
  return Expression(std::get<LargestDefinition>(definition.what).condition, known, unknown_column)
      .names();
}

Dependencies dependencies_of(const Sweep& sweep) {
  Dependencies made;
  made.names = value_names(sweep);
  made.parameters = parameter_names(sweep).size();
  made.definitions = sweep.definitions.size();
  made.uses.resize(made.names.size());
  made.users.resize(made.names.size());
  made.is_largest.resize(made.names.size());
  const auto add = [&made](std::size_t user, const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const std::size_t used = index_of(made.names, name);
      made.uses[user].push_back(used);
      made.users[used].push_back(user);
    }
  };
  for (std::size_t i = 0; i < sweep.definitions.size(); ++i) {
    const Definition& definition = sweep.definitions[i];
    const std::size_t value = made.parameters + i;
    made.is_largest[value] = std::holds_alternative<LargestDefinition>(definition.what);
    try {
      add(value, names_of(definition, made.names));
    } catch (const InputError& error) {
      throw InputError(definition.place + ": " + error.what());
    }
  }
  const std::vector<std::string> of_topology = names_in(sweep.experiment->topology_text());
  for (std::size_t fact = made.parameters + made.definitions; fact < made.names.size(); ++fact) {
    add(fact, of_topology);
    add(fact, sweep.cost_names);
  }
  return made;
}

void refuse_cycles(const Dependencies& dependencies, const Sweep& sweep) {
  const std::size_t first = dependencies.parameters;
  const auto refuse = [&](std::size_t definition, const std::string& why) {
    throw InputError(fmt::format("{}: \"{}\" {}", sweep.definitions[definition].place,
                                 sweep.definitions[definition].name, why));
  };
  for (std::size_t i = 0; i < dependencies.definitions; ++i) {
    if (dependencies.is_largest[first + i]) continue;
    const auto from = reached(dependencies.uses, first + i, [&dependencies](std::size_t other) {
      return dependencies.is_largest[other]; // which stands for what makes it
    });
    if (contains(from, first + i)) refuse(i, "follows from itself");
  }
  std::vector<std::vector<std::size_t>> sources(dependencies.definitions);
  for (std::size_t i = 0; i < dependencies.definitions; ++i)
    if (dependencies.is_largest[first + i]) sources[i] = dependencies.sources(first + i);
  for (std::size_t i = 0; i < dependencies.definitions; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (contains(sources[i], first + j) && contains(sources[j], first + i))
        refuse(i, fmt::format("and \"{}\" depend on each other", sweep.definitions[j].name));
}

} // namespace tutti::sweep
