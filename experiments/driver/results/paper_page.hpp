// A paper, figure by figure: what it states, what came out here, and what isn't covered. A file
// paper.toml beside its experiments says what there is:
//
//   title = "TACOS: ..."
//   source = "Won et al., MICRO 2024"
//   reading = ["switches are unwound ...", "..."]   # what is taken where the paper is silent
//   [[parts]]
//   what = "Fig. 16"
//   claim = "2.56 x over the baselines on average"
//   experiments = ["fig16"]                        # of the folder; none: it isn't covered
//   pictures = ["fig16/bandwidth"]                 # of their results, without .svg
//   missing = "the bar of TACCL"                   # what isn't covered, and why
#pragma once

#include <string>
#include <vector>

namespace tutti {

struct PaperPart {
  std::string what, claim;
  std::vector<std::string> experiments, pictures;
  std::string missing;
};

struct Paper {
  std::string name; ///< of a folder of the repository's experiments: "tacos"; empty: of no such
  std::string file;
  std::string title, source;
  std::vector<std::string> reading;
  std::vector<PaperPart> parts;

  /// Where results of its experiments lie, below the folder of all results.
  [[nodiscard]] std::string folder_of(const std::string& results) const;
  /// What `tutti run` takes.
  [[nodiscard]] std::string command_of(const std::string& experiment) const;
};

/// Errors: InputError with file:line:column; an experiment that isn't there.
[[nodiscard]] Paper read_paper(const std::string& file, const std::string& name);

/// A page of HTML that needs nothing else. `results`: folder in which each experiment's results are
/// a folder by its name; what isn't there has yet to be run, which the page says. Errors:
/// InputError of read_comparisons().
[[nodiscard]] std::string paper_page(const Paper& paper, const std::string& results);

} // namespace tutti
