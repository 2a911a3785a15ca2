// `tutti replay`: the schedule in a file as `tutti synth` evaluates the ones that it makes.
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/cli/oracle_case.hpp"
#include "experiments/driver/cli/replay_files.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/runs/figure.hpp"
#include "experiments/driver/studies/runs/json.hpp"
#include "experiments/driver/studies/runs/runner.hpp"
#include "experiments/driver/studies/runs/table.hpp"
#include "experiments/driver/terminal/stage_display.hpp"
#include "sim/error.hpp"
#include "sim/files/schedule_file.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tutti {

namespace {

const EngineRow& engine_of(const ReplayArguments& arguments) {
  return *of_option("--engine", [&] { return &find_engine(arguments.engine); });
}

// What can be checked before the schedule is read.
void require_sound(const ReplayArguments& arguments) {
  const std::vector<Discipline> disciplines = parse_disciplines(arguments.disciplines);
  for (const Discipline discipline : disciplines)
    require_discipline(engine_of(arguments), discipline);
  of_option("--network-model", [&] {
    require_network_model(network_model_words.parse(arguments.network_model), disciplines);
    return 0;
  });
  require_picture_name(arguments.heatmap);
  std::vector<std::string> inputs = inputs_of(arguments.topology, arguments.noise);
  inputs.push_back(arguments.file);
  require_outputs(inputs,
                  {arguments.trace, arguments.heatmap, arguments.draw.file, arguments.draw_steps,
                   arguments.histogram, arguments.explore, arguments.export_case});
}

/// Who starts late and what is drawn, as the options say.
NoiseRequest noise_of(const StudyLine& line, const Topology& topology,
                      const Collective& collective) {
  NoiseRequest noise;
  read_options(command_options(noise_keys), line, [&](ConfigTable& table) {
    noise =
        noise_at(table, std::string(command_line_source), [&](std::span<const std::string> texts) {
          (void)parse_starts(topology, collective, texts);
        });
  });
  return noise;
}

Case case_of(const ReplayArguments& arguments, const Topology& topology, const ScheduleFile& file) {
  Case c = given_case(topology, file);
  c.options.model = time_model(arguments.model, c.options.model);
  c.options.model.network = network_model_words.parse(arguments.network_model);
  c.options.threads = static_cast<unsigned>(default_jobs());
  c.engine = &engine_of(arguments);
  c.disciplines = parse_disciplines(arguments.disciplines);
  c.bound = bound_effort_words.parse(arguments.bound.value_or("quick"));
  c.transport = of_option("--transport", [&] { return parse_transport(arguments.transport); });
  if (c.transport)
    print_message(
        "a schedule's file doesn't say its library's channels and protocol: it is carried "
        "by as many channels as fill a link, under the fastest protocol");
  c.noise = noise_of(arguments.noise, topology, file.collective);
  return c;
}

// What only the schedule's file can tell.
void require_sound(const ReplayArguments& arguments, const Case& c) {
  RunStudy shown;
  shown.matrices.emplace_back().disciplines = c.disciplines;
  shown.matrices.back().noise = c.noise;
  require_columns(arguments.tables, std::vector<AnyStudy>{shown});
  require_drawable(arguments, c);
}

void draw_heatmap(const std::string& file, const LabelledTopology& network, const Case& c,
                  const Evaluation& e) {
  if (file.empty()) return;
  FigureRequest request;
  request.title =
      fmt::format("{}, {} {}, {}", e.topology, e.collective, to_text(e.size), e.algorithm);
  request.file = file;
  draw(make_figure(request, {&network, 1}, {&c, 1}, {&e, 1}), file);
}

} // namespace

int replay_command(const ReplayArguments& arguments) {
  require_sound(arguments);
  LabelledTopology network{"", arguments.topology, make_topology_and_report(arguments.topology)};
  network.label = network.topology.name();
  ScheduleFile file = read_schedule(arguments.file, network.topology);
  Case c = case_of(arguments, network.topology, file);
  require_sound(arguments, c);
  if (!arguments.export_case.empty()) make_list(arguments.file, network.topology, file);
  if (!arguments.export_case.empty()) // a faulty schedule too: its fault can be cross-checked
    write_file(arguments.export_case,
               oracle_case(network.topology, file.collective, file.schedule, c.options.model,
                           parse_starts(network.topology, file.collective, c.noise.starts)));
  StageDisplay display(arguments.file);
  c.options.stage = display.watch();
  Attempt given = given_attempt(network.topology, file, watch_of(c.options.stage, "verification"));
  if (!given.usable()) {
    display.erase();
    print_message(fmt::format("{}: fault: {}", arguments.file, given.verdict.fault->text));
    return 1;
  }
  const std::unique_ptr<ScratchFolder> records = record_for(arguments, {&c, 1});
  const Evaluation e = evaluate_given(c, std::move(given));
  display.erase();
  if (arguments.json)
    print_text(answer_json("replay", run_rows_json({&e, 1}, LinkDetail::all)));
  else
    print_tables(report_text({&e, 1}, table_form(arguments.tables)));
  draw_heatmap(arguments.heatmap, network, c, e);
  const bool is_drawn = write_replay_files(arguments, network, {&c, 1}, {&e, 1});
  return std::max(is_drawn ? 0 : 1, report_problems(problems_of({&e, 1})));
}

} // namespace tutti
