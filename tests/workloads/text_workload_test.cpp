#include "workloads/traces/text_workload.hpp"

#include "sim/files/files.hpp"
#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/refusals.hpp"
#include "tests/samples.hpp"
#include "tests/temporary_folder.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace text_workload_test {

using namespace tutti;
using namespace tutti::samples;

namespace {

const TextWorkloadOptions in_ns{Time{1000}, 1, {}};

Workload read(const std::string& text, const Topology& topology,
              const TextWorkloadOptions& options = in_ns) {
  const TemporaryFolder folder;
  write_file(folder.file("w.txt"), text);
  Workload workload = read_text_workload(folder.file("w.txt"), topology, options);
  check_workload(workload, topology.npu_count());
  return workload;
}

std::string error_of(const std::string& text, const Topology& topology = full(4),
                     const TextWorkloadOptions& options = in_ns) {
  const TemporaryFolder folder;
  write_file(folder.file("w.txt"), text);
  const std::string message =
      message_of([&] { (void)read_text_workload(folder.file("w.txt"), topology, options); });
  return message.starts_with(folder.file("")) ? message.substr(folder.file("").size()) : message;
}

/// What an NPU does: "name<a,b" with the places of what it depends on.
std::vector<std::string> steps(const Workload& workload, std::size_t npu = 0) {
  const TrainingProgram& program = workload.programs[workload.places[npu].program];
  std::vector<std::string> found;
  for (std::size_t i = 0; i < program.size(); ++i) {
    std::string text = workload.names[program[i].name] + "<";
    for (const std::uint32_t before : program.dependencies(i)) text += std::to_string(before) + ",";
    found.push_back(text);
  }
  return found;
}

std::vector<std::uint32_t> group(const Workload& workload, std::size_t npu, std::size_t operation) {
  const ProgramPlace& place = workload.places[npu];
  std::vector<std::uint32_t> members;
  for (const NodeId member :
       workload.groups[place.groups[workload.programs[place.program][operation].role]])
    members.push_back(member.value);
  return members;
}

using Steps = std::vector<std::string>;
using Members = std::vector<std::uint32_t>;

const std::string data_text =
    "DATA\t\t\n2\n"
    "a -1 10 NONE 0 20 NONE 0 30 ALLREDUCE 6000000000 7\n"
    "b\t-1\t11\tNONE\t0\t21\tNONE\t0\t31\tALLREDUCE\t100\t7"; // no newline

} // namespace

TEST_CASE("text workloads: data parallelism, and the next pass waits for gradients") {
  const Workload workload = read(data_text, full(4), {Time{1000}, 2, {}});
  CHECK(workload.iterations == 2);
  CHECK(workload.programs.size() == 1);
  CHECK(steps(workload) == Steps{"a forward<", "b forward<0,", "b weight_gradient<1,",
                                 "b weight_gradient all_reduce<2,", "b input_gradient<2,",
                                 "a weight_gradient<4,", "a weight_gradient all_reduce<5,",
                                 "a forward<5,6,", "b forward<3,7,", "b weight_gradient<8,",
                                 "b weight_gradient all_reduce<9,", "b input_gradient<9,",
                                 "a weight_gradient<11,", "a weight_gradient all_reduce<12,"});
  const TrainingProgram& program = workload.programs[0];
  CHECK(program[0].amount == 10'000);
  CHECK(program[6].amount == 6'000'000'000);
  CHECK(program[6].purpose == Purpose::data);
  CHECK(group(workload, 3, 7) == Members{0, 1, 2, 3});
}

TEST_CASE("text workloads: transformers wait for model-parallel communication") {
  const Workload workload = read("HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n1\n"
                                 "a -1 1 ALLGATHER 8 2 ALLREDUCE 8 3 ALLREDUCE 8 1\n",
                                 full(8));
  CHECK(steps(workload) == Steps{"a forward<", "a forward all_gather<0,", "a input_gradient<1,",
                                 "a input_gradient all_reduce<2,", "a weight_gradient<3,",
                                 "a weight_gradient all_reduce<4,"});
  CHECK(workload.programs[0][1].amount == 16); // a member's share, in ASTRA-sim
  CHECK(workload.programs[0][1].purpose == Purpose::tensor);
  CHECK(group(workload, 5, 1) == Members{4, 5});
  CHECK(group(workload, 5, 5) == Members{1, 3, 5, 7});
}

TEST_CASE("text workloads: hybrids hide input gradients, and differ in who are neighbours") {
  const std::string layers = "\n2\na -1 1 NONE 0 2 ALLREDUCE 9 3 ALLREDUCE 9 1\n"
                             "b -1 1 ALLREDUCE 9 2 ALLREDUCE 9 3 ALLREDUCE 9 1\n";
  const Workload model_inside = read("HYBRID_DATA_MODEL" + layers, mesh(2, 3));
  CHECK(steps(model_inside) == Steps{"a forward<", "b forward<0,", "b forward all_reduce<1,",
                                     "b input_gradient<2,", "b input_gradient all_reduce<3,",
                                     "b weight_gradient<3,", "b weight_gradient all_reduce<5,",
                                     "a input_gradient<4,5,", "a weight_gradient<7,",
                                     "a weight_gradient all_reduce<8,"});
  CHECK(group(model_inside, 4, 2) == Members{3, 4, 5});
  CHECK(group(model_inside, 4, 6) == Members{1, 4});
  const Workload data_inside = read("HYBRID_MODEL_DATA" + layers, mesh(2, 3));
  CHECK(group(data_inside, 4, 2) == Members{1, 4});
  CHECK(group(data_inside, 4, 6) == Members{3, 4, 5});
  const Workload sized = read("HYBRID_MODEL_DATA" + layers, full(8), {Time{1000}, 1, 2});
  CHECK(group(sized, 5, 2) == Members{1, 5});
  CHECK(error_of("HYBRID_DATA_MODEL" + layers) ==
        "w.txt:1:1: the size of its model-parallel groups is needed: the file doesn't say it, and "
        "full4 has no coordinates to take it from");
}

TEST_CASE("text workloads: DLRM's embeddings are awaited after the bottom layers") {
  const std::string layers = "\n3\ne -1 1 ALLTOALL 64 2 ALLTOALL 64 3 NONE 0 1\n"
                             "bottom -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 8 1\n"
                             "top -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 8 1\n";
  const Steps expected{"e forward<",
                       "e forward all_to_all<0,",
                       "bottom forward<0,",
                       "top forward<1,2,",
                       "top weight_gradient<3,",
                       "top weight_gradient all_reduce<4,",
                       "top input_gradient<4,",
                       "e input_gradient all_to_all<6,",
                       "bottom weight_gradient<6,",
                       "bottom weight_gradient all_reduce<8,",
                       "bottom input_gradient<8,",
                       "e weight_gradient<10,"};
  CHECK(steps(read("HYBRID_DLRM 1" + layers, full(4))) == expected);
  CHECK(steps(read("HYBRID_DLRM_ENHANCED DLRM_LAST_BOTTOM_LAYER: 1" + layers, full(4))) ==
        expected);
  CHECK(error_of("HYBRID_DLRM 2" + layers) ==
        "w.txt:1:1: its last bottom layer is 2, but one has to follow among 3 layers");
}

TEST_CASE("text workloads: layers are computed again from their checkpoint") {
  const std::string layers = "\n3\na -1 1 NONE 0 0 NONE 0 3 NONE 0 1\nb -1 1 NONE 0 0 NONE 0 3 "
                             "NONE 0 1\nc -1 1 NONE 0 0 NONE 0 3 NONE 0 1\n";
  const std::string head = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ";
  CHECK(steps(read(head + "checkpoints: 1 0 checkpoint_initiates: 1 2" + layers, full(4))) ==
        Steps{"a forward<", "b forward<0,", "c forward<1,", "a forward<2,", "b forward<3,",
              "c weight_gradient<4,", "b weight_gradient<5,", "a weight_gradient<6,"});
  CHECK(error_of(head + "checkpoints: 1 1 checkpoint_initiates: 1 0" + layers) ==
        "w.txt:1:1: layer 0 is to be computed again, but none up to it is a checkpoint");
  CHECK(error_of(head + "checkpoints: 1 3 checkpoint_initiates: 0" + layers) ==
        "w.txt:1:76: layer 3 isn't there (0 .. 2)");
}

TEST_CASE("text workloads: inference is forward only, micro-benchmarks communicate in turn") {
  const std::string layers = "\n2\na -1 1 ALLREDUCE 8 2 NONE 0 3 ALLREDUCE 8 1\n"
                             "b -1 1 ALLREDUCE 8 2 NONE 0 3 ALLGATHER 8 1\n";
  CHECK(steps(read("DISTRIBUTED_INFERENCE" + layers, full(4))) ==
        Steps{"a forward<", "a forward all_reduce<0,", "b forward<1,", "b forward all_reduce<2,"});
  CHECK(steps(read("MICRO" + layers, full(4))) ==
        Steps{"a weight_gradient all_reduce<", "b weight_gradient all_gather<0,"});
  const Workload model = read("MODEL\n1\na -1 1 ALLREDUCE 8 2 ALLREDUCE 8 3 NONE 0 1\n", full(4));
  CHECK(steps(model) == Steps{"a forward<", "a forward all_reduce<0,", "a input_gradient<1,",
                              "a weight_gradient<2,"});
}

TEST_CASE("text workloads: customized layers each have their own parallelism") {
  const Workload workload = read("HYBRID_CUSTOMIZED\n2\n"
                                 "a -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 8 1 DATA\n"
                                 "b -1 1 ALLREDUCE 8 2 NONE 0 3 NONE 0 1 HYBRID_DATA_MODEL\n",
                                 mesh(2, 2));
  CHECK(group(workload, 3, 2) == Members{2, 3});
  CHECK(group(workload, 3, 7) == Members{0, 1, 2, 3});
}

TEST_CASE("text workloads: SimAI's groups, sizes and pipeline") {
  // 2 tensor x 2 expert x 2 data x 2 stages, two micro-batches of one layer.
  const std::string text =
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD ga: 2 model_parallel_NPU_group: 2 ep: 2 pp: 2 vpp: 1 "
      "all_gpus: 16 checkpoints: 0 checkpoint_initiates: 0 pp_comm 64\n4\n"
      "grads -1 0 NONE 0 0 NONE 0 0 REDUCESCATTER_DP_EP 64 1\n"
      "x -1 5 ALLGATHER 64 7 ALLTOALL_EP 64 0 NONE 0 1\n"
      "x -1 6 ALLGATHER 64 8 ALLTOALL_EP 64 0 ALLREDUCE 0 1\n"
      "loss -1 1 ALLREDUCE 4 0 NONE 0 0 ALLREDUCE 16 1\n";
  const Workload workload = read(text, full(16));
  CHECK(workload.programs.size() == 2);
  // The last stage: forward 0, backward 0, forward 1, what follows, backward 1, what came first.
  CHECK(steps(workload, 9) ==
        Steps{"activations<", "x forward<0,", "x forward all_gather<1,", "x input_gradient<2,",
              "x input_gradient all_to_all<3,", "activation gradients<4,", "activations<4,",
              "x forward<6,", "x forward all_gather<7,", "loss forward<8,",
              "loss forward all_reduce<9,", "loss weight_gradient all_reduce<10,",
              "x input_gradient<10,", "x input_gradient all_to_all<12,", "activation gradients<13,",
              "grads weight_gradient reduce_scatter<13,"});
  // The first stage is one micro-batch ahead.
  CHECK(steps(workload, 1) ==
        Steps{"x forward<", "x forward all_gather<0,", "activations<1,", "x forward<1,",
              "x forward all_gather<3,", "activations<4,", "loss forward<4,",
              "loss forward all_reduce<6,", "loss weight_gradient all_reduce<7,",
              "activation gradients<7,", "x input_gradient<9,", "x input_gradient all_to_all<10,",
              "activation gradients<11,", "x input_gradient<12,", "x input_gradient all_to_all<13,",
              "grads weight_gradient reduce_scatter<14,"});
  CHECK(workload.programs[0][1].amount == 64); // the total, in SimAI
  CHECK(group(workload, 11, 0) == Members{3, 11});
  CHECK(group(workload, 11, 2) == Members{10, 11});         // tensor
  CHECK(group(workload, 11, 4) == Members{9, 11});          // expert
  CHECK(group(workload, 11, 11) == Members{9, 11, 13, 15}); // data
  CHECK(group(workload, 11, 15) == Members{11, 15});        // data without expert
  CHECK(workload.programs[1][4].purpose == Purpose::expert);
  CHECK(workload.programs[1][0].purpose == Purpose::pipeline);
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    return changed.replace(changed.find(from), from.size(), to);
  };
  CHECK(error_of(replaced("ga: 2", "ga: 3"), full(16)) ==
        "w.txt:1:1: its layers don't repeat 3 times (ga), so that where micro-batches begin isn't "
        "known, and pipelining (pp) can't be derived");
  CHECK(error_of(text, full(8)) == "w.txt:1:1: it is for 16 NPUs (all_gpus), the network has 8");
  CHECK(error_of(replaced(" ep: 2", " ep: 3"), full(16)) ==
        "w.txt:1:1: groups of 2 x ep 3 x pp 2 don't divide 16 NPUs");
  CHECK(error_of(replaced("pp_comm 64", ""), full(16)) ==
        "w.txt:1:1: with pp above 1 it needs pp_comm, in bytes");
  CHECK(error_of(replaced(" ep: 2", " epp: 2"), full(16))
            .starts_with("w.txt:1:67: unknown word \"epp\" (known: model_parallel_NPU_group, ep,"));
  CHECK(error_of(replaced(" ep: 2", " ga: 2"), full(16)) == "w.txt:1:67: ga is there twice");
}

TEST_CASE("text workloads: what is wrong is said with its place") {
  CHECK(error_of(data_text, full(4), {}) ==
        "w.txt: the unit of its computing times is needed: the file doesn't say it (1ns in "
        "ASTRA-sim 1.0 and SimAI, 1us in Chakra's converter)");
  CHECK(error_of(data_text, full(4), {Time{1000}, 0, {}}) == "w.txt: at least one pass is needed");
  CHECK(error_of("") == "w.txt:1:1: it is empty");
  CHECK(error_of("DATA\n") == "w.txt:2:1: the number of layers is missing");
  CHECK(error_of("DATUM\n1\n")
            .starts_with("w.txt:1:1: unknown parallelism \"DATUM\" (known: MICRO,"));
  CHECK(error_of("DATA 3\n1\n") == "w.txt:1:6: \"3\" after DATA, which has nothing behind it");
  CHECK(error_of("HYBRID_DLRM\n1\n") == "w.txt:1:1: the last bottom layer is missing");
  CHECK(error_of("DATA\nx\n") == "w.txt:2:1: number of layers \"x\" is not a whole number");
  CHECK(error_of("DATA\n1 2\n") == "w.txt:2:3: \"2\" after the number of layers");
  CHECK(error_of("DATA\n1\n") == "w.txt:2:1: it has 0 layers, not the 1 that it says");
  const auto layer = [](const std::string& text) { return error_of("DATA\n1\n" + text); };
  CHECK(layer("a -1 1 NONE 0 1 NONE 0 1 NONE 0") == "w.txt:3:31: the layer has 11 columns, not 12");
  CHECK(layer("a -1 1 NONE 0 1 NONE 0 1 NONE 0 1 DATA") ==
        "w.txt:3:35: the layer has 13 columns, not 12");
  CHECK(
      layer("a -1 1 NONE 0 1 NONE 0 1 ALLREDUC 9 1")
          .starts_with("w.txt:3:26: unknown communication \"ALLREDUC\" (known: NONE, ALLREDUCE,"));
  const RefusalRows rows = {
      {"a -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 0 1", "3:36: a zero-byte ALLREDUCE (at least 1 byte)"},
      {"a -1 1 NONE 0 1 NONE 0 1 ALLREDUCEALLTOALL 9 1",
       "3:26: ALLREDUCEALLTOALL is not one collective, and how its bytes are shared isn't known"},
      {"a -1 -1 NONE 0 1 NONE 0 1 NONE 0 1", "3:6: computing time -1 is out of range ..."},
      {"a -1 1 ALLREDUCE 9 1 NONE 0 1 NONE 0 1",
       "3:8: with DATA nothing is communicated for the forward pass of this layer"},
      {"a -1 1 NONE 0 1 NONE 0 1 ALLREDUCE_EP 9 1", "3:26: DATA has no expert-parallel groups"},
  };
  check_whole_refusals(layer, rows, "w.txt:");
  CHECK(error_of("HYBRID_CUSTOMIZED\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1 HYBRID_CUSTOMIZED") ==
        "w.txt:3:35: a layer can't be HYBRID_CUSTOMIZED itself");
  CHECK(error_of("HYBRID_TRANSFORMER model_parallel_NPU_group: 3\n1\na -1 1 NONE 0 1 NONE 0 1 NONE "
                 "0 1") == "w.txt:1:1: model-parallel groups of 3 don't divide 4 NPUs");
}

} // namespace text_workload_test
