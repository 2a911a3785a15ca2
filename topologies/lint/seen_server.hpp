// A server as a file lists it, for rules that look for what is odd (topologies/lint/lint.hpp): what
// the network made of it no longer shows.
#pragma once

#include "sim/units.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tutti::topologies {

struct SeenGpu {
  std::string place;  ///< "dump.xml:12"
  std::string name;   ///< "GPU 5 (dev 1, rank 5, busid 0009:06:00.0)"
  std::string model;  ///< "sm 103"; empty: the file doesn't say
  std::string device; ///< host and bus: GPUs of one device are ranks that share it
  std::size_t cpu = 0;
  int links = 0;                 ///< of its own, wherever they lead
  std::map<std::size_t, int> to; ///< those to other GPUs of the file, by index
  Bandwidth pcie;                ///< the narrowest on the way to its CPU; 0: not said
};

struct SeenCard {
  std::string place, name; ///< "dump.xml:12", "card mlx5_0 (dev 0)"
  std::size_t cpu = 0;
  std::string first; ///< where it was listed before; empty: nowhere
};

/// A value that no part has.
struct SeenDoubt {
  std::string place;
  std::string what;  ///< "link_width \"0\""
  std::string where; ///< "<pci> 0000:a3:00.0"
  std::string taken; ///< for what: "16 lanes"
};

struct SeenServer {
  std::string link = "NVLink";    ///< what GPUs' own links are called
  std::vector<SeenGpu> gpus;      ///< by NPU
  std::vector<SeenCard> cards;    ///< in the order of the file
  std::vector<SeenDoubt> doubts;  ///< the same
  std::vector<std::string> hosts; ///< of each CPU
};

} // namespace tutti::topologies
