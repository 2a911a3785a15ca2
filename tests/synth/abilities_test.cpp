// Whatever nodes can store, copy and reduce: what an algorithm returns is correct, or it says in
// words why it has nothing. Neither it nor its solvers print.
#include "sim/random.hpp"
#include "tests/catch.hpp"
#include "tests/synth/ability_cases.hpp"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>

namespace abilities_test {

using namespace tutti;

namespace {

/// What is written to the standard output and the standard error output meanwhile, by whomever.
class CapturedOutput {
public:
  CapturedOutput() : file_(std::tmpfile()) {
    flush();
    for (std::size_t i = 0; i < saved_.size(); ++i) {
      saved_[i] = dup(streams[i]);
      dup2(fileno(file_), streams[i]);
    }
  }
  CapturedOutput(const CapturedOutput&) = delete;
  CapturedOutput& operator=(const CapturedOutput&) = delete;
  ~CapturedOutput() {
    flush();
    for (std::size_t i = 0; i < saved_.size(); ++i) {
      dup2(saved_[i], streams[i]);
      close(saved_[i]);
    }
    std::fclose(file_);
  }

  [[nodiscard]] long bytes() const {
    flush();
    std::fseek(file_, 0, SEEK_END);
    return std::ftell(file_);
  }

private:
  static constexpr std::array streams{STDOUT_FILENO, STDERR_FILENO};
  static void flush() {
    std::cout.flush();
    std::cerr.flush();
    std::fflush(nullptr);
  }

  std::FILE* file_;
  std::array<int, 2> saved_{};
};

samples::AbilityAnswers answers(std::uint64_t seed, int cases) {
  Random random(seed);
  samples::AbilityAnswers found;
  const CapturedOutput output;
  for (int i = 0; i < cases && found.fault.empty(); ++i)
    ask_all(samples::random_ability_case(random), found);
  if (found.fault.empty() && output.bytes() > 0) found.fault = "something printed";
  return found;
}

} // namespace

TEST_CASE("algorithms answer correctly on switches of all abilities", "[heavy]") {
  const samples::AbilityAnswers found = answers(1, 25);
  CHECK(found.fault == "");
  CHECK(found.schedules > 100);
}

TEST_CASE("algorithms answer correctly on many switches of all abilities", "[slow]") {
  for (std::uint64_t seed = 2; seed < 8; ++seed) {
    INFO("seed " << seed);
    CHECK(answers(seed, 400).fault == "");
  }
}

} // namespace abilities_test
