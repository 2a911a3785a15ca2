// A number that a store gives back has to be the one that was written, to its last bit.
#include "experiments/driver/sweep/store/point_documents.hpp"

#include "sim/random.hpp"
#include "tests/catch.hpp"
#include "tests/sweep/sweep_samples.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>

namespace point_documents_test {

using namespace tutti;
using namespace tutti::sweep;

namespace {

std::map<std::string, Value> members(const std::string& document) {
  std::map<std::string, Value> found;
  read_document(document, [&found](const std::string& name, const Value& value) {
    CHECK(found.emplace(name, value).second);
  });
  return found;
}

} // namespace

TEST_CASE("values of a point are an object that a reader can read, and come back as they were") {
  const PointSpace space = samples::space(2);
  CHECK(entered_document(space, space.points[1]) ==
        R"({"k":1,"algorithm":"8","npus":2,"experiment_seed":1})");
  const std::map<std::string, Value> back = members(entered_document(space, space.points[1]));
  CHECK(back.at("algorithm") == Value{Value::Kind::text, Unit::none, 0, "8"});
  CHECK(back.at("npus") == number_value(2));
  Point point = space.points[0];
  point.values[0] = boolean_value(true);
  CHECK(members(entered_document(space, point)).at("k") == number_value(1));
}

TEST_CASE("results come back bit by bit, and what JSON doesn't have stays away") {
  PointResults results;
  results.message = "\xff is no UTF-8, \"this\" is\n";
  results.peak_bytes = 1LL << 40;
  results.numbers = {{"infinite", std::numeric_limits<double>::infinity()},
                     {"none", std::nan("")},
                     {"least", std::numeric_limits<double>::denorm_min()},
                     {"most", std::numeric_limits<double>::max()},
                     {"whole", 9007199254740993.0}};
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const double number = std::bit_cast<double>(random.next());
    if (std::isfinite(number)) results.numbers["n" + std::to_string(i)] = number;
  }
  const std::map<std::string, Value> back =
      members(results_document(results, "1.0", "0123abc-dirty"));
  for (const auto& [name, number] : results.numbers) {
    CAPTURE(name, number);
    if (std::isfinite(number))
      CHECK(std::bit_cast<std::uint64_t>(back.at(name).number) ==
            std::bit_cast<std::uint64_t>(number));
    else
      CHECK_FALSE(back.contains(name));
  }
  CHECK(back.at("message").text == "\xef\xbf\xbd is no UTF-8, \"this\" is\n");
  CHECK(back.at("peak_bytes").number == std::pow(2, 40));
  CHECK(back.at("commit_id").text == "0123abc-dirty");
}

} // namespace point_documents_test
