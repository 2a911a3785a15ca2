// A schedule that was made for other shares than those that are sent: its chunks have the new
// sizes, and what was planned for nothing can't be sent.
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/evaluation.hpp"
#include "sim/engines/engine.hpp"
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"

#include <string>

namespace planned_for_test {

using namespace tutti;

namespace {

Case case_of(const Topology& topology, const std::string& planned_for) {
  Case c;
  c.topology = &topology;
  c.topology_label = topology.name();
  c.collective = {{"all_to_all_v,zipf=1,seed=2"}, {8'000'000}};
  c.algorithm = find_algorithm("direct");
  c.engine = &find_engine("native");
  c.change.planned_for = planned_for;
  return c;
}

} // namespace

TEST_CASE("what is planned for other shares has the sizes of these, in as many chunks as it had") {
  const Topology topology = samples::ring(4);
  const Evaluation own = evaluate(case_of(topology, "")),
                   same = evaluate(case_of(topology, "all_to_all_v,zipf=1,seed=2")),
                   equal = evaluate(case_of(topology, "all_to_all")),
                   other = evaluate(case_of(topology, "all_to_all_v,zipf=1,seed=3"));
  CHECK(same.replays[0].report.completion == own.replays[0].report.completion);
  CHECK(same.note == "planned for all_to_all_v,zipf=1,seed=2");
  CHECK(equal.chunks == 16); // an equal All-to-All's, with those that stay
  CHECK(own.chunks != 16);
  for (const Evaluation* each : {&equal, &other}) {
    CHECK(each->problem.empty());
    CHECK(each->replays[0].bound.time == own.replays[0].bound.time);
    CHECK(each->size == own.size);
  }
}

TEST_CASE("what nothing was planned for is told, and makes no file") {
  const Topology topology = samples::ring(4);
  const ScratchFolder folder;
  write_file(folder.path() + "/m.csv", "0,1,1,1\n1,0,1,0\n1,1,0,1\n1,1,1,0\n");
  Case c = case_of(topology, "all_to_all_v,file=" + folder.path() + "/m.csv");
  const Evaluation without = evaluate(c);
  CHECK(without.status == Status::unsupported);
  CHECK(without.note.starts_with("nothing was planned for share 7, which is "));
  CHECK(without.note.ends_with(" now (from rank 1 to rank 3)"));
  c.schedule_file = folder.path() + "/s.json";
  CHECK(message_of([&] { (void)evaluate(c); }) ==
        "what is planned for another collective is no schedule for a file");
}

} // namespace planned_for_test
