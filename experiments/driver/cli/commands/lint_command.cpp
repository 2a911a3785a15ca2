// `tutti lint`: what is odd in a network, so that a faulty machine's dump isn't believed, what NCCL
// makes of it, and where its rings, or a program, leave rails and NVLink.
#include "algorithms/nccl/picture.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/records/json.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/records/records.hpp"
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/requests/connection_paths.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/over_nccl.hpp"
#include "runtime/formats/msccl/runtimes.hpp"
#include "sim/files/gzip.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/text.hpp"
#include "topologies/lint/lint.hpp"
#include "topologies/list.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace tutti {

namespace {

struct LintRow {
  Finding finding;
  std::string meaning; ///< of its rule
};

/// Each path that is in use, on each channel.
std::vector<SentWay> ways_of(const Schedule& schedule, const Collective& collective,
                             const LibraryChoice* library) {
  std::map<std::pair<std::uint32_t, std::optional<std::uint32_t>>, SentWay> ways;
  for (std::size_t t = 0; t < schedule.size(); ++t) {
    const Transfer transfer = schedule[t];
    std::optional<std::uint32_t> channel;
    if (library != nullptr)
      channel =
          transfer.chunk.value % collective.parts.front().chunks_per_shard % library->channels;
    const auto links = schedule.paths().links(transfer.path);
    ways.try_emplace({transfer.path.value, channel},
                     SentWay{channel, {links.begin(), links.end()}});
  }
  std::vector<SentWay> all;
  for (auto& [at, way] : ways) all.push_back(std::move(way));
  return all;
}

/// Each channel of NCCL's or RCCL's rings, around which a broadcast goes but for the hop to its
/// root: so by two roots. Empty where it makes none.
std::vector<SentWay> ring_ways(const Topology& network) {
  constexpr std::uint32_t most_channels = 64;
  const AlgorithmRow row = find_algorithm(nccl_of(network));
  std::vector<SentWay> all;
  for (const char* root : {"broadcast,root=0", "broadcast,root=1"}) {
    const Collective collective =
        make_collective(network, {{root}, Bytes{std::int64_t{1} << 30}}, most_channels);
    SynthesisOptions options;
    options.settings = {{"algo", "ring"}, {"proto", "simple"}};
    const Outcome outcome = synthesize(row, network, collective, options_for(row, options));
    if (!outcome.schedule || !outcome.library || outcome.library->channels == 0) return {};
    for (SentWay& way : ways_of(*outcome.schedule, collective, &*outcome.library))
      all.push_back(std::move(way));
  }
  return all;
}

/// What a schedule file sends, or the connections of a program.
std::vector<SentWay> program_ways(const Topology& network, const std::string& file) {
  if (!unpacked_name(file).ends_with(".xml")) {
    ScheduleFile read = read_schedule(file, network);
    make_list(file, network, read);
    return ways_of(read.schedule, read.collective, nullptr);
  }
  const std::string xml = read_input_file(file), paths = paths_file_of(file);
  std::vector<SentWay> ways;
  for (runtime::MscclFile& each :
       runtime::read_msccl_files(xml, file, Bytes{std::int64_t{1} << 30})) {
    if (std::filesystem::exists(paths))
      each.program.paths = parse_connection_paths(network, read_input_file(paths), paths, xml);
    if (each.program.ranks.size() != network.npu_count())
      throw InputError(fmt::format("{} is for {} ranks, but {} has {} NPUs", file,
                                   each.program.ranks.size(), network.name(), network.npu_count()));
    for (std::uint32_t rank = 0; rank < each.program.ranks.size(); ++rank)
      for (const runtime::Block& block : each.program.ranks[rank].blocks) {
        if (!block.sends_to) continue;
        const auto known = std::ranges::find_if(each.program.paths, [&](const auto& path) {
          return path.from == rank && path.to == *block.sends_to && path.channel == block.channel;
        });
        ways.push_back(
            {block.channel,
             known != each.program.paths.end()
                 ? known->links
                 : runtime::runtime_path(network, {rank, *block.sends_to, block.channel, {}})});
      }
  }
  return ways;
}

Fields<LintRow> lint_fields() {
  using namespace column_words;
  using R = LintRow;
  return {{{"rule", text, key}, [](const R& r) { return r.finding.rule; }},
          {{"finding", text, key}, [](const R& r) { return r.finding.words; }},
          {{"meaning", text, note}, [](const R& r) { return r.meaning; }}};
}

} // namespace

int lint_command(const LintArguments& arguments) {
  const Topology network = make_network(arguments.topology);
  const std::vector<nccl::PictureRow> picture = nccl::picture_of(network);
  std::vector<Finding> findings = lint(network);
  std::vector<SentWay> ways;
  std::string who = arguments.program;
  if (!arguments.program.empty()) {
    ways = program_ways(network, arguments.program);
  } else if (!picture.empty()) {
    ways = ring_ways(network);
    who = fmt::format("rings of {}", nccl_of(network));
  }
  for (Finding& finding : audit(network, ways, who)) findings.push_back(std::move(finding));
  std::vector<LintRow> rows;
  for (Finding& finding : findings) {
    const auto rule = std::ranges::find(lint_rules(), finding.rule, &LintRule::name);
    rows.push_back({std::move(finding), std::string(rule->meaning)});
  }
  if (arguments.json || arguments.tables.columns) {
    const Records records = records_of(lint_fields(), std::span<const LintRow>(rows));
    nlohmann::ordered_json more{{"nccl", nlohmann::ordered_json::array()}};
    for (const nccl::PictureRow& row : picture)
      more["nccl"].push_back({{"what", row.what}, {"says", row.says}});
    if (arguments.json)
      print_text(answer_json("lint", runs_json("finding", records), more));
    else
      print_tables(to_text(whole_table(records), table_form(arguments.tables)));
    return rows.empty() ? 0 : 1;
  }
  std::string text;
  if (rows.empty()) text = fmt::format("{}: nothing odd\n", network.name());
  for (const LintRow& row : rows) text += row.finding.words + "\n";
  std::string meanings;
  for (const LintRule& rule : lint_rules())
    if (std::ranges::any_of(rows, [&](const LintRow& r) { return r.finding.rule == rule.name; }))
      meanings += fmt::format("\n{}: {}", rule.name, rule.meaning);
  if (!meanings.empty()) text += meanings + "\n";
  if (!picture.empty()) text += fmt::format("\nwhat {} makes of it\n", nccl_of(network));
  for (const nccl::PictureRow& row : picture) text += fmt::format("{}: {}\n", row.what, row.says);
  print_text(text);
  return rows.empty() ? 0 : 1;
}

} // namespace tutti
