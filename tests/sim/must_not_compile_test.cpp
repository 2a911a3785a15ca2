// Units and ids are types so that they can't mix. Here is what must not compile, each beside its
// correct form, so that a case that stops meaning anything doesn't pass for a good one. Concepts
// ask the compiler that builds everything else; no failing build has to be run.
#include "sim/ids.hpp"
#include "sim/schedule.hpp"
#include "sim/topology.hpp"
#include "sim/units.hpp"
#include "tests/catch.hpp"

#include <concepts>
#include <cstdint>

namespace must_not_compile_test {

using namespace tutti;

namespace {

template <typename A, typename B>
concept addable = requires(A a, B b) {
  a + b;
};
template <typename A, typename B>
concept accumulates = requires(A a, B b) {
  a += b;
};
template <typename A, typename B>
concept comparable = requires(A a, B b) {
  a < b;
};
template <typename To, typename From>
concept assignable = requires(To to, From from) {
  to = from;
};
template <typename... Arguments>
concept serializable = requires(Arguments... arguments) {
  serialization(arguments...);
};
template <typename Index>
concept finds_a_link = requires(const Topology& topology, Index index) {
  topology.link(index);
};
template <typename Index>
concept has_out_links = requires(const Topology& topology, Index i) {
  topology.out_links(i);
};
template <typename C, typename L>
concept pushable = requires(Schedule& s, C chunk, L link) {
  s.push(chunk, link, Op::copy);
};

} // namespace

TEST_CASE("quantities of different units don't mix") {
  STATIC_REQUIRE(addable<Bytes, Bytes>);
  STATIC_REQUIRE(addable<Time, Time>);
  STATIC_REQUIRE_FALSE(addable<Bytes, Time>);
  STATIC_REQUIRE_FALSE(addable<Time, Bandwidth>);
  STATIC_REQUIRE_FALSE(addable<Time, std::int64_t>);
  STATIC_REQUIRE_FALSE(addable<Bytes, int>);

  STATIC_REQUIRE(accumulates<Time, Time>);
  STATIC_REQUIRE_FALSE(accumulates<Time, Bytes>);

  STATIC_REQUIRE(comparable<Bandwidth, Bandwidth>);
  STATIC_REQUIRE_FALSE(comparable<Bytes, Time>);
  STATIC_REQUIRE_FALSE(comparable<Bytes, std::int64_t>);

  STATIC_REQUIRE(assignable<Time&, Time>);
  STATIC_REQUIRE_FALSE(assignable<Time&, Bytes>);

  STATIC_REQUIRE(serializable<Bytes, Bandwidth>);
  STATIC_REQUIRE_FALSE(serializable<Bandwidth, Bytes>);
  STATIC_REQUIRE_FALSE(serializable<Bytes, Time>);
}

TEST_CASE("a number is not silently a quantity") {
  STATIC_REQUIRE(std::convertible_to<Time, Time>);
  STATIC_REQUIRE_FALSE(std::convertible_to<std::int64_t, Time>);
  STATIC_REQUIRE_FALSE(std::convertible_to<std::int64_t, Bytes>);
  STATIC_REQUIRE_FALSE(std::convertible_to<std::int64_t, Bandwidth>);
  STATIC_REQUIRE_FALSE(std::convertible_to<Time, std::int64_t>);
  STATIC_REQUIRE_FALSE(std::convertible_to<Time, double>);
}

TEST_CASE("ids of different things don't mix") {
  STATIC_REQUIRE(std::constructible_from<NodeId, std::uint32_t>);
  STATIC_REQUIRE_FALSE(std::convertible_to<int, NodeId>);
  STATIC_REQUIRE_FALSE(std::convertible_to<std::uint32_t, LinkId>);
  STATIC_REQUIRE_FALSE(std::convertible_to<NodeId, std::uint32_t>);
  STATIC_REQUIRE_FALSE(std::constructible_from<LinkId, NodeId>);
  STATIC_REQUIRE_FALSE(std::constructible_from<PathId, LinkId>);

  STATIC_REQUIRE(assignable<NodeId&, NodeId>);
  STATIC_REQUIRE_FALSE(assignable<NodeId&, LinkId>);
  STATIC_REQUIRE(std::equality_comparable_with<ChunkId, ChunkId>);
  STATIC_REQUIRE_FALSE(std::equality_comparable_with<ChunkId, NodeId>);
  STATIC_REQUIRE_FALSE(comparable<LinkId, int>);
}

TEST_CASE("interfaces take the id that they mean") {
  STATIC_REQUIRE(finds_a_link<LinkId>);
  STATIC_REQUIRE_FALSE(finds_a_link<NodeId>);
  STATIC_REQUIRE_FALSE(finds_a_link<int>);

  STATIC_REQUIRE(has_out_links<NodeId>);
  STATIC_REQUIRE_FALSE(has_out_links<LinkId>);

  STATIC_REQUIRE(pushable<ChunkId, LinkId>);
  STATIC_REQUIRE_FALSE(pushable<LinkId, ChunkId>);
  STATIC_REQUIRE_FALSE(pushable<std::uint32_t, std::uint32_t>);
}

} // namespace must_not_compile_test
