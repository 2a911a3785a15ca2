// What else a machine may have installed.
#pragma once

#include <string>
#include <vector>

namespace tutti::gpu {

/// Folders of CUDA toolkits: CUDA_HOME, CUDA_PATH, /usr/local/cuda*.
[[nodiscard]] std::vector<std::string> cuda_toolkits();

/// A program on PATH; empty: nowhere.
[[nodiscard]] std::string find_program(const std::string& name);

/// `compute-sanitizer`, on PATH or in a toolkit; empty: nowhere.
[[nodiscard]] std::string find_compute_sanitizer();

} // namespace tutti::gpu
