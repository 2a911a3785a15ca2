// Programs as algorithms: what they say is what is scheduled, and whatever they do wrong costs
// their row, in words.
#include "experiments/driver/outside/outside.hpp"

#include "experiments/driver/studies/experiment.hpp"
#include "experiments/driver/studies/registry.hpp"
#include "experiments/driver/studies/runs/attempt.hpp"
#include "sim/error.hpp"
#include "sim/processes/isolated.hpp"
#include "sim/processes/program_keeper.hpp"
#include "tests/catch.hpp"
#include "tests/experiments/cli/run_tutti.hpp"
#include "tests/message_of.hpp"
#include "tests/temporary_folder.hpp"
#include "topologies/list.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <signal.h>
#include <unistd.h>

namespace program_test {

using namespace tutti;
using Catch::Matchers::Contains;

namespace {

const Topology& ring() {
  static const Topology topology = make_topology("ring:3");
  return topology;
}

Collective gather_in(std::uint32_t chunks) {
  return make_collective(ring(), {CollectiveKind::all_gather, Bytes{3072}, {}, 0, chunks});
}

/// An All-Gather on three ranks, in which each sends its shard to both others.
constexpr const char* right = R"([[0,1,0,\"copy\"],[0,2,0,\"copy\"],[1,2,1,\"copy\"],)"
                              R"([1,0,1,\"copy\"],[2,0,2,\"copy\"],[2,1,2,\"copy\"]])";

/// A program whose answers are lines of a shell: $line is the question, $id its number, $n how many
/// there were.
std::string program(const TemporaryFolder& folder, const std::string& answers,
                    const std::string& name = "answers.sh") {
  const std::string file = folder.file(name);
  write_file(file,
             "#!/bin/sh\nn=0\nwhile read -r line; do\n  n=$((n+1)); id=${line#*:}; id=${id%%,*}\n" +
                 answers + "\ndone\n");
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  return file;
}

std::string says(const std::string& members) { return "echo \"{\\\"id\\\":$id," + members + "}\""; }
std::string sends(const std::string& transfers) { return says("\\\"transfers\\\":" + transfers); }

template <typename Body> std::string failure_of(const Body& body) {
  try {
    body();
  } catch (const ProgramFailure& failure) {
    return failure.what();
  }
  return "";
}

Attempt attempt_by(const std::string& file, const SynthesisOptions& options = {}) {
  return attempt(find_algorithm(file), ring(), gather_in, 1, options);
}

} // namespace

TEST_CASE("A program's transfers are the schedule, routed or over the links that it names") {
  const TemporaryFolder folder;
  const Attempt routed = attempt_by(program(folder, sends(right)));
  CHECK(routed.usable());
  CHECK(verdict_problem(routed).empty());
  CHECK(routed.transfers() == 6);
  std::string links = "[";
  for (std::uint32_t from = 0; from < 3; ++from)
    for (std::uint32_t l = 0; l < ring().link_count(); ++l)
      if (ring().link(LinkId{l}).from.value == from)
        links += (links.size() > 1 ? "," : "") + std::string("[[") + std::to_string(l) + "]," +
                 std::to_string(from) + ",\\\"copy\\\",[]]";
  const Attempt by_links = attempt_by(program(folder, sends(links + "]"), "links.sh"));
  CHECK(by_links.usable());
  CHECK(by_links.transfers() == 6);
}

TEST_CASE("A transfer waits for those that it names") {
  const TemporaryFolder folder;
  const std::string chained = R"([[0,1,0,\"copy\"],[0,2,0,\"copy\",0],[1,2,1,\"copy\",[0,1]],)"
                              R"([1,0,1,\"copy\"],[2,0,2,\"copy\"],[2,1,2,\"copy\"]])";
  const Attempt made = attempt_by(program(folder, sends(chained)));
  REQUIRE(made.usable());
  CHECK(made.outcome.schedule->dependencies(1).size() == 1);
  CHECK(made.outcome.schedule->dependencies(2).size() == 2);
  CHECK(made.outcome.schedule->dependencies(1).front() == Dependency{0, Milestone::arrived});
}

TEST_CASE("A program stays alive from question to question, and is started anew after a failure") {
  const TemporaryFolder folder;
  const AlgorithmRow row = find_algorithm(
      program(folder, "if [ $n = 3 ]; then echo gone >&2; exit 7; fi\n" +
                          says("\\\"transfers\\\":[],\\\"note\\\":\\\"asked $n\\\"")));
  const auto note = [&] { return synthesize(row, ring(), gather_in(1), {}).note; };
  CHECK(note() == "asked 1");
  CHECK(note() == "asked 2");
  CHECK_THAT(note(), Contains("ended with code 7: gone"));
  CHECK(note() == "asked 1");
}

TEST_CASE("Whatever goes wrong in a program is told in words, and is its row's defect") {
  const TemporaryFolder folder;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"echo hello", "its answer is no object of JSON: hello"},
      {"echo '{\"id\":77,\"transfers\":[]}'", "its answer has no \"id\""},
      {says("\\\"transfer\\\":[]"), "unknown key of an answer \"transfer\""},
      {says("\\\"note\\\":3"), "\"note\" of its answer isn't a text"},
      {says("\\\"note\\\":\\\"x\\\""), "its answer has no list of \"transfers\""},
      {says("\\\"error\\\":\\\"no idea\\\""), "no idea"},
      {"echo 'out of\nideas' >&2; exit 3", "ended with code 3: ideas"},
      {"kill -SEGV $$", "was killed by signal 11 (Segmentation fault)"},
      {"exit 0", "ended without an answer"},
      {"sleep 60 & exit 3", "ended with code 3"},
      {says("\\\"error\\\":\\\"\\\""), "doesn't say why"},
      {sends("[[[[[[[[[1]]]]]]]]]"), "its answer has lists in lists in lists"},
      {"exec >&-; sleep 60", "ended without an answer"},
      {"tr '\\0' x </dev/zero", "said more than 268435456 bytes"},
      {sends("[7]"), "transfer 0 is 7, not [source"},
      {sends("[[0,1,0]]"), "transfer 0 is [0,1,0], not [source"},
      {sends("[[0,1,0,\\\"move\\\"]]"), "\"move\" is neither \"copy\" nor \"reduce\""},
      {sends("[[0,1,0.5,\\\"copy\\\"]]"), "0.5 is no whole number"},
      {sends("[[0,3,0,\\\"copy\\\"]]"), "transfer 0: there is no rank 3 (there are 3)"},
      {sends("[[-1,0,0,\\\"copy\\\"]]"), "there is no rank -1"},
      {sends("[[1,1,1,\\\"copy\\\"]]"), "rank 1 sends to itself"},
      {sends("[[0,1,3,\\\"copy\\\"]]"), "there is no block 3"},
      {sends("[[[],0,\\\"copy\\\"]]"), "crosses no link"},
      {sends("[[[99],0,\\\"copy\\\"]]"), "there is no link 99"},
      {sends("[[0,1,0,\\\"copy\\\",0]]"), "transfer 0 waits for transfer 0, which isn't before it"},
      {sends("[]"), "fault: "},
      {sends("[[0,1,1,\\\"copy\\\"]]"), "fault: "},
      {sends("[[0,1,0,\\\"reduce\\\"]]"), "fault: "},
      {sends("[[[0,0],0,\\\"copy\\\"]]"), "fault: "},
      {sends(std::string("[[0,1,0,\\\"copy\\\"],") + (right + 1)), "redundant copies: 1"},
  };
  for (const auto& [answers, problem] : cases) {
    INFO(answers);
    const Attempt made = attempt_by(program(folder, answers));
    CHECK_THAT(verdict_problem(made), Contains(problem));
  }
}

TEST_CASE("What a program says unasked is no answer to what is asked next") {
  const TemporaryFolder folder;
  const AlgorithmRow row = find_algorithm(program(folder, sends(right) + "\n" + sends(right)));
  CHECK_FALSE(synthesize(row, ring(), gather_in(1), {}).failed);
  CHECK(synthesize(row, ring(), gather_in(1), {}).failed);
  CHECK_FALSE(synthesize(row, ring(), gather_in(1), {}).failed); // by a new one
}

TEST_CASE("What a kept program has started ends with the keeper") {
  const TemporaryFolder folder;
  const std::string file =
      program(folder, "sleep 300 & echo $! >'" + folder.file("pid") + "'\n" + sends(right));
  {
    ProgramKeeper keeper;
    keeper.start();
    const auto lent = keeper.lend(file, {}, 0);
    lent->send("{\"id\":1,\n");
    (void)lent->line(1000);
    lent->set_free();
    CHECK(::kill(std::stoi(read_file(folder.file("pid"))), 0) == 0);
  }
  const std::string stat = "/proc/" + read_file(folder.file("pid"));
  const auto ended = [state_file = stat.substr(0, stat.find('\n')) + "/stat"] {
    const std::string state = text_of(state_file);
    return state.empty() || state.find(") Z ") != std::string::npos; // nobody may wait for it
  };
  // A process that has been killed ends some time later; nothing tells who isn't its parent when.
  for (int asked = 0; asked < 2000 && !ended(); ++asked)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(ended());
}

TEST_CASE("What a program isn't made for is no defect") {
  const TemporaryFolder folder;
  const Attempt made =
      attempt_by(program(folder, says("\\\"unsupported\\\":\\\"rings are for others\\\"")));
  CHECK(made.outcome.status == Status::unsupported);
  CHECK(made.outcome.note == "rings are for others");
  CHECK(verdict_problem(made).empty());
}

TEST_CASE("A limit ends a program that says nothing") {
  const TemporaryFolder folder;
  SynthesisOptions options;
  options.limit_seconds = 3;
  options.clock = [now = 0.0]() mutable { return now += 1; }; // a question, a second
  const std::string alive = folder.file("alive");
  const Attempt made =
      attempt_by(program(folder, "(sleep 30; touch " + alive + ") & sleep 30"), options);
  CHECK(made.outcome.status == Status::timed_out);
  CHECK(made.outcome.note == "no schedule within the limit");
}

TEST_CASE("The chunks that a program names are tried where nobody says a number") {
  const TemporaryFolder folder;
  const std::string answers =
      "case $line in *'\"ask\":\"chunks\"'*) " + says("\\\"chunks\\\":[4,2,2]") +
      ";; *'\"chunks_per_shard\":2'*) " +
      sends(
          R"([[0,1,0,\"copy\"],[0,2,0,\"copy\"],[1,2,2,\"copy\"],)"
          R"([1,0,2,\"copy\"],[2,0,4,\"copy\"],)"
          R"([2,1,4,\"copy\"],[0,1,1,\"copy\"],[0,2,1,\"copy\"],[1,2,3,\"copy\"],[1,0,3,\"copy\"],)"
          R"([2,0,5,\"copy\"],[2,1,5,\"copy\"]])") +
      ";; *) " + says("\\\"unsupported\\\":\\\"two chunks only\\\"") + ";; esac";
  const std::string file = program(folder, answers);
  ScheduleCache none("");
  const auto made = [&](std::optional<std::uint32_t> chunks) {
    return attempt_in_chunks(find_algorithm(file), ring(), gather_in, chunks, {}, none,
                             Wanted::everything);
  };
  CHECK(made(std::nullopt).usable());
  CHECK(made(std::nullopt).chunks == 2);
  CHECK(made(1).outcome.note == "two chunks only");
  const Attempt bad =
      attempt_in_chunks(find_algorithm(program(folder, says("\\\"chunks\\\":[0]"), "bad.sh")),
                        ring(), gather_in, std::nullopt, {}, none, Wanted::everything);
  CHECK_THAT(verdict_problem(bad), Contains("0 is no number of chunks"));
  const Attempt fine = attempt_in_chunks( // too fine for so few bytes: it is asked for one chunk
      find_algorithm(program(folder, says("\\\"chunks\\\":[4096]"), "fine.sh")), ring(), gather_in,
      std::nullopt, {}, none, Wanted::everything);
  CHECK_THAT(verdict_problem(fine), Contains("no list of \"transfers\""));
}

TEST_CASE("Names of what is outside") {
  using Kind = OutsideName::Kind;
  CHECK_FALSE(outside_name("tacos"));
  CHECK_FALSE(outside_name("all"));
  CHECK(outside_name("swing.py")->file == "./swing.py");
  CHECK(outside_name("./swing.so")->kind == Kind::shared_object);
  CHECK(outside_name("file:a_{size}.json")->kind == Kind::schedules);
  CHECK(outside_name("program:python3 -u x.py")->arguments ==
        std::vector<std::string>{"-u", "x.py"});
  CHECK(outside_name("lib/swing.py:fast")->function == "fast");
  CHECK_THAT(message_of([] { (void)outside_name("program: "); }), Contains("needs the name"));
  CHECK_THAT(message_of([] { (void)outside_name("file:{npu}"); }), Contains("known: size, bytes"));
  CHECK_THAT(message_of([] { (void)find_algorithm("./no/such"); }), Contains("there is no file"));
  const TemporaryFolder folder;
  write_file(folder.file("plain.txt"), "x");
  CHECK_THAT(message_of([&] { (void)find_algorithm(folder.file("plain.txt")); }),
             Contains("can't be executed (chmod +x"));
}

TEST_CASE("A keeper lends one program to one borrower after another, unless it came back at work") {
  const TemporaryFolder folder;
  const std::string file =
      program(folder, "if [ $n = 4 ]; then exit 9; fi\n" +
                          says("\\\"transfers\\\":[],\\\"note\\\":\\\"asked $n\\\""));
  ProgramKeeper keeper;
  CHECK(keeper.lend(file, {}, 0) == nullptr);
  keeper.start();
  const auto ask = [&](OutsideProgram& lent) {
    lent.send("{\"id\":1,\n");
    const std::string line = lent.line(1000);
    lent.set_free();
    return line;
  };
  const auto answer = [](int n) {
    return "{\"id\":1,\"transfers\":[],\"note\":\"asked " + std::to_string(n) + "\"}";
  };
  {
    const auto first = keeper.lend(file, {}, 0), second = keeper.lend(file, {}, 0);
    CHECK(ask(*first) == answer(1));
    CHECK(ask(*first) == answer(2));
    CHECK(ask(*second) == answer(1)); // another process
    second->send("{\"id\":1,\n");     // and it comes back at work
  }
  const std::string in_child = bytes_of_child([&] { return ask(*keeper.lend(file, {}, 0)); });
  CHECK(in_child == answer(3)); // the first again, by another process
  CHECK_THAT(failure_of([&] { (void)ask(*keeper.lend(file, {}, 0)); }),
             Contains("ended with code 9"));
  CHECK(ask(*keeper.lend(file, {}, 0)) == answer(1));
  CHECK_THAT(failure_of([&] { (void)keeper.lend("/no/such", {}, 0); }),
             Contains("can't be started"));
}

TEST_CASE("An experiment's cases share a program") {
  const TemporaryFolder folder;
  (void)program(folder, "echo x >>\"$0.starts\"\n" + sends(right)); // a line a question
  write_file(folder.file("once.sh"), "#!/bin/sh\necho x >>once.starts\nexec ./answers.sh\n");
  std::filesystem::permissions(folder.file("once.sh"), std::filesystem::perms::owner_all);
  write_file(folder.file("x.toml"),
             "name = \"x\"\n[topologies]\nr = \"ring:3\"\n[[runs]]\ncollectives = "
             "\"all_gather\"\nsizes = [\"3kB\", \"6kB\", \"9kB\"]\nchunks = 1\n"
             "algorithms = \"./once.sh\"\n");
  CHECK(run_tutti("run x.toml --out o --jobs 1", folder).code == 0);
  CHECK(read_file(folder.file("once.starts")) == "x\n");
  CHECK(read_file(folder.file("answers.sh.starts")) == "x\nx\nx\n");
  write_file(folder.file("s.toml"),
             "name = \"s\"\ntitle = \"s\"\n[parameters]\nsize = [\"3kB\", \"6kB\", \"9kB\"]\n"
             "[experiment.topologies]\nr = \"ring:3\"\n[[experiment.runs]]\ncollectives = "
             "\"all_gather\"\nsizes = \"${size}\"\nchunks = 1\nalgorithms = \"./once.sh\"\n");
  const CommandResult sweep = run_tutti("sweep s.toml --jobs 1", folder);
  CHECK(sweep.code == 0);
  CHECK_THAT(sweep.err, Contains("runs the program ./once.sh"));
  CHECK(read_file(folder.file("once.starts")) == "x\nx\n");
}

TEST_CASE("An experiment runs programs below its folder only, unless it is allowed more") {
  const TemporaryFolder folder;
  const std::string file = program(folder, sends(right));
  std::filesystem::create_directories(folder.file("inner"));
  const auto toml = [](const std::string& algorithm) {
    return "name = \"x\"\n[topologies]\nr = \"ring:3\"\n[[runs]]\ncollectives = \"all_gather\"\n"
           "sizes = \"3kB\"\nchunks = 1\nalgorithms = \"" +
           algorithm + "\"\n";
  };
  write_file(folder.file("below.toml"), toml("./answers.sh"));
  write_file(folder.file("inner/above.toml"), toml("../answers.sh"));
  write_file(folder.file("found.toml"), toml("program:" + file));
  write_file(folder.file("path.toml"), toml("program:sh answers.sh"));
  const CommandResult below = run_tutti("run below.toml --out o", folder);
  CHECK(below.code == 0);
  CHECK_THAT(below.out, Contains("./answers.sh"));
  CHECK_THAT(below.err, Contains("below.toml runs the program answers.sh"));
  const CommandResult above = run_tutti("run inner/above.toml --out o", folder);
  CHECK(above.code == 2);
  CHECK_THAT(above.err, Contains("above.toml:8:14: ") && Contains("--allow-programs"));
  CHECK(above.err.find("above.toml:8:14") == above.err.rfind("above.toml:8:14"));
  CHECK(run_tutti("run inner/above.toml --out o --allow-programs", folder).code == 0);
  CHECK(run_tutti("run found.toml --out o", folder).code == 0);
  CHECK(run_tutti("run path.toml --out o", folder).code == 2);
}

TEST_CASE("Commands take programs as algorithms, and check-algorithm is their test") {
  const TemporaryFolder folder;
  (void)program(folder, sends(right));
  CHECK(
      run_tutti("synth -t ring:3 -c all_gather --chunks 1 --size 3kB -a ./answers.sh,ring1 --json",
                folder)
          .code == 0);
  const CommandResult wrong =
      run_tutti("synth -t ring:3 -c all_reduce --chunks 1 --size 3kB -a ./answers.sh", folder);
  CHECK(wrong.code == 1);
  CHECK_THAT(wrong.out, Contains("DEFECT"));
  const CommandResult checked =
      run_tutti("check-algorithm ./answers.sh --size 12kB -t ring:2 -t ring:3", folder);
  CHECK(checked.code == 1);
  CHECK_THAT(checked.out, Contains("ring:2, all_reduce") && Contains("wrong:"));
  CHECK_THAT(checked.err, Contains("answers of ./answers.sh are wrong"));
  CHECK(run_tutti("check-algorithm ring1 -t ring:2 --json", folder).code == 0);
}

TEST_CASE("Swing is right wherever it has an answer, and near the bound on a torus", "[slow]") {
  const CommandResult swing =
      run_tutti("check-algorithm '" TUTTI_SOURCE_DIR "/experiments/outside/swing.py'");
  CHECK(swing.code == 0);
  const CommandResult large =
      run_tutti("synth -t torus2d:8x8 -c all_reduce --size 256MiB -a '" TUTTI_SOURCE_DIR
                "/experiments/outside/swing.py' --json");
  const double gap = nlohmann::json::parse(large.out).at("runs").at(0).at("gap");
  CHECK(gap < 1.1);
}

} // namespace program_test
