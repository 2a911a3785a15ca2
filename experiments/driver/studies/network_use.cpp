// Every kind of study that uses a network shows what its best run did to it, by the same picture.
#include "experiments/driver/studies/study.hpp"

namespace tutti {

Figure NetworkUse::figure(LinkQuantity quantity) const {
  return network_figure(heading, *topology, layout_of(*topology),
                        link_values(links, duration, quantity), dead);
}

} // namespace tutti
