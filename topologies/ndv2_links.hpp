// The NVLinks of DGX-1 and Azure NDv2 (Shah et al. 2023, TACCL, Fig. 5a), by GPU within a machine.
#pragma once

#include <array>
#include <utility>

namespace tutti::topologies {

inline constexpr std::array<std::pair<int, int>, 8> double_nvlinks{
    {{0, 1}, {0, 4}, {1, 3}, {2, 3}, {2, 6}, {4, 5}, {5, 7}, {6, 7}}};
inline constexpr std::array<std::pair<int, int>, 8> single_nvlinks{
    {{0, 2}, {0, 3}, {1, 2}, {1, 5}, {3, 7}, {4, 6}, {4, 7}, {5, 6}}};

} // namespace tutti::topologies
