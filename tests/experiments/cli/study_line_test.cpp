// A command line is read as the experiment that it stands for: its texts reach the reader whole,
// and what that refuses is told by the option.
#include "experiments/driver/cli/study_line.hpp"

#include "experiments/driver/studies/training/study.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"

#include <array>
#include <string>
#include <vector>

namespace study_line_test {

using namespace tutti;

namespace {

TrainingStudy study_of(const StudyLine& line, const std::string& topology = "ring:8") {
  const Experiment experiment =
      experiment_of("training", topology, 7, TrainingStudy::options_of_command(), line);
  return *experiment.all<TrainingStudy>().at(0);
}

/// What trains on eight NPUs, and more.
StudyLine model(const std::map<std::string, std::vector<std::string>>& more = {}) {
  StudyLine line;
  line.texts = more;
  line.texts["--model"] = {"resnet50"};
  line.texts["--npu"] = {"v100"};
  line.texts["--precision"] = {"fp16"};
  line.texts["--algorithm"] = {"ring, tacos", "direct"};
  return line;
}

std::string refusal_of(const std::map<std::string, std::vector<std::string>>& more) {
  return message_of([&] { (void)study_of(model(more)); });
}

} // namespace

TEST_CASE("every form of option reaches the reader") {
  StudyLine line = model({{"--tensor", {"2"}},
                          {"--order", {"data, tensor", "expert,pipeline"}},
                          {"--priority", {"tensor=7", "data=1"}},
                          {"--straggler", {"npu3=0.5"}},
                          {"--event", {"at=1ms,link_rate=npu0>npu1,share=0.5"}},
                          {"--chunks", {"auto"}},
                          {"--bucket", {"25MB"}},
                          {"--by-collective", {"all_to_all=direct"}},
                          {"--cache", {"none"}}});
  line.flags = {{"--sequence", true}, {"--no-overlap", true}, {"--in-order", false}};
  const TrainingStudy study = study_of(line);
  REQUIRE(study.plans.size() == 3);
  CHECK(study.plans[1].name == "tacos");
  CHECK(study.label.empty());
  CHECK(study.planning.options.seed == 7);
  CHECK(study.planning.by_collective.at("all_to_all").name == "direct");
  CHECK(study.cache.empty());
  CHECK(study.disturbances.stragglers.at(0).npu == "npu3");
  CHECK(study.disturbances.events.at(0).events.size() == 1);
  const TrainingSpec& spec = std::get<ModelWork>(study.variants.at(0).work).spec;
  CHECK(spec.tensor == 2);
  CHECK(spec.order.front() == Parallelism::data);
  CHECK(spec.priority[static_cast<std::size_t>(Purpose::tensor)] == 7);
  CHECK(spec.bucket == Bytes{25'000'000});
  CHECK(spec.sequence);
  CHECK_FALSE(spec.overlap);
  CHECK_FALSE(spec.in_order);
}

TEST_CASE("what the reader refuses is told by the option, whatever the text is") {
  CHECK(refusal_of({{"--zero", {"7"}}}) == "--zero: 7 is out of range (0 .. 3)");
  CHECK_THAT(refusal_of({{"--tensor", {"3"}}}), ContainsSubstring("doesn't divide the 8 NPUs"));
  CHECK_THAT(refusal_of({{"--micro-batches", {"2"}}, {"--global-batch", {"8"}}}),
             ContainsSubstring("--micro-batches and --global-batch exclude each other"));
  for (const std::string text :
       {"x", "", "1.5", "007", "-0", "1e400", "nan", "0x10", "9e18", "99999999999999999999", "5.0",
        "1\n2", "\"", "\\", "\x01", "1 # 2", "true", "[1]"}) {
    INFO(text);
    CHECK_THAT(refusal_of({{"--zero", {text}}}), Catch::Matchers::StartsWith("--zero: "));
  }
  for (const std::string text : {"\"", "\\u0041", "a\nb", "x\ty", "#", "'", "\x7f", "é"}) {
    INFO(text);
    const std::string message = refusal_of({{"--schedule", {text}}});
    CHECK_THAT(message, Catch::Matchers::StartsWith("--schedule: ") && ContainsSubstring(text));
  }
  CHECK_THAT(message_of([] { (void)study_of(model(), "rign:8"); }),
             Catch::Matchers::StartsWith("--topology: unknown topology \"rign\""));
}

TEST_CASE("what an option needs is told once") {
  CHECK(refusal_of({{"--policy", {"reroute"}}}) == "--policy needs --failed-links");
  CHECK_THAT(refusal_of({{"--order", {"tensor,pipeline"}}}),
             Catch::Matchers::StartsWith("--order lacks data, of which there are 8 (it takes "));
  CHECK(refusal_of({{"--order", {"tensor,data,pipeline"}}}).empty()); // of expert there is one
}

TEST_CASE("numbers too large for an integer are refused as numbers") {
  CHECK(refusal_of({{"--zero", {"99999999999999999999"}}}) ==
        "--zero: expected an integer, found the number 1e+20");
}

TEST_CASE("an event has each key once") {
  CHECK(refusal_of({{"--event", {"at=1ms,link_down=npu0-npu1,link_down=npu1-npu2"}}}) ==
        "--event: event \"at=1ms,link_down=npu0-npu1,link_down=npu1-npu2\": \"link_down\" is given "
        "twice");
}

TEST_CASE("options of one key exclude each other") {
  CHECK(refusal_of({{"--event", {"at=1ms,link_down=npu0-npu1"}}, {"--events", {"e.toml"}}}) ==
        "--event and --events exclude each other");
}

TEST_CASE("what the user wrote is quoted as it was written, though a key is called so") {
  CHECK_THAT(refusal_of({{"--set", {"chunks=2"}}}), ContainsSubstring("\"chunks\""));
  CHECK_THAT(refusal_of({{"--zero", {"limit"}}}), Catch::Matchers::StartsWith("--zero: "));
}

} // namespace study_line_test
