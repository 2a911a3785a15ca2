// The command tutti-gpu: all of it is in commands.cpp, so that tests can call it.

#include "gpu/commands.hpp"

#include <string>
#include <vector>

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return tutti::gpu::tutti_gpu(arguments);
}
