// What a GPU must get right before anything that it measures counts. Each test is a function: of
// the command `tutti-gpu test`, which needs nothing else on the machine, and of the project's
// tests.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tutti::gpu {

/// What is wrong, in words.
class TestFailed : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Why a test can't be done here.
class TestLeftOut : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

struct GpuTest {
  std::string_view name, expects;
  /// Little memory and few steps, and nothing is asked of its time: for compute-sanitizer.
  bool small = true;
  /// Errors: TestFailed, TestLeftOut, and those of run_on_cuda().
  void (*run)() = nullptr;
};
[[nodiscard]] std::span<const GpuTest> gpu_tests();
/// Errors: InputError with the known names.
[[nodiscard]] const GpuTest& find_gpu_test(std::string_view name);

} // namespace tutti::gpu
