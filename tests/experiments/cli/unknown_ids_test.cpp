// Ids that aren't there, wherever a user names nodes, links or chunks: an InputError, and never a
// crash. The sanitizers of CI see what only happens to go well.
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/studies/event_reader.hpp"
#include "experiments/driver/studies/jobs/study.hpp"
#include "experiments/driver/studies/training/evaluation.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "runtime/lowering/lowering.hpp"
#include "sim/collective.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/files/schedule_file.hpp"
#include "sim/files/schedule_json.hpp"
#include "sim/random.hpp"
#include "sim/verify.hpp"
#include "topologies/list.hpp"

#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/runtime/msccl_samples.hpp"
#include "tests/temporary_folder.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

namespace unknown_ids_test {

using namespace tutti;

namespace {

constexpr std::uint32_t npus = 4;

/// Four NPUs around a switch, and a direct link.
Topology network() {
  return parse_topology(R"(name = "star"
npus = 4
[defaults]
bandwidth = "1GB/s"
latency = "1us"
[[nodes]]
name = "hub"
kind = "switch"
[[links]]
from = ["npu0", "npu1", "npu2", "npu3"]
to = "hub"
[[links]]
from = "npu0"
to = "npu1"
)",
                        "star.toml");
}

/// Numbers from `count` on, negative ones, and those that 32 or 64 bits can't hold.
std::string bad_number(Random& random, std::uint64_t count) {
  const std::array<std::string, 12> extremes{
      "-1",          "-2147483648",         "2147483647",           "2147483648",
      "4294967295",  "4294967296",          "4294967297",           "9223372036854775807",
      "-4294967295", "9223372036854775808", "18446744073709551615", "100000000000000000000"};
  const std::uint64_t kind = random.below(extremes.size() + 4);
  if (kind < extremes.size()) return extremes[kind];
  if (kind == extremes.size()) return std::to_string(count);
  return std::to_string(count + random.below(1'000'000));
}

/// Numbers as above, and what is no number.
std::string bad_id(Random& random, std::uint64_t count) {
  const std::array<std::string, 8> words{"", "x", "0x1", "1.5", "1e0", "npu0", "--1", "0 1"};
  const std::uint64_t kind = random.below(3 * words.size());
  return kind < words.size() ? words[kind] : bad_number(random, count);
}

std::string bad_name(Random& random) {
  return random.below(4) == 0 ? "nobody" : "npu" + bad_number(random, npus);
}

std::string one_of(Random& random, const std::vector<std::string>& texts) {
  return texts[random.below(texts.size())];
}

/// A text with `%` where a bad id belongs.
std::string filled(std::string text, const std::string& id) {
  return text.replace(text.find('%'), 1, id);
}

template <typename Body> void check_refused(const std::string& text, const Body& body) {
  INFO(text);
  CHECK_THROWS_AS(body(), InputError);
}

} // namespace

TEST_CASE("collectives whose groups or roots aren't there are refused") {
  const Topology topology = network();
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    const auto kinds = named_collectives();
    const CollectiveKind kind = kinds[random.below(kinds.size())];
    std::vector<std::string> forms{",group=%", ",group=0+%", ",group=%+1", ",group=0+1+%+2",
                                   ",group=0-1+%-%"};
    if (has_root(kind))
      forms.insert(forms.end(), {",root=%", ",root=%,group=0+1", ",group=0+2,root=%"});
    std::string text = std::string(to_text(kind)) + one_of(random, forms);
    while (text.find('%') != std::string::npos) text = filled(text, bad_id(random, npus));
    check_refused(text, [&] { (void)make_collective(topology, {{text}, Bytes{1 << 20}}, 1); });
  }
  for (const char* text : {"all_reduce,group=0", "all_reduce,group=3", "all_reduce,group=0+0",
                           "reduce,root=1,group=0+2", "all_reduce,group=1-0"})
    check_refused(text, [&] { (void)make_collective(topology, {{text}, Bytes{1 << 20}}, 1); });
}

TEST_CASE("collective files whose NPUs aren't there are refused") {
  const Topology topology = network();
  const TemporaryFolder folder;
  const std::string file = folder.file("c.toml");
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const std::string id = random.below(2) == 0   ? bad_number(random, npus)
                           : random.below(3) == 0 ? "\"hub\""
                                                  : "\"" + bad_name(random) + "\"";
    const std::string text = "[[collective]]\nsize = \"1MiB\"\n" +
                             filled(one_of(random, {"name = \"all_gather\"\ngroup = [0, %]",
                                                    "name = \"broadcast\"\nroot = %",
                                                    "name = \"gather\"\nroot = %\ngroup = [0, 1]"}),
                                    id);
    const std::string custom =
        "[[collective]]\nname = \"custom\"\n[[collective.chunks]]\nsize = \"1kB\"\n" +
        filled(one_of(random,
                      {"sources = [%]\ndestinations = [1]", "sources = [0]\ndestinations = [1, %]",
                       "sources = [0, 1, %, 2]\ndestinations = [3]\nreduces = true"}),
               id);
    for (const std::string& toml : {text, custom}) {
      write_file(file, toml);
      check_refused(toml, [&] { (void)read_collective(file, topology); });
    }
  }
}

TEST_CASE("events, stragglers and jobs whose nodes or links aren't there are refused") {
  const Topology topology = network();
  const TrainingNetwork trained{"star", &topology};
  const TemporaryFolder folder;
  const std::string file = folder.file("jobs.toml");
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const std::string name = bad_name(random);
    const std::string event =
        filled(one_of(random, {"npu_down = %", "link_down = npu0-%", "link_down = %>hub",
                               "link_up = hub>%", "share = 0.5\nstraggler = %"}),
               name);
    const std::size_t value = event.rfind("= ") + 2;
    const std::string toml = "[[events]]\nat = \"1us\"\n" + event.substr(0, value) +
                             nlohmann::json(event.substr(value))
                                 .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
                             "\n";
    check_refused(toml, [&] { (void)parse_event_file(toml, "e.toml", topology); });
    const std::string drawn =
        fmt::format("failed_links = [{}]\n", bad_number(random, topology.link_count() + 1));
    check_refused(drawn, [&] { (void)parse_event_file(drawn, "e.toml", topology); });
    const std::vector<Straggler> stragglers{{name, Share{500'000}}};
    check_refused(name, [&] { require_npus(stragglers, {&trained, 1}); });
    const std::string jobs =
        filled("algorithms = [\"direct\"]\n[[job]]\nname = \"a\"\ncollective = \"%\"\n",
               "all_gather,group=0+" + bad_number(random, npus));
    write_file(file, jobs);
    check_refused(jobs, [&] { require_sound(read_job_file(file, topology, 1), topology); });
  }
}

TEST_CASE("topology files whose nodes aren't there are refused") {
  const std::string head = "name = \"t\"\nnpus = 4\n[defaults]\nbandwidth = \"1GB/s\"\n"
                           "latency = \"0s\"\n[[links]]\nfrom = \"npu0\"\nto = \"npu1\"\n";
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const std::string id =
        random.below(2) == 0 ? bad_number(random, npus) : "\"" + bad_name(random) + "\"";
    const std::string text =
        head +
        filled(one_of(random, {"[[links]]\nfrom = %\nto = 1", "[[links]]\nfrom = 1\nto = [2, %]",
                               "[[links]]\nbetween = [[0, 2], [%, 1]]",
                               "[[groups]]\nname = \"g\"\nbandwidth = \"1GB/s\"\n"
                               "links = [[0, 1], [1, %]]"}),
               id);
    check_refused(text, [&] { (void)parse_topology(text, "t.toml"); });
  }
}

TEST_CASE("schedule files whose numbers are anything are refused or verified") {
  const Topology topology = network();
  const Collective collective = make_collective(
      topology,
      CollectiveSpec{CollectiveKind::broadcast, Bytes{1000}, {NodeId{0}, NodeId{1}}, 0, 2});
  Schedule schedule(topology.link_count());
  const std::array<LinkId, 1> direct{topology.out_links(NodeId{0})[1]};
  for (std::uint32_t c = 0; c < 2; ++c)
    schedule.push({ChunkId{c}, schedule.paths().intern(direct), Op::copy, false});
  const ScheduleFile file{topology.name(), "mine", {}, collective, schedule, std::nullopt};
  const nlohmann::json whole = nlohmann::json::parse(schedule_format::to_json(topology, file));
  std::vector<nlohmann::json::json_pointer> numbers;
  const nlohmann::json flat = whole.flatten();
  for (const auto& [path, value] : flat.items())
    if (value.is_number_integer()) numbers.emplace_back(path);
  REQUIRE(numbers.size() > 8);
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    nlohmann::json changed = whole;
    changed[numbers[random.below(numbers.size())]] =
        nlohmann::json::parse(bad_number(random, random.below(8)));
    const std::string text = changed.dump();
    INFO(text);
    try {
      const ScheduleFile read = parse_schedule(text, "s.json", topology);
      (void)verify(topology, read.collective, read.schedule);
    } catch (const InputError&) {
      SUCCEED();
    }
  }
}

TEST_CASE("programs whose numbers are anything are refused or become schedules") {
  const TemporaryFolder folder;
  const std::string file = folder.file("p.xml");
  for (const std::string& sample :
       {msccl_samples::ring_all_gather, msccl_samples::ring_all_reduce, msccl_samples::exchange}) {
    std::vector<std::size_t> numbers; // where one begins
    for (std::size_t at = sample.find("<algo"); at < sample.size(); ++at)
      if (sample[at - 1] == '"' && (std::isdigit(sample[at]) != 0 || sample[at] == '-'))
        numbers.push_back(at);
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
      Random random(seed);
      std::string text = sample;
      const std::size_t at = numbers[random.below(numbers.size())];
      text.replace(at, text.find('"', at) - at, bad_id(random, random.below(6)));
      INFO(text);
      write_file(file, text);
      try {
        const runtime::MscclFile read = runtime::load_msccl(file, Bytes{1 << 16}, nullptr);
        (void)runtime::schedule_of(make_topology("fully_connected:4"), read.program);
      } catch (const InputError&) {
        SUCCEED();
      }
    }
  }
}

TEST_CASE("every command refuses a group whose NPUs aren't there") {
  const TemporaryFolder folder;
  write_file(folder.file("jobs.toml"), "algorithms = [\"ring\"]\n[[job]]\nname = \"a\"\n"
                                       "collective = \"all_reduce,group=4\"\n");
  for (const char* command :
       {"synth -c all_reduce,group=4 -a ring", "exec -c all_reduce,group=4 -a ring",
        "failures -c all_reduce,group=4 -a ring --event at=50%,link_down=npu0-npu1",
        "frontier -c all_reduce,group=4", "bound -c all_reduce,group=4", "jobs jobs.toml"}) {
    const CommandResult result = run_tutti(std::string(command) + " -t ring:4", folder);
    INFO(command);
    CHECK(result.code == 2);
    CHECK_THAT(result.err, ContainsSubstring("group member 4 is not an NPU (the topology has 4)"));
  }
}

} // namespace unknown_ids_test
