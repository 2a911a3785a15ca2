// The experiments that come with Tutti: the TOML files under experiments/, or beside an installed
// command.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tutti {

struct CatalogueEntry {
  std::string name; ///< path below experiments/ without `.toml`: "tacos/fig02"
  std::string title;
  std::string file;
  std::optional<double> cpu_seconds = {}; ///< about how long it takes, as it says
};

/// By name. Errors: InputError for a file that isn't TOML.
[[nodiscard]] std::vector<CatalogueEntry> catalogue();
/// The same of sweeps, which are for `tutti sweep`: those in experiments/sweeps/.
[[nodiscard]] std::vector<CatalogueEntry> sweep_catalogue();

/// Those of catalogue() with the folders that have several, as `tutti run` takes them.
[[nodiscard]] std::vector<std::string> experiment_names();
[[nodiscard]] std::vector<std::string> sweep_names();
/// Folders of experiments that are of one paper.
[[nodiscard]] std::vector<std::string> paper_names();

/// The file that a text speaks of: a file's name (with `.toml`) as it is, else the entry of that
/// name. Errors: InputError with the known names.
[[nodiscard]] std::string find_experiment(const std::string& text);
[[nodiscard]] std::string find_sweep(const std::string& text);

/// Those of a folder ("tacos"), of a pattern with *, ? and [] ("taccl/fig*"), or all ("all"); none
/// where the text is none of these. Errors: as catalogue().
[[nodiscard]] std::vector<CatalogueEntry> find_experiments(const std::string& text);

/// The file paper.toml of a folder of experiments; a file's name (with `.toml`) as it is. Errors:
/// InputError with the known folders.
[[nodiscard]] std::string find_paper(const std::string& folder);

/// Where the results of such a file go by default: "out/tacos/fig02", by its path below
/// experiments/; elsewhere "out/NAME".
[[nodiscard]] std::string default_folder(const std::string& file, const std::string& name);

} // namespace tutti
