// What several commands do with their arguments in the same way.
#include "experiments/driver/cli/commands.hpp"

#include "experiments/driver/cli/options.hpp"
#include "experiments/driver/figures/picture.hpp"
#include "experiments/driver/pool/interrupts.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/results/result_files.hpp"
#include "experiments/driver/results/results_page.hpp"
#include "experiments/driver/studies/in_file.hpp"
#include "experiments/driver/studies/not_built.hpp"
#include "experiments/driver/studies/refusals.hpp"
#include "experiments/driver/studies/runs/over_nccl.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/files/standard_files.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <system_error>

namespace tutti {

std::shared_ptr<const Transport> transport_or_usual(const Topology& topology,
                                                    const std::string& asked) {
  if (!asked.empty()) return of_option("--transport", [&] { return parse_transport(asked); });
  UsualTransport usual = usual_transport(topology);
  if (!usual.transport)
    print_message(fmt::format("links are ideal, as {}: runtimes are slower", usual.why_ideal));
  return std::move(usual.transport);
}

TimeModel time_model(const ModelArguments& arguments, TimeModel model) {
  if (arguments.link_busy) model.link_busy = link_busy_words.parse(*arguments.link_busy);
  if (arguments.forwarding) model.forwarding = forwarding_words.parse(*arguments.forwarding);
  return model;
}

std::vector<Discipline> parse_disciplines(const std::string& text) {
  std::vector<Discipline> disciplines;
  for (const std::string_view name : split(text, ',')) {
    const Discipline discipline = discipline_words.parse(trimmed(name));
    if (std::find(disciplines.begin(), disciplines.end(), discipline) != disciplines.end())
      throw InputError(fmt::format("discipline {} is named twice", to_text(discipline)));
    disciplines.push_back(discipline);
  }
  return disciplines;
}

std::vector<Bytes> sizes_of(const CollectiveArguments& arguments) {
  if (!arguments.size) return {usual_size(arguments.collectives)};
  const auto& names = arguments.collectives;
  if (std::all_of(names.begin(), names.end(), is_collective_file))
    throw InputError("--size: the size of a collective from a file is in the file");
  return parse_sizes(*arguments.size);
}

// Whether a file can be written is only known by beginning to write it: that is done, and undone.
void require_writable(const std::string& file) {
  struct Opened {};
  if (std::filesystem::is_directory(file))
    throw InputError(fmt::format("{}: cannot write: it is a folder", file));
  try {
    write_file(file, [](std::ostream&) { throw Opened{}; });
  } catch (const Opened&) { // and so write_file() removed what it had begun
  }
}

// By canonical paths, as `a.toml` and `./a.toml` are one file; devices such as /dev/null may be
// named often.
void require_outputs(const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs) {
  std::vector<std::filesystem::path> taken;
  const auto place_of = [](const std::string& file) {
    std::error_code error;
    const std::filesystem::path place = std::filesystem::weakly_canonical(file, error);
    return error ? std::filesystem::path(file) : place;
  };
  for (const std::string& input : inputs) taken.push_back(place_of(input));
  for (const std::string& output : outputs) {
    if (output.empty()) continue;
    const std::filesystem::path place = place_of(output);
    std::error_code error;
    const bool is_device =
        std::filesystem::exists(place, error) && !std::filesystem::is_regular_file(place, error);
    if (!is_device && std::ranges::find(taken, place) != taken.end())
      throw InputError(fmt::format("{}: one file is named twice, and would be lost", output));
    taken.push_back(place);
    require_writable(output);
  }
}

void require_picture_name(const std::string& file) {
  if (file.empty()) return;
  if (!is_picture_name(file))
    throw InputError(fmt::format("{}: a picture is .svg, .pdf or .png", file));
  if (!needs_converter(file) || converter_found()) return;
  if (std::getenv("TUTTI_SCRIPT") != nullptr) not_built("pictures");
  throw InputError(fmt::format("{}: {}", file, converter_missing()));
}

void require_formats(const std::vector<std::string>& formats) {
  for (const std::string& format : formats)
    of_option("--pictures", [&] {
      if (!is_picture_name("." + format))
        throw InputError(unknown_name("format", format, picture_formats()));
      require_picture_name("." + format);
    });
}

void require_histogram(const std::string& file, const NoiseRequest& noise) {
  require_picture_name(file);
  if (!file.empty() && !noise.is_drawn())
    throw InputError("--histogram: nothing is drawn: that needs --skew or --jitter");
}

int report_problems(std::span<const std::string> problems) {
  for (const std::string& problem : problems) print_message(problem);
  return problems.empty() ? 0 : 1;
}

void report_left_out(const std::string& trace, std::span<const std::string> left_out) {
  for (const std::string& what : left_out)
    print_message(fmt::format("{}: left out: {}", trace, what));
}

void require_writable(const std::optional<std::string>& folder, const std::string& file) {
  if (folder) require_writable(*folder + "/" + file);
}

namespace {

std::vector<std::string> write_files(std::string_view command, const std::string& folder,
                                     std::span<const StudyResult> results) {
  std::vector<std::string> files = write_records(folder, results);
  files.push_back(folder + "/results.json");
  write_file(files.back(), results_json(command, results));
  for (std::string& figure : write_figures(folder, results)) files.push_back(std::move(figure));
  return files;
}

} // namespace

LinkQuantity require_drawable(const DrawArguments& draw, bool with_queue) {
  require_picture_name(draw.file);
  return of_option("--draw-by", [&] {
    const LinkQuantity quantity = link_quantity_words.parse(draw.by);
    if (quantity == LinkQuantity::queue && !with_queue)
      throw InputError("queues are known of synth and replay alone");
    if (draw.file.empty() && draw.by != DrawArguments().by)
      throw InputError("there is no picture without --draw");
    return quantity;
  });
}

bool draw_network(const StudyResult& result, const DrawArguments& picture) {
  const std::string& file = picture.file;
  if (file.empty()) return true;
  const std::vector<NetworkUse> uses =
      result.network_uses ? result.network_uses() : std::vector<NetworkUse>{};
  if (uses.empty()) {
    print_message(fmt::format("{}: not drawn, no run used the network", file));
    return false;
  }
  draw(uses.front().figure(link_quantity_words.parse(picture.by)), file);
  return true;
}

int conclude(const StudyResult& result, std::string_view command, const StudyArguments& arguments,
             bool interrupted) {
  const std::span<const StudyResult> results(&result, 1);
  if (arguments.json)
    print_text(results_json(command, results));
  else
    print_tables(result.story(table_form(arguments.tables)));
  if (arguments.out && !interrupted) {
    const std::vector<std::string> files = write_files(command, *arguments.out, results);
    if (!arguments.json) print_text(fmt::format("\nwritten: {}\n", joined(files, " ")));
  }
  const bool is_drawn = interrupted || draw_network(result, arguments.draw);
  if (!arguments.explore.empty() && !interrupted)
    write_explorer(arguments.explore,
                   exploration_of(fmt::format("{} on {}", command, arguments.topology),
                                  own_command(), results, true));
  flush_standard_output(); // results first, then what is wrong with them
  const int code = std::max(
      {report_problems(result.defects), report_problems(result.nothing_made), is_drawn ? 0 : 1});
  return interrupted ? interrupted_exit_code : code;
}

void require_columns(const TableArguments& tables, std::span<const std::string> known) {
  TableForm form = table_form(tables);
  form.titles = std::make_shared<std::set<std::string>>(); // tables report those of theirs
  know_columns(form, known);
  require_known_columns(form);
}

void require_columns(const TableArguments& tables, std::span<const AnyStudy> studies) {
  std::vector<std::string> known;
  const auto add = [&known](std::vector<std::string> names) {
    known.insert(known.end(), names.begin(), names.end());
  };
  for (const AnyStudy& study : studies) {
    add(std::visit([](const auto& each) { return each.table_columns(); }, study));
    const bool compares = std::visit(
        [](const auto& each) {
          if constexpr (requires { each.expectations; }) return !each.expectations.empty();
          return false;
        },
        study);
    if (!compares) continue;
    for (const Column& column : comparison_table({}).columns) add({column_name(column.title)});
  }
  require_columns(tables, known);
  // A limit may leave a table without one of them.
  const TableForm form = table_form(tables);
  for (const std::string& name : form.columns)
    if (std::ranges::find(known, column_name(name)) != known.end())
      know_columns(form, std::vector{column_name(name)});
}

int run_study_line(std::string_view command, const StudyArguments& arguments,
                   const std::function<void(StudyResult&)>& adapt) {
  const std::vector<StudyCommand> commands = study_commands();
  const StudyCommand& of = *std::ranges::find(commands, command, &StudyCommand::name);
  const Experiment experiment = experiment_of(
      of.kind, arguments.topology, parse_seed(arguments.seed), of.options, arguments.line);
  const AnyStudy& study = experiment.studies.front();
  const std::string& network = experiment.topologies.front().label;
  require_columns(arguments.tables, experiment.studies);
  require_drawable(arguments.draw);
  require_page_name(arguments.explore);
  require_outputs(inputs_of(arguments.topology, arguments.line),
                  {arguments.draw.file, arguments.explore});
  if (arguments.out) require_writable(*arguments.out + "/results.json");
  Interrupts interrupts;
  Refusals refusals;
  StudyResult result = about_topology(arguments.topology, network, [&] {
    require_sound(study, experiment.topologies);
    StudyResult made = run_study(study, {.networks = experiment.topologies,
                                         .interrupts = interrupts,
                                         .refusals = refusals,
                                         .name = fmt::format("{} on {}", command, network),
                                         .jobs = default_jobs(),
                                         .progress = arguments.progress,
                                         .explores = !arguments.explore.empty()});
    if (interrupts.count() == 0) refusals.require_some();
    return made;
  });
  if (adapt) adapt(result);
  return conclude(result, command, arguments, interrupts.count() > 0);
}

std::map<std::string, std::string> parse_settings(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> settings;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw InputError(fmt::format("setting \"{}\" isn't key=value", text));
    if (!settings.emplace(text.substr(0, equals), text.substr(equals + 1)).second)
      throw InputError(fmt::format("setting \"{}\" is given twice", text.substr(0, equals)));
  }
  return settings;
}

std::uint32_t parse_count(const std::string& option, const std::string& text, std::int64_t least,
                          std::int64_t most) {
  return of_option(option, [&] {
    return static_cast<std::uint32_t>(parse_integer(text, "number", least, most));
  });
}

std::uint64_t parse_seed(const std::string& text) {
  return static_cast<std::uint64_t>(parse_integer(text, "seed", 0, INT64_MAX));
}

std::size_t parse_jobs(const std::string& text) {
  return static_cast<std::size_t>(parse_integer(text, "jobs", 1, 1024));
}

} // namespace tutti
