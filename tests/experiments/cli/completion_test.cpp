// What the command line offers for words that are being typed.
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/temporary_folder.hpp"

#include <string>

namespace completion_test {

using namespace tutti;

namespace {

std::string offered(const std::string& words) {
  const TemporaryFolder folder;
  const CommandResult result = run_tutti("--complete " + words, folder);
  CHECK(result.code == 0);
  CHECK(result.err.empty());
  return result.out;
}

} // namespace

TEST_CASE("commands, options and names are offered by how they begin") {
  CHECK(offered("fr") == "frontier\n");
  CHECK(offered("sk") == "sketch\n");
  CHECK(offered("show --sk") == "--sketch\n");
  CHECK(offered("synth --topo") == "--topology\n");
  CHECK(offered("synth -a tac") == "taccl\ntaccl_paper\ntacos\ntacos_paper\n");
  CHECK(offered("synth -a ring,tac") ==
        "ring,taccl\nring,taccl_paper\nring,tacos\nring,tacos_paper\n");
  CHECK(offered("synth -c all_") ==
        "all_gather\nall_gather_v\nall_reduce\nall_to_all\nall_to_all_v\n");
  CHECK(offered("synth -t dragonf") == "dragonfly\n");
  CHECK(offered("synth -t dgx1x") == "dgx1x2\n");
  CHECK(offered("run tacos/fig0") == "tacos/fig01\ntacos/fig02\ntacos/fig05\ntacos/fig09\n");
  CHECK(offered("sweep sweeps/qu") == "sweeps/quick\n");
  CHECK(offered("list run") == "runtimes\n");
  CHECK_THAT(offered("synth ''"), !ContainsSubstring("tacos"));
}

TEST_CASE("what is offered is what the command takes") {
  CHECK(offered("run tacc") ==
        "taccl\ntaccl/fig10\ntaccl/fig11\ntaccl/fig6\ntaccl/fig7\ntaccl/fig8\ntaccl/fig9\n"
        "taccl/sec9\ntaccl/table2\n"); // a folder is all of it
  CHECK(offered("paper t") == "taccl\ntacos\nteccl\n");
  CHECK(offered("run --progress quick") == "quickstart\n"); // a flag takes no value
  CHECK(offered("list --json algo") == "algorithms\n");
  CHECK(offered("list f") == "formats\n");
  CHECK(offered("list algorithms ''").empty()); // it takes one
  CHECK(offered("sweep --engine ''") == "local\nmpi\n");
  CHECK(offered("synth --engine ''") == "auto\nboth\nnative\nsimgrid\n");
  CHECK(offered("failures --engine b") == "both\n");
  CHECK(offered("train --policy ''") == "reroute\nresynthesize\n");
  CHECK_THAT(offered("train -a a"), ContainsSubstring("auto") && !ContainsSubstring("all"));
  CHECK(offered("synth --discipline fifo,") == "fifo,fluid\n"); // none twice
  CHECK(offered("synth --engine = n") == "native\n");           // as bash splits --engine=n
  CHECK(offered("run --out = q").empty());
  CHECK(offered("--v") == "--version\n");
}

TEST_CASE("nothing is offered, and nothing complained of, where words make no sense") {
  for (const std::string words : {"", "nonsense ''", "synth --nonsense x", "verify sched", "-x",
                                  "synth -a", "synth --limit 6"})
    CHECK(offered(words).find("error") == std::string::npos);
}

TEST_CASE("the script of a shell asks the program") {
  const TemporaryFolder folder;
  CHECK_THAT(run_tutti("completion bash", folder).out, ContainsSubstring("--complete"));
  CHECK_THAT(run_tutti("completion zsh", folder).out, ContainsSubstring("bashcompinit"));
  const CommandResult fish = run_tutti("completion fish", folder);
  CHECK(fish.code == 2);
  CHECK_THAT(fish.err, ContainsSubstring("unknown shell \"fish\" (known: bash, zsh"));
}

} // namespace completion_test
