// An experiment with ${names} in its texts and keys, which values make into the experiment of one
// point.
#pragma once

#include "experiments/driver/studies/experiment.hpp"
#include "sim/expressions/placeholders.hpp"
#include "sim/files/config.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tutti::sweep {

class ExperimentTemplate {
public:
  /// `table`: [experiment] of a sweep. Errors: InputError where it has not exactly one topology, or
  /// not exactly one study, or other parts.
  ExperimentTemplate(const ConfigTable& table, std::string source_name);

  /// Kind of its study: "runs".
  [[nodiscard]] const std::string& kind() const { return kind_; }
  /// Names that it uses, sorted.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// Text of the one topology, with ${names}.
  [[nodiscard]] const std::string& topology_text() const { return topology_text_; }
  /// The network of that text, filled in. Errors: as topology_named().
  [[nodiscard]] Topology topology(const std::string& text) const;
  /// Everything but the values of names() that decides what a point comes to, its text and Tutti's
  /// version, as a text.
  [[nodiscard]] const std::string& fingerprint_text() const { return fingerprint_text_; }

  /// The experiment of one point, with this seed. Errors: as parse_experiment(),
  /// with places in the sweep's file.
  [[nodiscard]] Experiment experiment(const ValueOf& value_of, std::uint64_t seed) const;
  /// Names and fingerprints of the files that the filled-in experiment speaks of, as a text: part
  /// of a point's key. Files are read once for each filled-in text. Not for several threads.
  [[nodiscard]] std::string file_fingerprints(const ValueOf& value_of) const;
  /// Texts that name what can be executed, as they stand, for whoever is to know what will run.
  [[nodiscard]] std::vector<std::string> programs() const;

private:
  [[nodiscard]] const std::string& fingerprint_of(const std::string& text) const;

  ConfigTable table_;
  std::optional<ConfigValue> topology_;
  std::string source_name_, topology_text_, fingerprint_text_, kind_;
  std::vector<std::string> names_;
  std::vector<std::string> file_texts_;                     ///< that may name a file, with ${names}
  mutable std::map<std::string, std::string> fingerprints_; ///< by filled-in text
};

} // namespace tutti::sweep
