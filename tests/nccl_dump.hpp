// What NCCL_TOPO_DUMP_FILE has of a machine that is also known by name.
#pragma once

#include <fmt/format.h>

#include <string>

namespace tutti {

/// A server of eight H100 as NCCL dumps it: a switch of PCIe for each GPU with its card.
inline std::string dump_of_h100() {
  std::string text = "<system version=\"1\">\n";
  const std::string speed = "link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"";
  for (int g = 0; g < 8; ++g) {
    if (g % 4 == 0)
      text += fmt::format("<cpu numaid=\"{}\" arch=\"x86_64\" vendor=\"GenuineIntel\" "
                          "modelid=\"143\">\n",
                          g / 4);
    text += fmt::format("<pci busid=\"0000:{0}1:00.0\" class=\"0x060400\" {1}>\n"
                        "<pci busid=\"0000:{0}2:00.0\" class=\"0x030200\" device=\"0x2330\" {1}>"
                        "<gpu dev=\"{0}\" sm=\"90\" rank=\"{0}\" gdr=\"1\">"
                        "<nvlink target=\"0000:f0:00.0\" count=\"18\" tclass=\"0x068000\"/>"
                        "</gpu></pci>\n"
                        "<pci busid=\"0000:{0}3:00.0\" class=\"0x020700\" {1}><nic>"
                        "<net name=\"mlx5_{0}\" dev=\"{0}\" speed=\"400000\" gdr=\"1\"/>"
                        "</nic></pci>\n</pci>\n",
                        g, speed);
    if (g % 4 == 3) text += "</cpu>\n";
  }
  return text + "</system>\n";
}

} // namespace tutti
