// Bad input ends with exit code 2 and a message that says what was found and what is known, before
// any work is done and without leaving anything behind.
#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/command_answers.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/refusals.hpp"

#include <filesystem>
#include <string>

namespace bad_input_cli_test {

using namespace tutti;

TEST_CASE("misspelt commands and options come with a hint") {
  CHECK_THAT(refusal(""), ContainsSubstring("name a command; `tutti --help` lists them"));
  CHECK_THAT(refusal("rnu"),
             ContainsSubstring("unknown command \"rnu\" (known: run, paper, synth,") &&
                 ContainsSubstring("did you mean \"run\"?"));
  CHECK_THAT(refusal("synth --szie 1GiB"),
             ContainsSubstring("unknown option of tutti synth \"--szie\"") &&
                 ContainsSubstring("did you mean \"--size\"?"));
  CHECK_THAT(refusal("--jsn"), ContainsSubstring("unknown option \"--jsn\""));
  CHECK_THAT(refusal("verify -t ring:4 a b"), ContainsSubstring("unexpected argument \"b\""));
  CHECK_THAT(refusal("synth -t ring:4 -a ring"), ContainsSubstring("--collective is required"));
  CHECK_THAT(refusal("list algoritms"), ContainsSubstring("did you mean \"algorithms\"?"));
  CHECK_THAT(refusal("run nosuch"), ContainsSubstring("unknown experiment \"nosuch\" (known: "));
}

TEST_CASE("misspelt names and units come with what is known") {
  const RefusalRows rows = {
      {"show -t rign:4", R"(unknown topology "rign" ... did you mean "ring"?)"},
      {"synth -t ring:4 -c all_redce -a ring",
       R"(unknown collective "all_redce" ... did you mean "all_reduce"?)"},
      {"synth -t ring:4 -c all_reduce -a rng",
       R"(unknown algorithm "rng" ... did you mean "ring"?)"},
      {ring_synth + " --engine natve", "did you mean \"native\"?"},
      {ring_synth + " --discipline fif", "\"fif\""},
      {ring_synth + " --discipline fifo,fifo", "discipline fifo is named twice"},
      {ring_synth + " --link-busy latency", "\"latency\""},
      {ring_synth + " --routing xy", "\"xy\""},
      {ring_synth + " --set colour=red", "unknown setting \"colour\""},
      {ring_synth + " --set colour", "setting \"colour\" isn't key=value"},
      {ring_synth + " --set a=1 --set a=2", "setting \"a\" is given twice"},
      {"synth -t ring:4 -c all_reduce -a ring,ring", "algorithm \"ring\" is named twice"},
      {"show -t ring:4,bandwith=1GB/s", "\"bandwith\""},
  };
  check_refusals(refusal, rows);
}

TEST_CASE("bad values are refused") {
  const std::string sizeless = "synth -t ring:4 -c all_reduce -a ring --size ";
  CHECK_THAT(refusal(sizeless + "12"), ContainsSubstring("size \"12\" has no unit"));
  CHECK_THAT(refusal(sizeless + "12XB"), ContainsSubstring("unknown unit \"XB\""));
  CHECK_THAT(refusal(sizeless + "0B"), ContainsSubstring("size \"0B\" must be at least 1B"));
  CHECK_THAT(refusal("synth -t ring:4 -c all_reduce -a ring --size=-1B"),
             ContainsSubstring("\"-1B\" is negative"));
  CHECK_THAT(refusal(sizeless + "99999999999GiB"), ContainsSubstring("\"99999999999GiB\""));
  CHECK_THAT(refusal(sizeless + "2kB..1kB"), ContainsSubstring("put the smaller first"));
  CHECK_THAT(refusal(sizeless + "3B"), ContainsSubstring("at least one byte"));
  CHECK_THAT(refusal("show -t ring:4,bandwidth=nanGB/s"), ContainsSubstring("\"nanGB/s\""));
  CHECK_THAT(refusal("show -t ring:4,bandwidth=0GB/s"), ContainsSubstring("\"0GB/s\""));
  CHECK_THAT(refusal("show -t ring:4,latency=-1us"), ContainsSubstring("\"-1us\""));
  CHECK_THAT(refusal("synth -t ring:4 -c all_gather -a ring1 --chunks 0"),
             ContainsSubstring("--chunks: 0 is out of range"));
  CHECK_THAT(refusal(ring_synth + " --seed x"), ContainsSubstring("seed"));
  CHECK_THAT(refusal(ring_synth + " --limit 60"), ContainsSubstring("\"60\""));
  for (const char* nothing : {"0s", "0B", "60s,0B"})
    CHECK_THAT(refusal(ring_synth + " --limit " + nothing), ContainsSubstring("more than 0"));
  CHECK_THAT(refusal(ring_synth + " --limit 60s,8GiB,9GiB"), ContainsSubstring("names two sizes"));
  CHECK_THAT(refusal(ring_synth + " --limit 60s,8GiX"), ContainsSubstring("\"8GiX\""));
  CHECK_THAT(refusal(ring_synth + " --threads 0"), ContainsSubstring("threads"));
  CHECK_THAT(refusal(ring_synth + " --jobs 0"), ContainsSubstring("jobs"));
  CHECK_THAT(refusal("bound -t ring:4 -c all_gather --size 1kB..2kB"),
             ContainsSubstring("bound takes one size"));
  CHECK_THAT(refusal("bound -t ring:4 -c all_gather --chunks auto"),
             ContainsSubstring("bound takes a number of chunks, not auto"));
}

TEST_CASE("failures that can't be are refused") {
  const TemporaryFolder folder;
  const auto refused = [&folder](const std::string& events, const std::string& more = {}) {
    write_file(folder.file("events.toml"), events);
    const CommandResult result = run_tutti(
        "failures -t ring:4 -c all_gather -a ring1 --size 4kB --events events.toml" + more, folder);
    CHECK(result.code == 2);
    CHECK(result.out.empty());
    return result.err;
  };
  const std::string good = "[[events]]\nat = \"10%\"\nlink_down = \"npu0>npu1\"\n";
  CHECK_THAT(refusal("failures -t ring:4 -c all_gather -a ring1"),
             ContainsSubstring("no event: give --event, --events or --failed-links"));
  CHECK_THAT(refusal("failures -t ring:4 -c all_gather -a ring1 --events none.toml"),
             ContainsSubstring("none.toml"));
  CHECK_THAT(refused("[[events]]\nat = \"10%\"\nlink_down = \"npu0>npu2\"\n"),
             ContainsSubstring("tutti: events.toml:3:13: there is no link npu0>npu2"));
  CHECK_THAT(refused(good + good), ContainsSubstring("tutti: events.toml:4:1: npu0>npu1"));
  CHECK_THAT(refused("[[events]]\nat = \"1s\"\nlink_down = \"npu0>npu1\"\n"),
             ContainsSubstring("tutti: events.toml:1:1: npu0>npu1") &&
                 ContainsSubstring("after the end"));
  CHECK_THAT(refused("failed_links = 2\n"),
             ContainsSubstring("tutti: events.toml:1:16: 2 failed links") &&
                 ContainsSubstring("out of reach"));
  CHECK_THAT(refused(good, " --policy repair"),
             ContainsSubstring("--policy: ") && ContainsSubstring("\"repair\""));
  CHECK_THAT(refused(good, " --policy report,report"),
             ContainsSubstring("policy report is named twice"));
  CHECK_THAT(refused(good, " --detection 5"), ContainsSubstring("--detection: "));
  CHECK_THAT(refused(good, " --planner ring"), ContainsSubstring("planner ring"));
  CHECK_THAT(refused(good, " --engine neither"), ContainsSubstring("\"neither\""));
  CHECK_THAT(refused(good, " --set colour=red"), ContainsSubstring("colour"));
  CHECK_THAT(refusal("failures -t ring:4 -c all_gather -a ring1 --size 1kB..4kB --events e.toml"),
             ContainsSubstring("--size: one size"));
}

TEST_CASE("a frontier that can't be is refused") {
  const std::string frontier = "frontier -t ring:4 -c all_gather";
  CHECK_THAT(refusal("frontier -t ring:4"), ContainsSubstring("--collective"));
  CHECK_THAT(refusal(frontier + " --set colour=red"), ContainsSubstring("colour"));
  CHECK_THAT(refusal(frontier + " --set k=2 --set k=3"), ContainsSubstring("\"k\" is given twice"));
  CHECK_THAT(refusal(frontier + " --size 2kB..1kB"), ContainsSubstring("put the smaller first"));
  CHECK_THAT(refusal(frontier + " --size 1B"), ContainsSubstring("at least one byte"));
  CHECK_THAT(refusal(frontier + " --engine neither"), ContainsSubstring("\"neither\""));
  CHECK_THAT(refusal(frontier + " --limit 60"), ContainsSubstring("\"60\""));
  CHECK_THAT(refusal(frontier + " --chunks 3"), ContainsSubstring("\"--chunks\""));
  CHECK_THAT(refusal("frontier -t ring:4 -c ./mine.toml --size 1kB"),
             ContainsSubstring("the size of a collective from a file is in the file"));
}

TEST_CASE("a collective that can't be is refused") {
  CHECK_THAT(refusal("synth -t ring:4 -c all_reduce,group=2 -a ring"),
             ContainsSubstring("a collective over one NPU has nothing to do"));
  CHECK_THAT(refusal("synth -t ring:4 -c all_reduce,group=2+9 -a ring"), ContainsSubstring("9"));
  CHECK_THAT(refusal(ring_synth + " --engine native --discipline fluid"),
             ContainsSubstring("engine native knows no fluid sharing (engines that do: simgrid)"));
}

TEST_CASE("a topology file with a link to a node that isn't there") {
  const TemporaryFolder folder;
  write_file(folder.file("t.toml"), "npus = 2\n[[links]]\nfrom = \"npu0\"\nto = \"npu7\"\n"
                                    "bandwidth = \"1GB/s\"\nlatency = \"1us\"\n");
  const CommandResult result = run_tutti("show -t ./t.toml", folder);
  CHECK(result.code == 2);
  CHECK_THAT(result.err, ContainsSubstring("t.toml:4:6: ") && ContainsSubstring("npu7"));
}

TEST_CASE("what is wrong with a network of a file's own name is said with the file") {
  const TemporaryFolder folder;
  const std::string name = GENERATE("", "name = \"pods\"\n");
  write_file(folder.file("t.toml"), name + "npus = 3\n[[links]]\nfrom = \"npu0\"\nto = \"npu1\"\n"
                                           "bandwidth = \"1GB/s\"\nlatency = \"1us\"\n");
  const CommandResult result = run_tutti("bound -t ./t.toml -c all_gather --size 1kB", folder);
  CAPTURE(name);
  CHECK(result.code == 2);
  CHECK_THAT(result.err,
             ContainsSubstring("t.toml: ") && ContainsSubstring("can't get from npu0 to npu2"));
}

TEST_CASE("a collective that nobody can make is no bad input, and names who is cut off") {
  const TemporaryFolder folder;
  const std::string command =
      GENERATE("synth -a ring,direct,tacos", "failures -a direct --event at=5%,npu_down=npu0",
               "exec -a ring,direct --predicted-by nothing");
  const CommandResult result = run_tutti(
      command + " -t 'ring:4,without-link=npu0>npu1+npu2>npu1' -c all_gather --size 1kB", folder);
  CAPTURE(command, result.err);
  CHECK(result.code == 1);
  CHECK_THAT(result.out + result.err, ContainsSubstring("npu1"));
}

TEST_CASE("a file that isn't what was asked for is refused") {
  const TemporaryFolder folder;
  REQUIRE(run_tutti(ring_synth + " -o s.json", folder).code == 0);
  const CommandResult other = run_tutti("verify -t ring:5 s.json", folder);
  CHECK(other.code == 2);
  CHECK_THAT(other.err, ContainsSubstring("made for topology \"ring:4\"") &&
                            ContainsSubstring("not for \"ring:5\""));
  const std::string whole = read_file(folder.file("s.json"));
  write_file(folder.file("half.json"), whole.substr(0, whole.size() / 2));
  const CommandResult half = run_tutti("replay -t ring:4 half.json", folder);
  CHECK(half.code == 2);
  CHECK_THAT(half.err, ContainsSubstring("half.json:"));
  const CommandResult none = run_tutti("verify -t ring:4 none.json", folder);
  CHECK(none.code == 2);
  CHECK_THAT(none.err, ContainsSubstring("none.json: cannot read: No such file or directory"));
  CHECK_THAT(refusal("run nosuch.toml"), ContainsSubstring("nosuch.toml: cannot read"));
  CHECK_THAT(run_tutti("replay -t ring:4 s.json --heatmap h.jpg", folder).err,
             ContainsSubstring("h.jpg: a picture is .svg, .pdf or .png"));
}

TEST_CASE("output that can't be written costs no work and leaves nothing") {
  const TemporaryFolder folder;
  write_file(folder.file("file"), "");
  for (const std::string& arguments :
       {ring_synth + " -o file/s.json", std::string("run quickstart --out file/results")}) {
    const CommandResult result = run_tutti(arguments, folder);
    CHECK(result.code == 2);
    CHECK_THAT(result.err, ContainsSubstring("cannot write"));
    CHECK(result.out.empty());
  }
  std::filesystem::create_directory(folder.file("folder"));
  CHECK_THAT(run_tutti(ring_synth + " -o folder", folder).err,
             ContainsSubstring("folder: cannot write: it is a folder"));
  CHECK_THAT(refusal("synth -t ring:4 -c all_gather -a ring,direct -o s.json"),
             ContainsSubstring("-o takes one schedule"));
  const CommandResult refused = run_tutti("synth -t ring:6 -c all_reduce -a rhd -o s.json", folder);
  CHECK(refused.code == 1);
  CHECK(refused.err == "tutti: s.json: not written, there is no correct schedule\n");
  CHECK_FALSE(std::filesystem::exists(folder.file("s.json")));
}

} // namespace bad_input_cli_test
