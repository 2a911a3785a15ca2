// tutti-gpu over the fake CUDA runtime, which no GPU is needed for: a machine of the environment's,
//   TUTTI_FAKE_GPU="gpus=2,driver=11040,memory=1073741824"
#include "gpu/commands.hpp"
#include "tests/runtime/fake_cuda/fake_cuda.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

using tutti::fake_cuda::Settings;

const std::map<std::string, std::function<void(Settings&, long long)>> keys{
    {"gpus", [](Settings& s, long long v) { s.gpus = static_cast<int>(v); }},
    {"processors", [](Settings& s, long long v) { s.processors = static_cast<int>(v); }},
    {"driver",
     [](Settings& s, long long v) {
       s.driver = static_cast<int>(v);
       if (s.driver < 13000) s.counting = cudaErrorInsufficientDriver;
     }},
    {"memory", [](Settings& s, long long v) { s.memory = static_cast<std::size_t>(v); }},
    {"failing_call",
     [](Settings& s, long long v) { s.failing_call = static_cast<std::uint64_t>(v); }},
    {"failures", [](Settings& s, long long v) { s.failures = static_cast<std::uint64_t>(v); }},
    {"hanging_call",
     [](Settings& s, long long v) { s.hanging_call = static_cast<std::uint64_t>(v); }},
    {"crashing_call",
     [](Settings& s, long long v) { s.crashing_call = static_cast<std::uint64_t>(v); }},
    {"stays_broken", [](Settings& s, long long v) { s.stays_broken = v != 0; }},
    {"never_starts", [](Settings& s, long long v) { s.never_starts = static_cast<int>(v); }},
    {"never_ends", [](Settings& s, long long v) { s.never_ends = v != 0; }},
    {"stop_delay_ms",
     [](Settings& s, long long v) { s.stop_delay = std::chrono::milliseconds(v); }},
};

/// False: there is a word that isn't known.
bool read_settings(const std::string& text, Settings& settings) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, end - at);
    const std::size_t equals = word.find('=');
    const auto key = keys.find(word.substr(0, equals));
    if (key == keys.end() || equals == std::string::npos) return false;
    key->second(settings, std::atoll(word.c_str() + equals + 1));
    at = end + 1;
  }
  return true;
}

} // namespace

int main(int argc, char** argv) {
  Settings settings;
  const char* machine = std::getenv("TUTTI_FAKE_GPU");
  if (machine != nullptr && !read_settings(machine, settings)) {
    (void)std::fprintf(stderr, "TUTTI_FAKE_GPU=%s: no such machine\n", machine);
    return 2;
  }
  const tutti::fake_cuda::FakeGpus gpus(settings);
  return tutti::gpu::tutti_gpu(std::vector<std::string>(argv + 1, argv + argc));
}
