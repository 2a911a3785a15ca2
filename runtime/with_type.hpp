// From the element type and the combination that a run is asked for to the code for them.
#pragma once

#include "runtime/data.hpp"

#include <cstdint>
#include <type_traits>

namespace tutti::runtime {

/// Calls `body` with a value of the element's C++ type.
template <typename Body> auto with_type(ElementType type, const Body& body) {
  switch (type) {
  case ElementType::float32: return body(float{});
  case ElementType::float64: return body(double{});
  case ElementType::int32: return body(std::int32_t{});
  case ElementType::uint8: break;
  }
  return body(std::uint8_t{});
}

/// And with the combination as a std::integral_constant.
template <typename Body> auto with_type(ElementType type, Combine combine, const Body& body) {
  return with_type(type, [&](auto zero) {
    return combine == Combine::sum ? body(zero, std::integral_constant<Combine, Combine::sum>{})
                                   : body(zero, std::integral_constant<Combine, Combine::max>{});
  });
}

} // namespace tutti::runtime
