// Looks on PATH and in the folders where CUDA is installed, since PATH may lack its tools.

#include "gpu/toolkits.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <unistd.h>

namespace tutti::gpu {

namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): nobody sets it
  return value == nullptr ? "" : value;
}

} // namespace

std::vector<std::string> cuda_toolkits() {
  std::vector<std::string> toolkits, installed;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (std::string folder = variable(name); !folder.empty()) toolkits.push_back(folder);
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator("/usr/local", ignored))
    if (entry.path().filename().string().starts_with("cuda")) installed.push_back(entry.path());
  std::ranges::sort(installed);
  toolkits.insert(toolkits.end(), installed.begin(), installed.end());
  return toolkits;
}

std::string find_program(const std::string& name) {
  const std::string path = variable("PATH");
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const fs::path file = fs::path(path.substr(begin, end - begin)) / name;
    if (end > begin && is_program(file)) return file;
    begin = end + 1;
  }
  return "";
}

std::string find_compute_sanitizer() {
  if (std::string found = find_program("compute-sanitizer"); !found.empty()) return found;
  for (const std::string& toolkit : cuda_toolkits())
    for (const char* place : {"bin/compute-sanitizer", "compute-sanitizer/compute-sanitizer"})
      if (const fs::path file = fs::path(toolkit) / place; is_program(file)) return file;
  return "";
}

} // namespace tutti::gpu
