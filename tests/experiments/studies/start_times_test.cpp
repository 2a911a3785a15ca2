// Start times as a command line gives them: by whom they are meant, and what is refused in words.
#include "experiments/driver/studies/noise/start_times.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/samples.hpp"

using namespace tutti;

TEST_CASE("start times by name, and what is wrong with them") {
  const Topology ring = samples::ring(4);
  const Collective group = make_collective(
      ring, {CollectiveKind::all_gather, Bytes{30}, {NodeId{0}, NodeId{1}, NodeId{2}}, 0, 1});
  const auto starts = [&](const std::vector<std::string>& texts) {
    return parse_starts(ring, group, texts);
  };
  CHECK(starts({}).empty());
  CHECK(starts({"npu2=20us", "npu0=1ns"}) ==
        std::vector<Time>{Time{1000}, Time{}, Time{20'000'000}, Time{}});
  const auto refusal = [&](const std::vector<std::string>& texts) {
    return message_of([&] { (void)starts(texts); });
  };
  CHECK(refusal({"npu2"}) == "\"npu2\" isn't NPU=TIME, as npu3=20us");
  CHECK(refusal({"npu3=1us"}) ==
        "npu3 neither holds nor wants a chunk of the collective, so it can't start late");
  CHECK(refusal({"npu1=1us", "npu1=2us"}) == "the start of npu1 is given twice");
  CHECK_THAT(refusal({"gpu1=1us"}), ContainsSubstring("gpu1"));
  CHECK_THAT(refusal({"npu1=-1us"}), ContainsSubstring("-1us"));
  CHECK_THAT(refusal({"npu1=1"}), ContainsSubstring("\"1\""));
  CHECK_THAT(refusal({"npu1=99999999s"}), ContainsSubstring("99999999s"));
}
