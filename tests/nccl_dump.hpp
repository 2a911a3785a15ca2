// What NCCL_TOPO_DUMP_FILE has of a machine that is also known by name.
#pragma once

#include <string>

namespace tutti {

/// A server of eight H100 as NCCL dumps it: a switch of PCIe for each GPU with its card.
inline std::string dump_of_h100() {
  std::string text = "<system version=\"1\">\n";
  const std::string speed = " link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"";
  for (int g = 0; g < 8; ++g) {
    const std::string gpu = std::to_string(g), bus = " busid=\"0000:" + gpu;
    if (g % 4 == 0)
      text += "<cpu numaid=\"" + std::to_string(g / 4) +
              "\" arch=\"x86_64\" vendor=\"GenuineIntel\" modelid=\"143\">\n";
    text += "<pci" + bus + "1:00.0\" class=\"0x060400\"" + speed + ">\n";
    text += "<pci" + bus + "2:00.0\" class=\"0x030200\" device=\"0x2330\"" + speed +
            "><gpu dev=\"" + gpu + "\" sm=\"90\" rank=\"" + gpu +
            "\" gdr=\"1\"><nvlink target=\"0000:f0:00.0\" count=\"18\" tclass=\"0x068000\"/>"
            "</gpu></pci>\n";
    text += "<pci" + bus + "3:00.0\" class=\"0x020700\"" + speed + "><nic><net name=\"mlx5_" + gpu +
            "\" dev=\"" + gpu + "\" speed=\"400000\" gdr=\"1\"/></nic></pci>\n</pci>\n";
    if (g % 4 == 3) text += "</cpu>\n";
  }
  return text + "</system>\n";
}

} // namespace tutti
