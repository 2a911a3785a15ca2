#pragma once
#include <cstdint>
namespace tutti::runtime { constexpr std::uint32_t reference_value(std::uint32_t c, std::uint32_t n, std::uint64_t e){ return (std::uint32_t)(c*7+n*3+e%13)%31; } }
