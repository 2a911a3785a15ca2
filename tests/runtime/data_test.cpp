// The reference's values tell neighbours apart, and the check counts each wrong element.

#include "runtime/plans/planned_run.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/runtime/hand_programs.hpp"

#include <algorithm>
#include <cstring>

namespace data_test {

using namespace tutti;
using namespace tutti::runtime;

namespace {

template <typename T> std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// What an all_reduce of `ranks` must give, by one loop.
template <typename T>
std::vector<T> reduced(std::uint32_t ranks, Combine combine, std::uint64_t elements) {
  std::vector<T> values;
  for (std::uint32_t chunk = 0; chunk < ranks; ++chunk)
    for (std::uint64_t e = 0; e < elements; ++e) {
      std::uint64_t all = 0;
      for (std::uint32_t npu = 0; npu < ranks; ++npu) {
        const std::uint64_t one = input_value(ChunkId{chunk}, npu, e);
        all = combine == Combine::sum ? all + one : std::max(all, one);
      }
      values.push_back(static_cast<T>(sizeof(T) == 1 ? all % 256 : all));
    }
  return values;
}

template <typename T> void check_type(ElementType type, Combine combine) {
  const std::uint64_t elements = 5000;
  const Program program = ring_all_reduce(4, false);
  const std::size_t unit = elements * sizeof(T);
  const Expected expected = expected_output(program, 2, type, unit);
  std::vector<T> values = reduced<T>(4, combine, elements);
  const DataCheck right = check_output(expected, 2, type, combine, bytes_of(values));
  CHECK(right.checked == 4 * elements);
  CHECK(right.wrong == 0);

  const std::size_t at = 3 * elements + 4999;
  const T before = values[at];
  values[at] = static_cast<T>(before + 1);
  values[at - 1] = static_cast<T>(values[at - 1] + 1);
  const DataCheck wrong = check_output(expected, 2, type, combine, bytes_of(values));
  CHECK(wrong.wrong == 2);
  REQUIRE(wrong.first);
  CHECK(wrong.first->npu == 2);
  CHECK(wrong.first->chunk == ChunkId{3});
  CHECK(wrong.first->element == 4998);
  CHECK(wrong.first->found == static_cast<double>(values[at - 1]));
}

} // namespace

TEST_CASE("values of the reference differ for neighbours and sum exactly in float32") {
  for (std::uint32_t chunk = 0; chunk < 20; ++chunk)
    for (std::uint32_t npu = 0; npu < 20; ++npu)
      for (std::uint64_t e = 0; e < 20; ++e) {
        const std::uint32_t value = input_value(ChunkId{chunk}, npu, e);
        CHECK(value <= 255); // 2^16 of them stay below 2^24
        CHECK(value != input_value(ChunkId{chunk + 1}, npu, e));
        CHECK(value != input_value(ChunkId{chunk}, npu + 1, e));
        CHECK(value != input_value(ChunkId{chunk}, npu, e + 1));
      }
}

TEST_CASE("inputs hold the reference's values") {
  const Program program = ring_all_reduce(3, false);
  std::vector<std::byte> input(3 * 40);
  fill_input(input_chunks(program, 1, ElementType::float64, 40), ElementType::float64, input);
  std::vector<double> expected;
  for (std::uint32_t chunk = 0; chunk < 3; ++chunk)
    for (std::uint64_t e = 0; e < 5; ++e) expected.push_back(input_value(ChunkId{chunk}, 1, e));
  CHECK(input == bytes_of(expected));
}

TEST_CASE("a chunk with several holders is the same at all of them") {
  Program program = ring_all_gather(3, false);
  program.collective.sets.push_back({NodeId{1}, NodeId{2}});
  program.collective.chunks[2].sources =
      static_cast<SetId>(program.collective.sets.size() - 1); // rank 2's part; 1 has it as well
  std::vector<std::byte> input(8);
  fill_input(input_chunks(program, 2, ElementType::uint8, 8), ElementType::uint8, input);
  for (std::uint64_t e = 0; e < 8; ++e)
    CHECK(static_cast<std::uint32_t>(input[e]) == input_value(ChunkId{2}, 1, e));
}

TEST_CASE("outputs are compared element by element") {
  for (const Combine combine : {Combine::sum, Combine::max}) {
    check_type<float>(ElementType::float32, combine);
    check_type<double>(ElementType::float64, combine);
    check_type<std::int32_t>(ElementType::int32, combine);
    check_type<std::uint8_t>(ElementType::uint8, combine);
  }
}

TEST_CASE("element types and combinations have names") {
  for (const ElementType type :
       {ElementType::float32, ElementType::float64, ElementType::int32, ElementType::uint8})
    CHECK(element_type_words.parse(to_text(type)) == type);
  for (const Combine combine : {Combine::sum, Combine::max})
    CHECK(combine_words.parse(to_text(combine)) == combine);
  CHECK_THAT(message_of([] { (void)element_type_words.parse("float3"); }),
             ContainsSubstring("float32"));
  CHECK_THAT(message_of([] { (void)combine_words.parse("min"); }), ContainsSubstring("sum, max"));
}

} // namespace data_test
