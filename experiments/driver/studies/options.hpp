// Keys of a study's table that the command line takes, too: said once, with name, form, unit,
// default and help. From them come the options of its command, and with these --help, completion
// and man pages; what is given becomes the table that the TOML reader reads
// (cli/study_line.hpp), so that errors and defaults are the same on both roads.
#pragma once

#include <cstdint>
#include <string_view>

namespace tutti {

/// What stands for the file's name where a table was made of options.
inline constexpr std::string_view command_line_source = "command line";

/// How an option's text stands in TOML.
enum class OptionForm : std::uint8_t {
  text,     ///< a string
  number,   ///< a number, where it is one: "auto" stays a string
  texts,    ///< strings; several with commas, and repeated
  repeated, ///< strings that may have commas; repeatable
  together, ///< the same as one item of a list, which belongs together
  numbers,  ///< with commas and repeated, of numbers
  pairs,    ///< name=text; repeatable
  shares,   ///< name=number; repeatable
  events,   ///< key=value,...; repeatable
  flag,     ///< true
  no_flag,  ///< false
};

struct StudyOption {
  const char* flag; ///< "--micro-batch", "-a,--algorithm"; "file": it has a place, no name
  const char* key;  ///< "micro_batch"; "parallel.tensor" of a table in the table
  OptionForm form;
  const char* help;            ///< what it says, its unit, its default
  const char* group = nullptr; ///< heading in --help from here on
  bool is_required = false;
  /// What the command takes where nothing is given and its default isn't that of the key; else
  /// null.
  const char* otherwise = nullptr;

  /// The same, under a heading.
  [[nodiscard]] constexpr StudyOption under(const char* heading) const {
    StudyOption option = *this;
    option.group = heading;
    return option;
  }
};

/// Options of studies that synthesize.
inline constexpr StudyOption limit_option{
    "--limit", "limit", OptionForm::text,
    "time and memory for each synthesis: 60s, 8GiB or 60s,8GiB; default: any time, 3/4 of the "
    "memory"};
inline constexpr StudyOption settings_option{"--set", "settings", OptionForm::pairs,
                                             "an option of an algorithm, key=value; repeatable"};

inline constexpr StudyOption transport_option{
    "--transport", "transport", OptionForm::text,
    "how a runtime uses the links: ideal, nccl, rccl or a TOML file; default ideal"};

/// Option of studies that know fluid sharing.
inline constexpr StudyOption network_model_option{"--network-model", "network_model",
                                                  OptionForm::text,
                                                  "how fluid shares bandwidth: ideal (max-min), or "
                                                  "SimGrid's own cm02, lv08, smpi or ib, with its "
                                                  "parameters; default ideal"};
/// Options of studies that simulate.
inline constexpr StudyOption link_busy_option{
    "--link-busy", "link_busy", OptionForm::text,
    "how long a transfer holds a link: serialization or latency+serialization; default "
    "serialization"};
inline constexpr StudyOption forwarding_option{
    "--forwarding", "forwarding", OptionForm::text,
    "how transfers cross several hops: auto, cut-through or store-and-forward; default auto"};
inline constexpr StudyOption bound_option{
    "--bound", "bound", OptionForm::text,
    "lower bounds: quick (takes 0.2 s, or little compared with a replay) or full (the best there "
    "is); default quick"};

} // namespace tutti
