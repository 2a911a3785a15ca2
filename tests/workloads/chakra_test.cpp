#include "workloads/traces/chakra.hpp"

#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/refusals.hpp"
#include "tests/samples.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/workloads/random_workload.hpp"
#include "tests/workloads/trace_bytes.hpp"
#include "workloads/traces/chakra_messages.hpp"
#include "workloads/traces/process_groups.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace chakra_test {

using namespace tutti;
using namespace tutti::samples;

namespace {

using Kind = Operation::Kind;

/// What a file holds, one after another.
std::vector<std::string> messages_of(std::string_view file) {
  std::vector<std::string> found;
  while (!file.empty()) {
    std::size_t length = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(file.front());
      file.remove_prefix(1);
      length |= std::size_t{byte & 0x7fU} << shift;
      if (byte < 0x80) break;
    }
    found.emplace_back(file.substr(0, length));
    file.remove_prefix(length);
  }
  return found;
}

/// Traces under a prefix of their own.
class Traces {
public:
  explicit Traces(const std::vector<std::string>& files) {
    for (std::size_t npu = 0; npu < files.size(); ++npu) write(npu, files[npu]);
  }
  void write(std::size_t npu, const std::string& content) const { write_file(file(npu), content); }
  [[nodiscard]] std::string file(std::size_t npu) const {
    return prefix() + "." + std::to_string(npu) + ".et";
  }
  [[nodiscard]] std::string prefix() const { return folder_.file("trace"); }
  [[nodiscard]] std::string other(const std::string& name) const { return folder_.file(name); }

  [[nodiscard]] Workload read(const Topology& topology, const ChakraOptions& options = {}) const {
    return read_chakra(prefix(), topology, options);
  }
  /// Without the folder.
  [[nodiscard]] std::string error(const Topology& topology,
                                  const ChakraOptions& options = {}) const {
    std::string message = message_of([&] { (void)read(topology, options); });
    const std::string folder = folder_.file("");
    if (message.starts_with(folder)) message.erase(0, folder.size());
    return message;
  }

private:
  TemporaryFolder folder_;
};

/// Of a trace for two NPUs of which npu0's is at fault.
std::string error_of(const std::string& nodes) {
  return Traces({trace(nodes), trace("")}).error(full(2));
}

std::vector<std::uint32_t> values(std::span<const NodeId> ids) {
  std::vector<std::uint32_t> found;
  for (const NodeId id : ids) found.push_back(id.value);
  return found;
}

std::vector<std::uint32_t> values(std::span<const std::uint32_t> span) {
  return {span.begin(), span.end()};
}

std::string gzipped(const std::string& content) {
  z_stream stream = {};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(content.size() + 1000, '\0');
  std::string input = content;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

void check_equal(const Workload& a, const Workload& b) {
  CHECK(a.name == b.name);
  CHECK(a.iterations == b.iterations);
  CHECK(a.items == b.items);
  CHECK(a.flops == b.flops);
  CHECK(a.item == b.item);
  REQUIRE(a.groups == b.groups);
  REQUIRE(a.places.size() == b.places.size());
  for (std::size_t npu = 0; npu < a.places.size(); ++npu) {
    CHECK(a.places[npu].groups == b.places[npu].groups);
    const TrainingProgram& one = a.programs[a.places[npu].program];
    const TrainingProgram& two = b.programs[b.places[npu].program];
    REQUIRE(one.size() == two.size());
    for (std::uint32_t i = 0; i < one.size(); ++i) {
      CHECK(one.turn(i) == two.turn(i));
      Operation operation = two[i];
      CHECK(a.names[one[i].name] == b.names[operation.name]);
      operation.name = one[i].name;
      CHECK(one[i] == operation);
      CHECK(values(one.dependencies(i)) == values(two.dependencies(i)));
    }
  }
}

} // namespace

TEST_CASE("Chakra: ASTRA-sim's smallest benchmark, and nodes in order of dependencies, then ids") {
  const std::string nodes = node(7, comp, micros(3) + after(9)) + all_reduce(9, 1000) +
                            node(4, comp, micros(2) + after_control(7)) + node(1, comp, micros(5));
  const Workload workload = Traces({trace(nodes), trace(nodes)}).read(full(2));
  REQUIRE(workload.programs.size() == 1); // shared
  const TrainingProgram& program = workload.programs[0];
  REQUIRE(program.size() == 4); // ids 1, 9, 7, 4
  CHECK(program[0].amount == 5'000'000);
  CHECK(program[1].kind == Kind::collective);
  CHECK(program[1].collective == CollectiveKind::all_reduce);
  CHECK(program[1].amount == 1000);
  CHECK(program[2].amount == 3'000'000);
  CHECK(values(program.dependencies(2)) == std::vector<std::uint32_t>{1});
  CHECK(program[3].amount == 2'000'000);
  CHECK(values(program.dependencies(3)) == std::vector<std::uint32_t>{2});
  CHECK(values(workload.groups[workload.places[1].groups[0]]) == std::vector<std::uint32_t>{0, 1});
  CHECK(workload.names[program[1].name] == "sum");
}

TEST_CASE("Chakra: sizes become total buffers, of any kind of integer") {
  const auto amount = [](std::uint64_t type, std::uint64_t size, unsigned field = int64_value) {
    const std::string nodes = node(
        0, collective, attribute("comm_type", type, field) + attribute("comm_size", size, field));
    const Workload read = Traces({trace(nodes), trace(nodes), trace(nodes)}).read(full(3));
    return std::pair{read.programs[0][0].collective, read.programs[0][0].amount};
  };
  CHECK(amount(0, 100) == std::pair{CollectiveKind::all_reduce, std::int64_t{100}});
  CHECK(amount(2, 100) == std::pair{CollectiveKind::all_gather, std::int64_t{300}});
  CHECK(amount(6, 100) == std::pair{CollectiveKind::all_to_all, std::int64_t{100}});
  CHECK(amount(7, 100) == std::pair{CollectiveKind::reduce_scatter, std::int64_t{100}});
  CHECK(amount(8, 100) == std::pair{CollectiveKind::reduce_scatter, std::int64_t{100}});
  CHECK(amount(9, 77) == std::pair{CollectiveKind::all_reduce, std::int64_t{3}}); // a barrier
  CHECK(amount(0, 1) == std::pair{CollectiveKind::all_reduce, std::int64_t{3}});  // a byte for each
  CHECK(amount(2, 1) == std::pair{CollectiveKind::all_gather, std::int64_t{3}});
  for (const unsigned field : {int32_value, 11U, uint64_value})
    CHECK(amount(2, 5, field) == std::pair{CollectiveKind::all_gather, std::int64_t{15}});
  CHECK(amount(14, 10, sint64_value) == std::pair{CollectiveKind::reduce_scatter, std::int64_t{5}});
}

TEST_CASE("Chakra: collectives of a group meet in the order of their nodes") {
  const std::string groups = groups_node(50, R"(['[{"pg_name": "1", "ranks": [0, 1]}]'])");
  const std::string in_group = text_attribute("pg_name", "1");
  const Workload workload = Traces({trace(groups + all_reduce(1, 10, in_group) + all_reduce(2, 30) +
                                          all_reduce(5, 20, in_group)),
                                    trace(groups + all_reduce(8, 20, in_group) +
                                          all_reduce(3, 10, in_group) + all_reduce(4, 30)),
                                    trace(all_reduce(0, 30))})
                                .read(full(3));
  const auto tags = [&](std::size_t npu) {
    std::vector<std::pair<std::int64_t, std::uint32_t>> found; // size, tag
    for (const Operation& operation : workload.programs[workload.places[npu].program].operations())
      found.emplace_back(operation.amount, operation.tag);
    std::sort(found.begin(), found.end());
    return found;
  };
  CHECK(tags(0) == std::vector<std::pair<std::int64_t, std::uint32_t>>{{10, 0}, {20, 1}, {30, 0}});
  CHECK(tags(1) == tags(0));
  // Groups come by number: "0" is everyone.
  CHECK(values(workload.groups[0]) == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(values(workload.groups[1]) == std::vector<std::uint32_t>{0, 1});
}

TEST_CASE("Chakra: sends meet receives by source, destination, tag and size, in order") {
  const auto to = [](std::uint64_t id, std::uint64_t npu, std::uint64_t tag, std::uint64_t size) {
    return node(id, send,
                attribute("comm_dst", npu) + attribute("comm_tag", tag) +
                    attribute("comm_size", size));
  };
  const auto from = [](std::uint64_t id, std::uint64_t npu, std::uint64_t tag, std::uint64_t size) {
    return node(id, receive,
                attribute("comm_src", npu) + attribute("comm_tag", tag) +
                    attribute("comm_size", size));
  };
  const Workload workload =
      Traces(
          {trace(to(0, 1, 5, 100) + to(1, 1, 5, 100) + to(2, 1, 6, 100) + from(3, 1, 5, 100)),
           trace(from(0, 0, 6, 100) + from(1, 0, 5, 100) + from(2, 0, 5, 100) + to(3, 0, 5, 100))})
          .read(full(2));
  const auto tags = [&](std::size_t npu) {
    std::vector<std::uint32_t> found;
    for (const Operation& operation : workload.programs[workload.places[npu].program].operations())
      found.push_back(operation.tag);
    return found;
  };
  const std::vector<std::uint32_t> zero = tags(0), one = tags(1);
  CHECK(one == std::vector<std::uint32_t>{zero[2], zero[0], zero[1], zero[3]});
  CHECK(workload.programs[0][3].kind == Kind::receive);
}

TEST_CASE("Chakra: metadata nodes aren't done, but waited through") {
  const std::string nodes = node(0, comp, micros(1)) + node(1, metadata, after(0)) +
                            node(2, metadata, after(1)) + node(3, comp, micros(2) + after(2));
  const Workload workload = Traces({trace(nodes), trace("")}).read(full(2));
  const TrainingProgram& program = workload.programs[workload.places[0].program];
  REQUIRE(program.size() == 2);
  CHECK(values(program.dependencies(1)) == std::vector<std::uint32_t>{0});
}

TEST_CASE("Chakra: involved dimensions are those of coordinates, the fastest first") {
  const auto groups = [](const std::vector<bool>& flags) {
    const std::string nodes = all_reduce(0, 100, flags_attribute("involved_dim", flags));
    const Workload workload = Traces(std::vector<std::string>(6, trace(nodes))).read(mesh(2, 3));
    std::vector<std::vector<std::uint32_t>> found;
    for (const std::vector<NodeId>& group : workload.groups) found.push_back(values(group));
    std::sort(found.begin(), found.end());
    return found;
  };
  using Groups = std::vector<std::vector<std::uint32_t>>;
  CHECK(groups({true, false}) == Groups{{0, 1, 2}, {3, 4, 5}});
  CHECK(groups({false, true, true, true}) == Groups{{0, 3}, {1, 4}, {2, 5}});
  CHECK(groups({true, true, true, true}) == Groups{{0, 1, 2, 3, 4, 5}});
  const Traces traces(
      {trace(all_reduce(0, 9, flags_attribute("involved_dim", {true, false}))), trace("")});
  CHECK(traces.error(full(2)) == "trace.0.et: node 0 (sum): involved_dim needs a topology with "
                                 "coordinates, which full2 doesn't have");
  CHECK(Traces({trace(all_reduce(0, 9, flags_attribute("involved_dim", {false}))), trace("")})
            .error(mesh(1, 2)) ==
        "trace.0.et: node 0 (sum): involved_dim has 1 flags, the network 2 dimensions");
}

TEST_CASE("Chakra: computing takes its duration, or what a roofline says") {
  const auto amount = [](const std::string& attributes, const ChakraOptions& options = {}) {
    return Traces({trace(node(0, comp, attributes)), trace("")})
        .read(full(2), options)
        .programs[0][0]
        .amount;
  };
  const std::string work = attribute("num_ops", 2'000'000) + attribute("tensor_size", 3'000'000);
  CHECK(amount("") == 0);
  CHECK(amount(micros(7)) == 7'000'000);
  CHECK(amount(micros(7) + work) == 7'000'000);
  const ChakraOptions roofline{"", 1e12, {1'000'000'000'000}};
  CHECK(amount(micros(7) + work, roofline) == 3'000'000); // 3 MB at 1 TB/s
  CHECK(amount(work, {"", 1e12, {}}) == 2'000'000);
  CHECK(amount(micros(7) + work + attribute("is_cpu_op", 1, bool_value), roofline) == 7'000'000);
  CHECK(error_of(node(3, comp, work)) == "trace.0.et: node 3 (op): it has num_ops but no duration: "
                                         "an NPU's roofline is needed");
}

TEST_CASE("Chakra: groups from a file of their own") {
  const std::string nodes = all_reduce(0, 100, text_attribute("pg_name", "7"));
  const Traces traces({trace(nodes), trace(nodes), trace("")});
  write_file(traces.other("groups.json"), R"({"7": [1, 0]})");
  const Workload workload = traces.read(full(3), {traces.other("groups.json"), 0, {}});
  REQUIRE(workload.groups.size() == 1);
  CHECK(values(workload.groups[0]) == std::vector<std::uint32_t>{1, 0});
  const auto refused = [&](const std::string& json, const std::string& message) {
    write_file(traces.other("groups.json"), json);
    CHECK(traces.error(full(3), {traces.other("groups.json"), 0, {}}) == "groups.json:" + message);
  };
  refused(R"({"7": [0, 3]})", R"(1:11: process group "7": npu3 isn't in the network of 3 NPUs)");
  refused(R"({"7": [0, 0]})", R"(1:7: process group "7" has npu0 twice)");
  refused(R"({"7": 0})", R"(1:7: process group "7": its members aren't a list)");
  refused(R"({"7": [-1]})", R"(1:8: process group "7": member -1 is not an NPU's number)");
  refused(R"({"7": [0.5]})", R"(1:8: process group "7": member 0.5 is not an NPU's number)");
  refused(R"({"7": [[0]]})", R"(1:8: process group "7": member [ is not an NPU's number)");
  refused(R"({"7": [99999999999999999999]})",
          R"(1:8: process group "7": member 99999999999999999999 is not an NPU's number)");
  refused("{\n  \"7\": [0, 1],\n  \"7\": [1, 2]\n}", "3:3: the key \"7\" stands twice");
  refused(R"({"a\u0000": [0]})", "1:13: process groups: a name has a zero byte");
  refused("[]", R"(1:1: process groups: not an object like {"1": [0, 1]})");
}

TEST_CASE("Chakra: a file with groups is found beside the traces") {
  const std::string nodes = all_reduce(0, 100, text_attribute("pg_name", "7"));
  const Traces traces({trace(nodes), trace(nodes), trace("")});
  CHECK(traces.error(full(3)).starts_with(
      "trace.0.et: node 0 (sum): unknown process group \"7\" (known: ); there is no "));
  write_file(traces.other("trace.groups.json"), R"({"7": [1, 0]})");
  CHECK(values(traces.read(full(3)).groups[0]) == std::vector<std::uint32_t>{1, 0});
  write_file(traces.other("other.json"), R"({"7": [0, 1]})"); // an option comes first
  CHECK(values(traces.read(full(3), {traces.other("other.json"), 0, {}}).groups[0]) ==
        std::vector<std::uint32_t>{0, 1});
  traces.write(0, trace(groups_node(9, R"(['[{"pg_name": "7", "ranks": [0, 1, 2]}]'])") + nodes));
  CHECK(traces.error(full(3)) == "trace.0.et: process group \"7\" has two lists of members: npu1, "
                                 "npu0; npu0, npu1, npu2");
}

TEST_CASE("Chakra: a file with groups that ends early is refused where it ends") {
  Random random(3);
  for (int round = 0; round < 20; ++round) {
    std::vector<ProcessGroup> groups;
    for (std::uint64_t g = 1 + random.below(4); g > 0; --g) {
      ProcessGroup& group = groups.emplace_back(ProcessGroup{std::to_string(g), {}});
      for (std::uint32_t npu = 0; npu < 12; ++npu)
        if (random.below(2) == 0) group.members.push_back(npu);
      random.shuffle(group.members);
      if (group.members.empty()) group.members = {3};
    }
    const std::string text = group_file_text(groups);
    CHECK(parse_group_file(text, "groups.json", 12) == groups);
    for (std::size_t size = 0; size + 1 < text.size(); ++size) {
      INFO(text.substr(0, size));
      const std::string message =
          message_of([&] { (void)parse_group_file(text.substr(0, size), "g.json", 12); });
      CHECK(message.starts_with("g.json:"));
    }
  }
}

TEST_CASE("Chakra: members of a group that disagree about who is in it") {
  const auto with_group = [](const std::string& ranks) {
    return trace(groups_node(50, R"(['[{"pg_name": "4", "ranks": )" + ranks + "}]']") +
                 all_reduce(3, 8, text_attribute("pg_name", "4")));
  };
  const Traces overlapping({with_group("[0, 1]"), with_group("[1, 2]"), with_group("[1, 2]")});
  CHECK(overlapping.error(full(3)).starts_with(
      "trace.0.et: process group \"4\" has npu0, npu1, but npu1, npu2 in "));
  // Apart from each other they are two groups.
  const Traces apart(
      {with_group("[0, 1]"), with_group("[0, 1]"), with_group("[2, 3]"), with_group("[2, 3]")});
  CHECK(apart.read(full(4)).groups.size() == 2);
}

TEST_CASE("Chakra: groups that wait for each other in a cycle") {
  const std::string groups =
      groups_node(50, R"(['[{"pg_name": "1", "ranks": [0, 1]}, {"pg_name": "2", "ranks": []}]'])");
  const std::string one = text_attribute("pg_name", "1"), two = text_attribute("pg_name", "2");
  const Traces traces({trace(groups + all_reduce(1, 8, one) + all_reduce(2, 8, two + after(1))),
                       trace(groups + all_reduce(5, 8, two) + all_reduce(6, 8, one + after(5)))});
  std::string message = traces.error(full(2));
  const std::string folder = traces.other("");
  for (std::size_t at = message.find(folder); at != std::string::npos; at = message.find(folder))
    message.erase(at, folder.size());
  CHECK(message == "trace: communication that waits in a cycle: trace.0.et: node 1 (sum) waits for "
                   "trace.1.et: node 6 (sum) waits for trace.1.et: node 5 (sum) waits for "
                   "trace.0.et: node 2 (sum) waits for trace.0.et: node 1 (sum) again");
}

TEST_CASE("Chakra: of what is ready, the lowest id has its turn first") {
  const std::string nodes =
      node(10, comp, micros(1) + after(20)) + node(15, comp, micros(2)) + node(20, comp, micros(3));
  const Workload workload = Traces({trace(nodes), trace("")}).read(full(2));
  const TrainingProgram& program = workload.programs[workload.places[0].program];
  REQUIRE(program.size() == 3); // ids 15, 20, 10
  CHECK(program[0].amount == 2'000'000);
  CHECK(program.turn(0) == 1);
  CHECK(program.turn(1) == 2);
  CHECK(program.turn(2) == 0);
  const TemporaryFolder folder;
  (void)write_chakra(workload, folder.file("out"));
  check_equal(workload, read_chakra(folder.file("out"), full(2)));
}

TEST_CASE("Chakra: attributes of metadata nodes mean nothing") {
  const std::string nodes = node(0, metadata,
                                 attribute("anything", 1, 17) + text_attribute("string", "12345") +
                                     flags_attribute("bool_list", {true}));
  CHECK(Traces({trace(nodes), trace("")}).error(full(2)).empty());
}

TEST_CASE("Chakra: what is wrong with a trace is said with file and node") {
  CHECK(error_of(node(3, invalid)) ==
        "trace.0.et: node 3 (op): unknown type of node 0 (known: METADATA 1, COMP 4, COMM_SEND 5, "
        "COMM_RECV 6, COMM_COLL 7)");
  CHECK(error_of(node(3, load)) == "trace.0.et: node 3 (op): it loads from or stores to remote "
                                   "memory, which isn't modelled");
  CHECK(error_of(node(3, comp, attribute("comm_siz", 3)))
            .starts_with("trace.0.et: node 3 (op): unknown attribute \"comm_siz\" (known: rf_id,"));
  const RefusalRows rows = {
      {node(3, comp, text_attribute("num_ops", "3")),
       " node 3 (op): attribute num_ops is not an integer"},
      {node(3, collective, attribute("comm_type", UINT64_MAX)),
       " node 3 (op): attribute comm_type is -1, below 0"},
      {node(3, collective, attribute("pg_name", 1)),
       " node 3 (op): attribute pg_name is not a string"},
      {node(3, collective, attribute("involved_dim", 1)),
       " node 3 (op): attribute involved_dim is not a list of truth values"},
      {node(3, comp, number_field(11, 1)),
       " node 3 (op): it has a field number 11 that isn't known"},
      {node(3, comp) + node(3, comp, "", "again"),
       " node 3 (again): its id is also that of node 3 (op)"},
      {node(3, comp, after(4)), " node 3 (op): it depends on node 4, which isn't there"},
      {node(1, comp, after(2), "a") + node(2, comp, after(3), "b") + node(3, comp, after(2), "c"),
       " nodes that depend on each other in a cycle: node 2 (b), node 3 (c), and node 2 (b) again"},
      {node(1, comp, after(1), "a"),
       " nodes that depend on each other in a cycle: node 1 (a), and node 1 (a) again"},
      {all_reduce(3, 0), " node 3 (sum): a zero-byte collective (at least 1 byte)"},
      {node(3, collective, attribute("comm_type", 0)),
       " node 3 (op): it lacks the attribute comm_size"},
      {node(3, collective, attribute("comm_size", 1)),
       " node 3 (op): it lacks the attribute comm_type"},
  };
  check_whole_refusals(error_of, rows, "trace.0.et:");
  CHECK(error_of(node(3, collective, attribute("comm_type", 10) + attribute("comm_size", 8)))
            .starts_with("trace.0.et: node 3 (op): unknown comm_type 10 (known: ALL_REDUCE 0,"));
  CHECK(error_of(node(3, collective, attribute("comm_type", 5) + attribute("comm_size", 8))) ==
        "trace.0.et: node 3 (op): it lacks the attribute tutti_root");
  CHECK(error_of(all_reduce(3, 8, text_attribute("pg_name", "4")))
            .starts_with("trace.0.et: node 3 (sum): unknown process group \"4\""));
  CHECK(error_of(groups_node(1, R"(['[{"pg_name": "4", "ranks": [1]}]'])") +
                 all_reduce(3, 8, text_attribute("pg_name", "4"))) ==
        "trace.0.et: node 3 (sum): npu0 isn't in process group \"4\"");
  CHECK(error_of(groups_node(1, "nonsense")) ==
        "trace.0.et: node 1 (op): metadata that isn't a list of process groups in quotes");
  CHECK(error_of(groups_node(1, R"(['[{"pg_name": "4"}]'])")) ==
        R"(trace.0.et: node 1 (op): process groups: {"pg_name":"4"} lacks "pg_name" or "ranks")");
  CHECK(error_of(all_reduce(3, 8, attribute("comm_priority", 300))) ==
        "trace.0.et: node 3 (sum): comm_priority 300 is out of range");
  CHECK(error_of(node(3, comp, micros(std::uint64_t{1} << 50))) ==
        "trace.0.et: node 3 (op): it takes longer than 53 days");
  CHECK(error_of(all_reduce(3, std::uint64_t{1} << 62 | 1)) ==
        "trace.0.et: node 3 (sum): 4611686018427387905 bytes are too many");
  const std::string sent = attribute("comm_size", 8) + attribute("comm_tag", 1);
  CHECK(error_of(node(3, send, sent)) ==
        "trace.0.et: node 3 (op): it lacks the attribute comm_dst");
  CHECK(error_of(node(3, send, sent + attribute("comm_dst", 2))) ==
        "trace.0.et: node 3 (op): npu2 isn't in the network of 2 NPUs");
  CHECK(error_of(node(3, send, sent + attribute("comm_dst", 0))) ==
        "trace.0.et: node 3 (op): npu0 sends to itself");
  CHECK(error_of(node(3, send, sent + attribute("comm_src", 1) + attribute("comm_dst", 0))) ==
        "trace.0.et: node 3 (op): npu0 can't send for npu1");
}

TEST_CASE("Chakra: no text has a zero byte, which would cut off what is said of it") {
  const std::string zero("a\0b", 3);
  CHECK(error_of(node(3, comp, "", zero)) == "trace.0.et: node 3: its name has a zero byte");
  CHECK(error_of(node(3, comp, attribute(zero, 3))) ==
        "trace.0.et: node 3 (op): the name of an attribute has a zero byte");
  for (const char* name : {"pg_name", "tutti_purpose"})
    CHECK(error_of(all_reduce(3, 8, text_attribute(name, zero))) ==
          "trace.0.et: node 3 (sum): attribute " + std::string(name) + " has a zero byte");
  CHECK(error_of(groups_node(1, zero)) == "trace.0.et: node 1 (op): what it says has a zero byte");
  CHECK(error_of(groups_node(1, R"(['[{"pg_name": "a\u0000b", "ranks": [0]}]'])")) ==
        "trace.0.et: node 1 (op): process groups: a name has a zero byte");
}

TEST_CASE("Chakra: members that a collective lacks are named") {
  const Traces traces({trace(all_reduce(3, 8)), trace(all_reduce(1, 8)), trace("")});
  CHECK(traces.error(full(3)) ==
        "trace: sum (all_reduce number 0 of group {npu0, npu1, npu2}): it would wait forever for "
        "npu2, where nothing meets it");
}

TEST_CASE("Chakra: there is one file per NPU") {
  const Traces traces({trace(""), trace("")});
  CHECK(is_chakra_prefix(traces.prefix()));
  CHECK_FALSE(is_chakra_prefix(traces.file(0)));
  CHECK(traces.error(full(3)) == "trace.2.et: there is no trace of npu2 (the network has 3 NPUs)");
  traces.write(2, trace(""));
  CHECK(traces.error(full(2)) ==
        "trace.2.et: a trace of npu2, which the network of 2 NPUs doesn't have");
}

TEST_CASE("Chakra: broken and truncated files") {
  const auto error = [](const std::string& content) {
    return Traces({content, trace("")}).error(full(2));
  };
  CHECK(error("") == "trace.0.et: truncated: its metadata at byte 0 has no length");
  CHECK(error("\x05"
              "ab") == "trace.0.et: truncated: its metadata at byte 0 has 2 of 5 bytes");
  CHECK(error(trace("\x03\xff\xff\xff")) == "trace.0.et: broken: a node at byte 8 isn't one");
  CHECK(error(trace("\xff\xff\xff\xff\xff\x01")) ==
        "trace.0.et: broken: a node at byte 8 has no sensible length");
  const std::string packed = gzipped(trace(node(0, comp, micros(1))));
  CHECK(error(packed).empty());
  CHECK(error(gzipped(trace("")) + gzipped(node(0, comp))).empty()); // two members
  for (std::size_t size = 2; size < packed.size(); ++size)
    CHECK(error(packed.substr(0, size)) == "trace.0.et: its gzip is truncated");
  std::string broken = packed;
  broken[packed.size() - 6] ^= 1; // checksum
  CHECK(error(broken) == "trace.0.et: its gzip is broken: incorrect data check");
}

TEST_CASE("Chakra: what is written reads back the same") {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const std::uint32_t npus = 2 + static_cast<std::uint32_t>(random.below(5));
    const Workload workload = random_workload(random, npus, 25);
    check_workload(workload, npus);
    const TemporaryFolder folder;
    const std::vector<std::string> files = write_chakra(workload, folder.file("out"));
    REQUIRE(files.size() == npus);
    check_equal(workload, read_chakra(folder.file("out"), full(npus)));
    for (const std::string& file : files) write_file(file, gzipped(read_file(file)));
    check_equal(workload, read_chakra(folder.file("out"), full(npus)));
  }
}

TEST_CASE("Chakra: a written trace cut anywhere is refused") {
  Random random(2);
  const Workload workload = random_workload(random, 2, 12);
  const TemporaryFolder folder;
  const std::string file = write_chakra(workload, folder.file("out")).front();
  const std::string content = read_file(file);
  for (std::size_t size = 0; size < content.size(); ++size) {
    write_file(file, content.substr(0, size));
    const std::string message = message_of([&] { (void)read_chakra(folder.file("out"), full(2)); });
    INFO(size << " of " << content.size() << ": " << message);
    CHECK(message.starts_with(file + ": truncated: "));
  }
}

TEST_CASE("Chakra: what others find in a written trace") {
  Workload workload;
  workload.names = {"work", "gather"};
  workload.groups = {{NodeId{1}, NodeId{0}}};
  TrainingProgram program;
  Operation operation;
  operation.amount = 2'500'000; // 2.5 us
  program.add(operation, {});
  operation.name = 1;
  operation.kind = Kind::collective;
  operation.collective = CollectiveKind::all_gather;
  operation.amount = 11; // 6 and 5 bytes
  operation.priority = 3;
  program.add(operation, std::vector<std::uint32_t>{0});
  workload.programs = {program};
  workload.places = {{0, {0}}, {0, {0}}};
  const TemporaryFolder folder;
  const std::string content = read_file(write_chakra(workload, folder.file("out")).front());
  const auto has = [&](const std::string& bytes) {
    return content.find(bytes) != std::string::npos;
  };
  CHECK(has(bytes_field(1, "1.0.0")));
  CHECK_FALSE(has(number_field(3, metadata)));
  CHECK(read_file(folder.file("out.groups.json")) == "{\n  \"1\": [1, 0]\n}\n");
  CHECK(has(number_field(7, 3))); // duration_micros
  CHECK(has(attribute("tutti_duration_ps", 2'500'000)));
  CHECK(has(attribute("is_cpu_op", 0, bool_value)));
  CHECK(has(attribute("comm_type", 2)));
  CHECK(has(attribute("comm_size", 6)));
  CHECK(has(attribute("tutti_size", 11)));
  CHECK(has(attribute("comm_priority", 3, int32_value)));
  CHECK(has(text_attribute("pg_name", "1")));
}

TEST_CASE("Chakra: a written group of all NPUs has no name, and there is no metadata node") {
  Random random(5);
  for (int round = 0; round < 40; ++round) {
    const std::uint32_t npus = 2 + static_cast<std::uint32_t>(random.below(3));
    const Workload workload = random_workload(random, npus, 20);
    const TemporaryFolder folder;
    std::vector<NodeId> everyone;
    for (std::uint32_t npu = 0; npu < npus; ++npu) everyone.emplace_back(npu);
    const std::vector<std::string> files = write_chakra(workload, folder.file("out"));
    const auto groups =
        parse_group_file(read_file(chakra_groups_file(folder.file("out"))), "", npus);
    for (std::uint32_t npu = 0; npu < npus; ++npu)
      for (const ChakraNode& written : parse_chakra(read_file(files[npu])).nodes) {
        CHECK(written.type != ChakraNode::Type::metadata);
        const TrainingProgram& program = workload.programs[workload.places[npu].program];
        const Operation& operation = program[written.id - 1];
        if (operation.kind == Kind::compute) continue;
        const std::uint32_t g = workload.places[npu].groups[operation.role];
        if (workload.groups[g] == everyone) {
          CHECK_FALSE(written.pg_name.has_value());
          continue;
        }
        REQUIRE(written.pg_name == std::to_string(g + 1));
        const auto named = std::ranges::find(groups, *written.pg_name, &ProcessGroup::name);
        REQUIRE(named != groups.end());
        CHECK(named->members == values(workload.groups[g]));
      }
  }
}

TEST_CASE("Chakra: rounded durations add up to the exact ones") {
  Random random(6);
  for (int round = 0; round < 50; ++round) {
    Workload workload;
    workload.names = {"work"};
    TrainingProgram program;
    for (int i = 0; i < 200; ++i) {
      Operation operation;
      operation.amount = static_cast<std::int64_t>(random.below(3'000'000));
      program.add(operation, {});
    }
    workload.programs = {program};
    workload.places = {{0, {}}, {0, {}}};
    const TemporaryFolder folder;
    const std::string file = write_chakra(workload, folder.file("out")).front();
    std::int64_t exact = 0, written = 0;
    for (const ChakraNode& read : parse_chakra(read_file(file)).nodes) {
      exact += program[read.id - 1].amount;
      written += static_cast<std::int64_t>(read.duration_micros) * 1'000'000;
      CHECK(std::abs(exact - written) <= 500'000);
    }
  }
}

TEST_CASE("Chakra: a written trace of which another tool has removed nodes") {
  Random random(7);
  int removed_once = 0;
  for (int round = 0; round < 60; ++round) {
    const Workload workload = random_workload(random, 3, 20);
    const TemporaryFolder folder;
    const std::string file = write_chakra(workload, folder.file("out")).front();
    const TrainingProgram& program = workload.programs[workload.places[0].program];
    std::vector<bool> removable(program.size());
    for (std::uint32_t i = 0; i < program.size(); ++i) {
      removable[i] = program[i].kind == Kind::compute && i + 1 < program.size();
      for (const std::uint32_t before : program.dependencies(i)) removable[before] = false;
    }
    std::vector<std::string> messages = messages_of(read_file(file));
    std::string rest = framed(messages.front());
    std::vector<std::string> left;
    for (std::uint32_t i = 0; i < program.size(); ++i) {
      if (removable[i]) continue;
      rest += framed(messages[i + 1]);
      left.push_back(workload.names[program[i].name]);
    }
    removed_once += left.size() < program.size() ? 1 : 0;
    write_file(file, rest);
    const Workload read = read_chakra(folder.file("out"), full(3));
    const TrainingProgram& shorter = read.programs[read.places[0].program];
    REQUIRE(shorter.size() == left.size());
    for (std::uint32_t i = 0; i < shorter.size(); ++i)
      CHECK(read.names[shorter[i].name] == left[i]);
  }
  CHECK(removed_once > 20);
}

TEST_CASE("Chakra: files of earlier versions, with their metadata node and without it") {
  const std::string mark = bytes_field(2, bytes_field(1, "tutti_nodes") + number_field(13, 3));
  const std::string head = framed(bytes_field(1, "0.0.4") + mark);
  const std::string in_group = text_attribute("pg_name", "1") + attribute("tutti_tag", 4, 11);
  const std::string groups = groups_node(0, R"(['[{"pg_name":"1","ranks":[1,0]}]'])");
  const std::string first = node(1, comp, micros(5)),
                    second = all_reduce(2, 100, in_group + after(1));
  const Traces whole({head + groups + first + second, head + groups + first + second});
  const Workload read = whole.read(full(2));
  CHECK(read.programs[0].size() == 2);
  const Traces stripped({head + first + second, head + first + second});
  CHECK(
      stripped.error(full(2)).starts_with("trace.0.et: node 2 (sum): unknown process group \"1\""));
  write_file(stripped.other("trace.groups.json"), R"({"1": [1, 0]})");
  check_equal(stripped.read(full(2)), read);
  CHECK(Traces({head + groups + first, head + groups + first}).error(full(2)) ==
        "trace.0.et: truncated: 2 of 3 nodes are there");
}

} // namespace chakra_test
