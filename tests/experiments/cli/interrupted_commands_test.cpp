// Ctrl-C and SIGTERM in every kind of long work: the command says what it ends, and then ends with
// 130. Each of these would go on for far longer, and end with another code.
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/temporary_folder.hpp"

#include "sim/files/files.hpp"

#include <csignal>
#include <string>
#include <vector>

namespace interrupted_commands_test {

using namespace tutti;

namespace {

struct LongWork {
  std::string arguments;
  std::string once_it_says; ///< on stderr, with --progress
};

void check_ends(const LongWork& work, int signal, const TemporaryFolder& folder) {
  const Interruption how{.signal = signal, .once_it_says = work.once_it_says};
  const CommandResult result = interrupt_tutti(work.arguments, folder, how);
  INFO(work.arguments);
  INFO(result.err);
  CHECK(result.code == 130);
  CHECK_THAT(result.err, ContainsSubstring("tutti: interrupted: ending "));
  CHECK_THAT(result.err, !ContainsSubstring("defect"));
}

} // namespace

TEST_CASE("a signal ends executions and profiles on slow links") {
  const TemporaryFolder folder;
  const std::string exec = "exec -t ring:4,bandwidth=20kB/s,latency=1us -c all_gather -a ring "
                           "--size 4MiB --watchdog 1000s --progress ";
  check_ends({exec + "--predicted-by topology", "execution of ring"}, SIGINT, folder);
  check_ends({exec, "profile of the links"}, SIGTERM, folder);
}

TEST_CASE("a signal ends replays", "[slow]") {
  const TemporaryFolder folder;
  const std::string synth = "synth -c all_to_all -a direct --progress ";
  for (const int signal : {SIGINT, SIGTERM}) {
    check_ends({synth + "-t torus2d:16x16 --discipline fluid", "replay on simgrid"}, signal,
               folder);
    check_ends({synth + "-t torus2d:32x32", "replay on native"}, signal, folder);
    check_ends({synth + "-t torus2d:32x32", "verification"}, signal, folder);
  }
}

TEST_CASE("a signal ends what failures, jobs and training do", "[slow]") {
  const TemporaryFolder folder;
  write_file(folder.file("jobs.toml"), R"(algorithms = ["direct"]
engine = "both"
[[job]]
name = "a"
collective = "all_to_all"
[[job]]
name = "b"
collective = "all_to_all"
start = "10us"
)");
  for (const int signal : {SIGINT, SIGTERM}) {
    check_ends({"failures -t torus2d:32x32 -c all_gather -a direct --size 64MiB "
                "--event at=50%,link_down=npu0-npu1 --engine both --progress",
                "report on "},
               signal, folder);
    check_ends({"jobs -t torus2d:24x24 jobs.toml", ""}, signal, folder);
    check_ends({"train -t torus2d:8x8 --model llama3_8b --npu h100 --tensor 8 --pipeline 8 "
                "--micro-batches 512 -a ring --engine simgrid --cache none --progress",
                "iteration with "},
               signal, folder);
  }
}

} // namespace interrupted_commands_test
