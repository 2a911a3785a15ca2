// A command line of a study as the experiment that it stands for.
#pragma once

#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/keys.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace tutti {

class ConfigTable;

/// What was given of a study's options, by their flags.
struct StudyLine {
  std::map<std::string, std::vector<std::string>> texts;
  std::map<std::string, bool> flags;
};

/// "--algorithm" of "-a,--algorithm"; "file" of an argument.
[[nodiscard]] std::string long_name(const StudyOption& option);

/// With its words in it.
[[nodiscard]] std::string help_of(const StudyOption& option);

/// The command takes these; parsing it fills `line`, which must outlive it.
void add_study_options(CLI::App& app, std::span<const StudyOption> options, StudyLine& line);

/// The experiment of one study on one topology that these options say, read as one from TOML is.
/// Errors: InputError; those of the reader begin with the option ("--zero: ...").
[[nodiscard]] Experiment experiment_of(std::string_view kind, const std::string& topology,
                                       std::uint64_t seed, std::span<const StudyOption> options,
                                       const StudyLine& line);

/// What these options name of files, and the topology's.
[[nodiscard]] std::vector<std::string> inputs_of(const std::string& topology,
                                                 const StudyLine& line);

/// What these options say, each as its key of the table that `read` is given. Errors: as above.
void read_options(std::span<const StudyOption> options, const StudyLine& line,
                  const std::function<void(ConfigTable&)>& read);

} // namespace tutti
