// A sweep: which points of a parameter space are simulated, and what is made of the results.
// ${names} may stand in every text: of all that a point has in [experiment], [derived], [cost] and
// expressions, of its row in [[zip]], of `by` in titles, elsewhere of parameters with one value.
//
//   name = "equal_cost"             # letters, digits, - and _; names the output folder
//   title = "..."
//   seed = 1                        # default 1; of samples and of every point
//   cost = "costs.toml"             # default none; a file beside this one, or a table [cost]:
//                                   # format at the head of cost_model.hpp
//   constraints = ["npus == 64", "cost <= 250000"]   # points for which one doesn't hold are left
//                                   # out; SQL's syntax (expression.hpp)
//   [parameters]                    # the space is the product of all parameters, zips and samples;
//                                   # one called `seed` is the seed of its points
//   size = "1KiB..1GiB"             # sizes double
//   algorithm = ["ring", "tacos"]   # a list
//   k = {from = 2, to = 16, step = 2}                # a range, ends included; or factor = 2
//   latency = {from = "0.1us", to = "10us", factor = 10}
//   [[zip]]                         # parameters that vary together: lists of one length
//   network = ["torus", "mesh"]
//   topology = ["torus2d:8x8", "mesh2d:8x8"]
//   [[sample]]                      # drawn rows
//   method = "latin_hypercube"      # or random
//   count = 100
//   seed = 7                        # default the sweep's
//   parameters = {alpha = {from = "0.1us", to = "10us", scale = "log"}, k = {from = 1, to = 9},
//                 collective = ["all_reduce", "all_to_all"]}
//                                   # ranges are evenly drawn, or by logarithm; of whole numbers
//                                   # where both ends are ones without a unit
//   [derived]                       # may use each other, whatever the order
//   text = "torus2d:${k}x${k},bandwidth=${bandwidth}" # texts with the values of others;
//                                   # a number where the text is a quantity
//   local = {expression = "9 * bandwidth", unit = "bytes_per_second"}   # unit: default none
//   bandwidth = {largest = "cost <= 250000", from = "1GB/s", to = "1TB/s"}
//                                   # the largest for which a condition holds that holds below and
//                                   # not above, to four digits; a point without one is left out
//   [limits]                        # of each point
//   time = "60s"                    # by the clock; default 600s
//   memory = "4GiB"                 # default none
//   [experiment]                    # one case, as in an experiment's file, with ${names} in texts
//                                   # and keys
//   topologies = {net = "${topology},latency=${latency}"}           # exactly one topology
//   [[experiment.runs]]             # or another kind of study, of one case
//   collectives = ["all_reduce"]
//   sizes = ["${size}"]
//   algorithms = ["${algorithm}"]
//   [objectives]                    # numbers of a point; over parameters, derived values, facts of
//                                   # the network (npus, links (one for each direction), switches;
//                                   # with a cost model cost, and its parts cost_cables,
//                                   # cost_switches, cost_nics, cost_npus, cost_energy, and
//                                   # power_watts, cables, cable_metres) and results
//                                   # (point_results.hpp)
//   time = "collective_time_s"                 # the less the better
//   rate = {expression = "algbw_bytes_per_s / npus", maximise = true, unit = "bytes_per_second"}
//                                   # unit: default that of the result which the expression is
//
//   # What is made of the results. Parameters that an analysis doesn't name are chosen for the best
//   # objective; `by` makes one analysis for each combination of their values; `label` names files
//   # and is unique; `title` is optional.
//   [[pareto]]                      # points that no other beats in both objectives
//   label = "Time against cost"
//   x = "price"
//   y = "time"
//   by = ["collective"]             # default none
//   name = "network"                # parameter that points of the figure are named by; optional
//   [[best]]                        # which value of a parameter is best where: a map
//   label = "Best algorithm"
//   objective = "time"
//   of = "algorithm"                # or several: ["network", "algorithm"]
//   x = "size"
//   y = "network"                   # default none: a list
//   by = []
//   [[sensitivity]]                 # how much each parameter matters
//   label = "Sensitivity"
//   objective = "time"
//   of = ["size", "latency"]        # default: all that vary
//   [[curves]]
//   label = "Time over size"
//   objective = "time"
//   x = "size"
//   series = "network"
//   by = ["collective"]
//   replicates = "draw"             # parameter whose values are repetitions: means with confidence
//                                   # intervals; default none
//   quantile = 0.9                  # of the repetitions, instead of their mean; default none
//   logarithmic = true              # the y axis; default false
//   relative_to = "torus"           # series: curves over this one's; default none
//   [[selection]]                   # for each value of `over` the best of `of`, also as JSON
//   label = "Selection"
//   objective = "time"
//   of = ["algorithm", "chunks"]
//   over = "size"
//   by = ["collective"]
#pragma once

#include "experiments/driver/sweep/space/axis.hpp"
#include "experiments/driver/sweep/space/cost_model.hpp"
#include "experiments/driver/sweep/space/experiment_template.hpp"
#include "sim/files/config.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tutti::sweep {

/// Values that follow from others.
struct TextDefinition {
  std::string text; ///< with ${names}
};
struct NumberDefinition {
  std::string expression;
  Unit unit = Unit::none;
};
struct LargestDefinition { ///< the largest number for which the condition holds
  std::string condition;
  Value from, to; ///< numbers of one unit, 0 < from < to
};
struct Definition {
  std::string name;
  std::variant<TextDefinition, NumberDefinition, LargestDefinition> what;
  std::string place; ///< "FILE:3:1", for errors
};

struct Constraint {
  std::string expression, place;
};

struct PointLimits {
  double seconds = 600;   ///< by the clock
  std::int64_t bytes = 0; ///< 0: none
};

struct Objective {
  std::string name, expression;
  bool maximise = false;
  Unit unit = Unit::none;
};

struct AnalysisHead {
  std::string label, title;    ///< title: the label where none is given
  std::vector<std::string> by; ///< parameters
};
struct ParetoAnalysis {
  AnalysisHead head;
  std::string x, y; ///< objectives
  std::string name; ///< parameter; empty: none
};
struct BestAnalysis {
  AnalysisHead head;
  std::string objective;
  std::vector<std::string> of; ///< parameters, at least one
  std::string x, y;            ///< parameters; y may be empty
};
struct SensitivityAnalysis {
  AnalysisHead head;
  std::string objective;
  std::vector<std::string> of; ///< parameters; empty: all that vary
};
struct CurvesAnalysis {
  AnalysisHead head;
  std::string objective, x, series;
  std::string replicates;  ///< parameter; empty: none
  std::string relative_to; ///< value of `series`; empty: none
  bool logarithmic = false;
  double quantile = 0; ///< of the repetitions; 0: their mean
};
struct SelectionAnalysis {
  AnalysisHead head;
  std::string objective;
  std::vector<std::string> of; ///< parameters, at least one
  std::string over;            ///< parameter
};

struct Sweep {
  std::string name, title;
  std::uint64_t seed = 1;
  std::string source_name; ///< its file
  std::string toml;        ///< the file's text
  std::vector<Axis> axes;
  std::vector<Definition> definitions;
  std::vector<Constraint> constraints;
  std::optional<CostModel> cost;            ///< of all points
  std::optional<ConfigValue> cost_template; ///< with ${names}: each point has a model of its own
  std::vector<std::string> cost_names;      ///< in the template
  PointLimits limits;
  std::shared_ptr<const ExperimentTemplate> experiment;
  std::string topology_place; ///< of its topology's text, for errors
  std::vector<Objective> objectives;
  std::vector<ParetoAnalysis> paretos;
  std::vector<BestAnalysis> bests;
  std::vector<SensitivityAnalysis> sensitivities;
  std::vector<CurvesAnalysis> curves;
  std::vector<SelectionAnalysis> selections;
};

/// All names of expressions and texts: parameters, definitions, facts.
[[nodiscard]] std::vector<std::string> value_names(const Sweep& sweep);
/// Names of all parameters, in the order of the axes.
[[nodiscard]] std::vector<std::string> parameter_names(const Sweep& sweep);
/// Names of facts that every point has under this sweep, in the order of columns.
[[nodiscard]] std::vector<std::string> fact_names(const Sweep& sweep);
/// What `cost` of a sweep's file says, a table or the name of a file, with these values in it.
/// Errors: InputError with the place.
[[nodiscard]] CostModel cost_model_of(const ConfigValue& cost, const std::string& source_name,
                                      const ValueOf& value_of);

/// Files are looked for beside `source_name`. Errors: InputError with file:line:column for anything
/// wrong or unknown: a key, a name in a text or an expression, a parameter that is defined twice, a
/// name that is reserved (columns of the store) or no identifier, a cycle of definitions, a
/// parameter that nothing uses.
[[nodiscard]] Sweep parse_sweep(std::string_view toml, const std::string& source_name,
                                ProgramGate gate = {});
[[nodiscard]] Sweep read_sweep(const std::string& file, ProgramGate gate = {});

} // namespace tutti::sweep
