// Schedules from files as an algorithm: those that are for the question, and no others.
#include "experiments/driver/outside/schedule_files.hpp"

#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/attempt.hpp"
#include "sim/files/schedule_file.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/temporary_folder.hpp"
#include "topologies/list.hpp"

#include <string>

namespace schedule_files_test {

using namespace tutti;
using Catch::Matchers::Contains;

namespace {

Attempt attempt_by(const std::string& name, const Topology& topology, Bytes size,
                   std::optional<std::uint32_t> chunks) {
  ScheduleCache none("");
  const auto make = [&](std::uint32_t cut) {
    return make_collective(topology, {CollectiveKind::all_gather, size, {}, 0, cut});
  };
  return attempt_in_chunks(find_algorithm(name), topology, make, chunks, {}, none,
                           Wanted::everything);
}

} // namespace

TEST_CASE("A schedule in a file is an algorithm's answer, in the chunks that it has") {
  const TemporaryFolder folder;
  const Topology ring = make_topology("ring:4");
  const Attempt made = attempt_by("ring1", ring, Bytes{4096}, 3);
  write_schedule(folder.file("all_gather_4KiB.json"), ring,
                 {"ring:4", "ring1", {}, made.collective, *made.outcome.schedule, {}});
  const std::string name = "file:" + folder.file("{collective}_{size}.json");
  const Attempt read = attempt_by(name, ring, Bytes{4096}, std::nullopt);
  REQUIRE(read.usable());
  CHECK(*read.outcome.schedule == *made.outcome.schedule);
  CHECK(read.collective.parts.front().chunks_per_shard == 3);
  CHECK(attempt_by(name, ring, Bytes{4096}, 3).usable());
  CHECK_THAT(attempt_by(name, ring, Bytes{4096}, 2).outcome.note,
             Contains("is of all_gather 4KiB") && Contains("in 3 chunks per shard"));
  CHECK_THAT(attempt_by(name, ring, Bytes{8192}, 3).outcome.note, Contains("there is no file"));
  const Attempt elsewhere =
      attempt_by(name, make_topology("ring:4,latency=2us"), Bytes{4096}, std::nullopt);
  CHECK_THAT(verdict_problem(elsewhere), Contains("made for"));
  write_file(folder.file("all_gather_2KiB.json"), "{");
  CHECK_THAT(verdict_problem(attempt_by(name, ring, Bytes{2048}, std::nullopt)),
             Contains("all_gather_2KiB.json:"));
}

TEST_CASE("So is MSCCL XML") {
  const TemporaryFolder folder;
  REQUIRE(
      run_tutti("synth -t ring:4 -c all_gather -a ring1 --chunks 1 --size 4KiB -o x.bin", folder)
          .code == 0);
  REQUIRE(run_tutti("lower -t ring:4 x.bin -o x.xml", folder).code == 0);
  const CommandResult read =
      run_tutti("synth -t ring:4 -c all_gather -a file:x.xml,ring1 --chunks 1 --size 4KiB "
                "--columns algorithm,transfers,time_fifo",
                folder);
  CHECK(read.code == 0);
  CHECK_THAT(read.out, Contains("file:x.xml"));
  CHECK(run_tutti("synth -t ring:4 -c all_reduce -a file:x.xml --size 4KiB", folder).code != 0);
}

} // namespace schedule_files_test
