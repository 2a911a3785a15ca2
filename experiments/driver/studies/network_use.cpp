// Every kind of study that uses a network shows what its best run did to it, by the same picture.
#include "experiments/driver/studies/study.hpp"

namespace tutti {

Figure NetworkUse::figure() const {
  return network_figure(heading, *topology, layout_of(*topology), values, dead);
}

LinkValues shares_of(std::span<const LinkUse> links, Time duration) {
  LinkValues values{LinkQuantity::utilisation, {}};
  const double whole = static_cast<double>(duration.ps);
  for (const LinkUse& link : links)
    values.links.push_back(whole > 0 ? static_cast<double>(link.busy.ps) / whole : 0);
  return values;
}

} // namespace tutti
