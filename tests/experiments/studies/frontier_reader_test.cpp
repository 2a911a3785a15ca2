// [[frontiers]] in an experiment's file.
#include "experiments/driver/studies/experiment.hpp"

#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/studies/experiment_error.hpp"
#include "tests/message_of.hpp"
#include "tests/refusals.hpp"
#include "tests/temporary_folder.hpp"

#include <string>

namespace frontier_reader_test {

using namespace tutti;

namespace {

const std::string head = R"(name = "e"
seed = 5
[topologies]
R = "ring:6"
L = "ring:8"
)";
const std::string minimal = R"([[frontiers]]
label = "Allgather"
topology = "L"
collective = "all_gather"
)";
const std::string row = R"([[frontiers.paper]]
chunks = 6
steps = 3
rounds = 7
)";

FrontierStudy study_of(const std::string& rest) {
  return *parse_experiment(head + minimal + rest, "e.toml").all<FrontierStudy>().at(0);
}

std::string error_in(const std::string& rest) { return experiment_error(head + minimal + rest); }

} // namespace

TEST_CASE("an experiment of one frontier, with every default") {
  const Experiment e = parse_experiment(head + minimal, "e.toml");
  REQUIRE(e.studies.size() == 1);
  const FrontierStudy& study = std::get<FrontierStudy>(e.studies[0]);
  const FrontierCase c = study.frontier(e.topologies);
  CHECK(c.label == "Allgather");
  CHECK(c.topology_label == "L");
  CHECK(c.topology == &e.topologies[1].topology);
  CHECK(c.collective == "all_gather");
  REQUIRE(c.sizes.size() == 21);
  CHECK(c.sizes.front() == Bytes{1024});
  CHECK(c.sizes.back() == Bytes{1 << 30});
  CHECK(c.options.seed == 5);
  CHECK(c.options.settings.empty());
  CHECK(c.options.model == TimeModel{});
  CHECK(c.engines == all_engines());
  CHECK(study.paper.empty());
}

TEST_CASE("every key of a frontier") {
  const FrontierStudy s = study_of(R"(sizes = ["1kB", "2kB..4kB"]
settings = {k = "2", max_steps = "5"}
link_busy = "latency+serialization"
forwarding = "cut-through"
limit = "10s,1GiB"
[[frontiers.paper]]
chunks = 6
steps = 3
rounds = 7
optimality = "bandwidth"
seconds = 6.6
ours = "unsat"
explanation = "why"
[[frontiers.paper]]
chunks = 1
steps = 2
rounds = 2
)");
  CHECK(s.topology == 1);
  CHECK(s.sizes == std::vector<Bytes>{{1'000}, {2'000}, {4'000}});
  CHECK(s.options.settings.at("k") == "2");
  CHECK(s.options.model.link_busy == LinkBusy::latency_and_serialization);
  CHECK(s.options.model.forwarding == Forwarding::cut_through);
  CHECK(s.options.limit_seconds == 10);
  CHECK(s.options.limit_bytes == std::int64_t{1} << 30);
  REQUIRE(s.paper.size() == 2);
  CHECK(s.paper[0].chunks == 6);
  CHECK(s.paper[0].chunks_per_shard == 6);
  CHECK(s.paper[0].steps == 3);
  CHECK(s.paper[0].rounds == 7);
  CHECK(s.paper[0].claimed == Optimality{.latency = false, .bandwidth = true});
  CHECK(s.paper[0].seconds == 6.6);
  CHECK(s.paper[0].ours == "unsat");
  CHECK(s.paper[0].explanation == "why");
  CHECK(s.paper[1].claimed == Optimality{});
  CHECK_FALSE(s.paper[1].seconds);
}

TEST_CASE("the paper counts the chunks of All-Reduce and All-to-All per NPU, not per shard") {
  const auto chunks_per_shard = [](const std::string& topology, const std::string& collective,
                                   int chunks) {
    const Experiment e = parse_experiment(
        head + "[[frontiers]]\nlabel = \"x\"\ntopology = \"" + topology + "\"\ncollective = \"" +
            collective + "\"\n[[frontiers.paper]]\nchunks = " + std::to_string(chunks) +
            "\nsteps = 3\nrounds = 3\n",
        "e.toml");
    return e.all<FrontierStudy>().at(0)->paper.at(0).chunks_per_shard;
  };
  CHECK(chunks_per_shard("L", "all_to_all", 24) == 3); // 8 members
  CHECK(chunks_per_shard("L", "all_reduce", 16) == 2);
  CHECK(chunks_per_shard("L", "all_to_all,group=0-3", 24) == 6);
  for (const char* other :
       {"all_gather", "reduce_scatter", "broadcast", "reduce", "gather", "scatter"})
    CHECK(chunks_per_shard("R", other, 12) == 12);
  CHECK_THAT(message_of([&] { (void)chunks_per_shard("L", "all_to_all", 6); }),
             ContainsSubstring("e.toml:11:10: 6 chunks can't be: this collective has a multiple "
                               "of 8"));
}

TEST_CASE("a frontier that can't be shows before anything runs") {
  const Experiment small = parse_experiment(head + minimal + "sizes = \"4B\"\n", "e.toml");
  CHECK_THAT(message_of([&] { require_sound(small.studies.at(0), small.topologies); }),
             ContainsSubstring("at least one byte"));
  const Experiment fine = parse_experiment(head + minimal, "e.toml");
  CHECK_NOTHROW(require_sound(fine.studies.at(0), fine.topologies));
}

TEST_CASE("a collective from a file says its own size") {
  const TemporaryFolder folder;
  write_file(folder.file("c.toml"), R"([[collective]]
name = "custom"
[[collective.chunks]]
size = "6kB"
sources = [0]
destinations = [1, 2]
)");
  const std::string frontier = "[[frontiers]]\nlabel = \"x\"\ntopology = \"R\"\ncollective = \"" +
                               folder.file("c.toml") + "\"\n";
  const Experiment e = parse_experiment(head + frontier, "e.toml");
  CHECK(e.all<FrontierStudy>().at(0)->sizes == std::vector<Bytes>{{6'000}});
  write_file(folder.file("two.toml"), "[[collective]]\nname = \"broadcast\"\nsize = \"1kB\"\n"
                                      "[[collective]]\nname = \"reduce\"\nsize = \"1kB\"\n");
  CHECK_THAT(experiment_error(head +
                              "[[frontiers]]\nlabel = \"x\"\ntopology = \"R\"\ncollective = \"" +
                              folder.file("two.toml") + "\"\n"),
             ContainsSubstring("e.toml:9:14: sccl makes one collective at a time"));
  CHECK_THAT(experiment_error(head + frontier + "sizes = \"1kB\"\n"),
             ContainsSubstring("e.toml:10:9: the size of a collective from a file is in the file"));
}

TEST_CASE("what is wrong with a frontier is said with its place") {
  const RefusalRows rows = {
      {"size = '1kB'\n", R"(e.toml:10:1: unknown key "size" ... did you mean "sizes"?)"},
      {"settings = {colour = 'red'}\n", "e.toml:10:12: ... colour"},
      {"settings = {k = 'x'}\n", "e.toml:10:12: "},
      {"sizes = ['4kB', '1kB']\n", "e.toml:10:9: sizes must ascend"},
      {minimal, R"(e.toml:11:9: "Allgather" would have the same files as "Allgather")"},
  };
  check_refusals(error_in, rows);
  CHECK_THAT(experiment_error(head + "[[frontiers]]\nlabel = \"?\"\n"),
             ContainsSubstring("e.toml:7:9: a label needs letters or digits"));
  CHECK_THAT(experiment_error(head + "[[frontiers]]\nlabel = \"x\"\ntopology = \"X\"\n"),
             ContainsSubstring("e.toml:8:12: unknown topology label \"X\" (known: R, L"));
  CHECK_THAT(experiment_error(head + "[[frontiers]]\nlabel = \"x\"\ntopology = \"R\"\n"
                                     "collective = \"all_gater\"\n"),
             ContainsSubstring("e.toml:9:14: unknown collective \"all_gater\""));
  CHECK_THAT(experiment_error(head),
             ContainsSubstring("needs a study: [[runs]], [[frontiers]], [[jobs]], [[failures]]"));
}

TEST_CASE("what is wrong with a row of the paper is said with its place") {
  CHECK(error_in(row).empty());
  const RefusalRows rows = {
      {row + "optimality = 'all'\n",
       "e.toml:14:14: unknown optimality \"all\" (known: latency, bandwidth, both"},
      {row + "seconds = -1\n", "e.toml:14:11: a time can't be below 0"},
      {"[[frontiers.paper]]\nchunks = 0\nsteps = 1\nrounds = 1\n", "e.toml:11:10: "},
      {"[[frontiers.paper]]\nchunks = 1\nsteps = 3\nrounds = 2\n",
       "e.toml:13:10: 3 steps need as many rounds"},
      {"[[frontiers.paper]]\nchunks = 1\nsteps = 3\n", "\"rounds\""},
      {row + "round = 7\n", "e.toml:14:1: unknown key \"round\""},
  };
  check_refusals(error_in, rows);
}

} // namespace frontier_reader_test
