// Where NPUs stand: groups counted by hand on a line and on a mesh.
#include "workloads/parallelism/training.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/workloads/training_samples.hpp"

namespace training_placement_test {

using namespace tutti;

namespace {

using P = Parallelism;
using Groups = std::vector<std::vector<std::uint32_t>>;

Groups groups(const Topology& topology, const TrainingSpec& spec, std::vector<P> dimensions) {
  Groups groups;
  for (const std::vector<NodeId>& group : place(topology, spec).groups(dimensions)) {
    groups.emplace_back();
    for (const NodeId member : group) groups.back().push_back(member.value);
  }
  return groups;
}

TrainingSpec spec_of(std::uint32_t tensor, std::uint32_t expert, std::uint32_t data,
                     std::uint32_t pipeline) {
  TrainingSpec spec;
  spec.tensor = tensor;
  spec.expert = expert;
  spec.data = data;
  spec.pipeline = pipeline;
  return spec;
}

} // namespace

TEST_CASE("the first dimension of the order is the fastest", "[training]") {
  const Topology line = samples::crowd(8);
  TrainingSpec spec = spec_of(2, 1, 4, 1);
  CHECK(groups(line, spec, {P::tensor}) == Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}});
  CHECK(groups(line, spec, {P::data}) == Groups{{0, 2, 4, 6}, {1, 3, 5, 7}});

  spec.order = {P::data, P::tensor, P::pipeline, P::expert};
  CHECK(groups(line, spec, {P::tensor}) == Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}});
  CHECK(groups(line, spec, {P::data}) == Groups{{0, 1, 2, 3}, {4, 5, 6, 7}});
}

TEST_CASE("(2,8) placed the other way round is (8,2) transposed", "[training]") {
  const Topology line = samples::crowd(16);
  TrainingSpec one = spec_of(2, 1, 8, 1), other = spec_of(8, 1, 2, 1);
  other.order = {P::data, P::tensor, P::expert, P::pipeline};
  CHECK(groups(line, one, {P::tensor}) == groups(line, other, {P::data}));
  CHECK(groups(line, one, {P::data}) == groups(line, other, {P::tensor}));
}

TEST_CASE("members of a group over two dimensions count through them as given", "[training]") {
  const Topology line = samples::crowd(8);
  const TrainingSpec spec = spec_of(1, 2, 2, 2); // npu = expert + 2 data + 4 pipeline
  CHECK(groups(line, spec, {P::expert, P::data}) == Groups{{0, 1, 2, 3}, {4, 5, 6, 7}});
  CHECK(groups(line, spec, {P::data, P::expert}) == Groups{{0, 2, 1, 3}, {4, 6, 5, 7}});
  CHECK(groups(line, spec, {P::pipeline}) == Groups{{0, 4}, {2, 6}, {1, 5}, {3, 7}});
}

TEST_CASE("NPUs are counted along the network's dimensions", "[training]") {
  const Topology mesh = samples::mesh(2, 4); // npu = 4 row + column
  TrainingSpec spec = spec_of(4, 1, 2, 1);
  CHECK(groups(mesh, spec, {P::tensor}) == Groups{{0, 1, 2, 3}, {4, 5, 6, 7}});
  spec.dimensions = {1, 0}; // columns first: as by id
  CHECK(groups(mesh, spec, {P::tensor}) == Groups{{0, 1, 2, 3}, {4, 5, 6, 7}});
  spec.dimensions = {0, 1}; // rows first: 0 4 1 5 2 6 3 7
  CHECK(groups(mesh, spec, {P::tensor}) == Groups{{0, 4, 1, 5}, {2, 6, 3, 7}});
  CHECK(groups(mesh, spec, {P::data}) == Groups{{0, 2}, {4, 6}, {1, 3}, {5, 7}});
}

TEST_CASE("placements that can't be are refused in words", "[training]") {
  const Topology line = samples::crowd(128), mesh = samples::mesh(2, 4);
  const auto message = [](const Topology& topology, const TrainingSpec& spec) {
    return message_of([&] { static_cast<void>(place(topology, spec)); });
  };
  CHECK(message(line, spec_of(8, 1, 4, 2)) ==
        "tensor 8 x expert 1 x data 4 x pipeline 2 = 64 NPUs, but the network has 128");
  CHECK_THAT(message(line, spec_of(1 << 20, 1, 1 << 20, 1 << 20)),
             ContainsSubstring("= more than 4294967295 NPUs, but the network has 128"));
  CHECK(message(line, spec_of(0, 1, 128, 1)) == "tensor 0: a degree of parallelism is at least 1");

  TrainingSpec spec = spec_of(4, 1, 2, 1);
  spec.order = {P::tensor, P::pipeline};
  CHECK_THAT(message(mesh, spec),
             ContainsSubstring("\"order\" lacks data, of which there are 2 (it takes "));
  spec.order = {P::tensor, P::data}; // of the others there is one
  CHECK(groups(mesh, spec, {P::tensor}) == Groups{{0, 1, 2, 3}, {4, 5, 6, 7}});
  spec = spec_of(8, 1, 1, 1);
  spec.order = {P::tensor, P::tensor, P::data, P::expert, P::pipeline};
  CHECK(message(mesh, spec) == "\"order\" names tensor twice");

  spec = spec_of(8, 1, 1, 1);
  spec.dimensions = {0, 2};
  CHECK(message(mesh, spec) == "dimensions: the network has no dimension 2 (it has 0 to 1)");
  spec.dimensions = {0, 0};
  CHECK(message(mesh, spec) == "dimensions: 0 is named twice");
  spec.dimensions = {1};
  CHECK(message(mesh, spec) == "dimensions: 0 is missing (the network has 2)");
  CHECK_THAT(message(samples::crowd(8), spec),
             ContainsSubstring("dimensions: the network has no coordinates"));
}

TEST_CASE("words for the choices of a spec", "[training]") {
  CHECK(parallelism_words.parse("expert") == Parallelism::expert);
  CHECK(to_text(Parallelism::pipeline) == "pipeline");
  CHECK(schedule_words.parse("1f1b") == PipelineSchedule::one_f_one_b);
  CHECK(recompute_words.parse("attention") == Recompute::attention);
  CHECK(message_of([] { static_cast<void>(schedule_words.parse("gpip")); }) ==
        "unknown pipeline schedule \"gpip\" (known: gpipe, 1f1b, interleaved; did you mean "
        "\"gpipe\"?)");
  CHECK_THAT(message_of([] { static_cast<void>(parallelism_words.parse("model")); }),
             ContainsSubstring("known: tensor, expert, data, pipeline"));
  CHECK_THAT(message_of([] { static_cast<void>(recompute_words.parse("some")); }),
             ContainsSubstring("known: none, attention, full"));
}

} // namespace training_placement_test
