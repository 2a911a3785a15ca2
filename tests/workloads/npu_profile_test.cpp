#include "workloads/npu_profile.hpp"

#include "sim/files/files.hpp"

#include "tests/catch.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/temporary_folder.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace npu_profile_test {

using namespace tutti;

namespace {

// 100 flops and 10 bytes a nanosecond on paper; half of it attained; 2 us to launch.
NpuProfile half() {
  NpuProfile npu;
  npu.name = "half";
  npu.peak_flops = {{Precision::fp16, 100e9}};
  npu.vector_flops = 10e9;
  npu.memory_bandwidth = {10'000'000'000};
  npu.compute_efficiency.fill(0.5);
  npu.memory_efficiency.fill(0.5);
  npu.launch = {2'000'000};
  return npu;
}

constexpr Time us(std::int64_t count) { return {count * 1'000'000}; }

std::string npu_message(std::string text, const std::string& from, const std::string& to) {
  const TemporaryFolder folder;
  text.replace(text.find(from), from.size(), to);
  write_file(folder.file("n.toml"), text);
  const std::string message = message_of([&] { (void)load_npu_profile(folder.file("n.toml")); });
  return message.substr(std::min(message.size(), folder.file("").size()));
}

} // namespace

TEST_CASE("roofline: limited by computing, by memory, or by the launch") {
  const NpuProfile npu = half();
  const auto time = [&](Kernel::Kind kind, double flops, double bytes) {
    return kernel_time(npu, kind, Precision::fp16, flops, bytes);
  };
  constexpr auto matmul = Kernel::Kind::matmul, elementwise = Kernel::Kind::elementwise;
  CHECK(time(matmul, 1e6, 0) == us(20));      // 1e6 / 50e9
  CHECK(time(matmul, 1e6, 50'000) == us(20)); // 10 us of memory behind it
  CHECK(time(matmul, 1e6, 500'000) == us(100));
  CHECK(time(matmul, 0, 500'000) == us(100));
  CHECK(time(elementwise, 1e6, 0) == us(200)); // vector units: 1e6 / 5e9
  CHECK(time(Kernel::Kind::lookup, 1e6, 0) == us(200));
  CHECK(time(Kernel::Kind::attention, 1e6, 0) == us(20));
  CHECK(time(matmul, 1, 1) == us(2));
  CHECK(time(matmul, 0, 0) == Time{});
}

TEST_CASE("roofline: every kind has its own efficiency; times are rounded up") {
  NpuProfile npu = half();
  npu.launch = {};
  npu.compute_efficiency[static_cast<std::size_t>(Kernel::Kind::convolution)] = 0.25;
  npu.memory_efficiency[static_cast<std::size_t>(Kernel::Kind::attention)] = 1;
  CHECK(kernel_time(npu, Kernel::Kind::convolution, Precision::fp16, 1e6, 0) == us(40));
  CHECK(kernel_time(npu, Kernel::Kind::attention, Precision::fp16, 0, 100'000) == us(10));
  CHECK(kernel_time(npu, Kernel::Kind::matmul, Precision::fp16, 0.01, 0) == Time{1}); // 0.2 ps
}

TEST_CASE("a precision without a peak is refused, unless nothing is computed in it") {
  const NpuProfile npu = half();
  CHECK(message_of([&] { (void)kernel_time(npu, Kernel::Kind::matmul, Precision::bf16, 1, 1); }) ==
        "NPU \"half\" doesn't compute in bf16 (known: fp16)");
  CHECK(kernel_time(npu, Kernel::Kind::elementwise, Precision::bf16, 1, 1) == us(2));
  CHECK(message_of([&] {
          (void)kernel_time(npu, Kernel::Kind::matmul, Precision::fp16, 1e20, 0);
        }) == "a kernel takes 2e+09 s on NPU \"half\", more than 53 days");
}

TEST_CASE("NPUs train in bf16, in fp16 without it, else in what they have") {
  NpuProfile npu;
  for (const Precision one : {Precision::fp32, Precision::fp16, Precision::bf16, Precision::fp8}) {
    npu.peak_flops[one] = 1;
    CHECK(usual_precision(npu) == std::min(one, Precision::bf16));
  }
  CHECK(usual_precision(load_npu_profile("v100")) == Precision::fp16);
  CHECK(usual_precision(load_npu_profile("h100")) == Precision::bf16);
}

TEST_CASE("precisions by name and size") {
  for (const std::string name : {"fp32", "tf32", "fp16", "bf16", "fp8"})
    CHECK(to_text(precision_words.parse(name)) == name);
  CHECK(element_bytes(Precision::fp32) == 4);
  CHECK(element_bytes(Precision::tf32) == 4);
  CHECK(element_bytes(Precision::fp16) == 2);
  CHECK(element_bytes(Precision::bf16) == 2);
  CHECK(element_bytes(Precision::fp8) == 1);
  CHECK(message_of([] { (void)precision_words.parse("fp64"); }) ==
        "unknown precision \"fp64\" (known: fp32, tf32, fp16, bf16, fp8; did you mean \"fp32\"?)");
}

TEST_CASE("every NPU profile loads, names its source and bears its file's name") {
  for (const std::string& name : npu_profile_names()) {
    INFO(name);
    const NpuProfile npu = load_npu_profile(name);
    CHECK(npu.name == name);
    CHECK(npu.note.size() > 10);
    CHECK(npu.source.size() > 10);
    CHECK(!npu.peak_flops.empty());
  }
  CHECK(npu_profile_names() == std::vector<std::string>{"a100", "h100", "ideal", "tpu_v4", "v100"});
}

TEST_CASE("NPU profiles against their data sheets") {
  const NpuProfile v100 = load_npu_profile("v100"), a100 = load_npu_profile("a100"),
                   h100 = load_npu_profile("h100");
  CHECK(v100.peak_flops.at(Precision::fp16) == 125e12);
  CHECK(v100.peak_flops.count(Precision::bf16) == 0);
  CHECK(v100.memory_bandwidth.bytes_per_second == 900'000'000'000);
  CHECK(a100.peak_flops.at(Precision::bf16) == 312e12);
  CHECK(a100.memory_bandwidth.bytes_per_second == 2'039'000'000'000);
  CHECK(h100.peak_flops.at(Precision::bf16) == Approx(989.4e12));
  CHECK(h100.peak_flops.at(Precision::fp8) == Approx(2 * 989.4e12).epsilon(1e-4));
  CHECK(h100.memory.count == std::int64_t{80} << 30);
}

TEST_CASE("NPU profiles that are refused") {
  const std::string good = read_file(TUTTI_SOURCE_DIR "/workloads/npus/ideal.toml");
  CHECK(npu_message(good, "vector_flops", "vector_flop") ==
        "n.toml:4:1: unknown key \"vector_flop\" (known: name, note, source, peak_flops, "
        "vector_flops, memory_bandwidth, memory, launch, compute_efficiency, memory_efficiency; "
        "did you mean \"vector_flops\"?)");
  CHECK(npu_message(good, "vector_flops = 10e12", "vector_flops = 0") ==
        "n.toml:4:16: must be above 0");
  CHECK(npu_message(good, "fp32 =", "fp31 =") ==
        "n.toml:10:8: unknown precision \"fp31\" (known: fp32, tf32, fp16, bf16, fp8; did you mean "
        "\"fp32\"?)");
  CHECK(npu_message(good, "matmul = 1.0", "matmul = 1.5") ==
        "n.toml:17:10: an efficiency is at most 1");
  CHECK(npu_message(good, "matmul = 1.0\n", "") ==
        "n.toml:16:1: this table needs a key \"matmul\" (it has: convolution, attention, "
        "elementwise, lookup)");
  CHECK(message_of([] { (void)load_npu_profile("a10"); }) ==
        "unknown NPU \"a10\" (known: a100, h100, ideal, tpu_v4, v100; did you mean \"a100\"?)");
}

} // namespace npu_profile_test
