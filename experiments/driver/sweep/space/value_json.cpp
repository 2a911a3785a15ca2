// The store, a selection's file and --json write the same numbers, which read back as the same.
#include "experiments/driver/sweep/space/value_json.hpp"

#include "sim/expressions/whole_number.hpp"

#include <cmath>
#include <cstdint>

namespace tutti::sweep {

nlohmann::ordered_json value_json(double number) {
  if (!std::isfinite(number)) return nullptr;
  if (is_whole(number)) return static_cast<std::int64_t>(number);
  return number;
}

nlohmann::ordered_json value_json(const Value& value) {
  switch (value.kind) {
  case Value::Kind::number: return value_json(value.number);
  case Value::Kind::boolean: return value.number != 0;
  case Value::Kind::text: break;
  }
  return value.text;
}

} // namespace tutti::sweep
