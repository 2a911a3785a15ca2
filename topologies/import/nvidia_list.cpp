// What `nvidia-smi -L` prints: models, and the slices of GPUs that are cut (MIG).
//
//   GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-...)
//     MIG 3g.20gb     Device  0: (UUID: MIG-...)
//     MIG 3g.20gb     Device  1: (UUID: MIG-...)
//
// A slice is an NPU. Slices of one GPU have its PCIe in common, and no NVLink, nor a way past the
// PCIe to each other (NVIDIA, MIG User Guide: no peer-to-peer, by NVLink or PCIe). GPUs that aren't
// cut have the links of servers of such GPUs, but for cards ("PCIe", "NVL", GeForce).
// Source: nvidia-smi of driver 550.
#include "sim/error.hpp"
#include "sim/text.hpp"
#include "topologies/import/servers.hpp"
#include "topologies/import/text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::topologies {

namespace {

std::string letters_and_digits(std::string_view text) {
  std::string plain = lower_case(text);
  std::erase_if(plain, [](unsigned char c) { return std::isalnum(c) == 0; });
  return plain;
}

} // namespace

std::string_view model_in_name(std::string_view name) {
  const std::string plain = letters_and_digits(name);
  std::string_view found;
  for (const GpuKind& kind : gpu_kinds())
    if (kind.model.size() > found.size() &&
        plain.find(letters_and_digits(kind.model)) != std::string::npos)
      found = kind.model;
  return found;
}

bool is_nvidia_list(std::string_view content) {
  const std::vector<std::string_view> first = first_lines(content, 1);
  return !first.empty() && first.front().starts_with("GPU ") &&
         first.front().find("(UUID: GPU-") != std::string_view::npos;
}

TopologyParts read_nvidia_list(const ForeignFile& given, Assumptions& assumed) {
  ForeignFile file = given;
  std::string xml = "<system><cpu numaid=\"0\">", name, first_name;
  std::string_view first_model; // lives in the table of kinds
  std::size_t gpus = 0, ranks = 0, line = 0;
  bool is_card = false, is_cut = false;
  for (const std::string_view text : split(file.content, '\n'))
    is_cut = is_cut || trimmed(text).starts_with("MIG ");
  std::string slices; // of the GPU that is open
  const auto close = [&] {
    if (gpus == 0) return;
    if (is_cut && slices.empty()) slices = fmt::format("<gpu rank=\"{}\" mig=\"0\"/>", ranks++);
    if (is_card && slices.empty()) slices = fmt::format("<gpu rank=\"{}\"/>", ranks++);
    xml += slices + "</pci>";
    slices.clear();
  };
  for (const std::string_view text : split(file.content, '\n')) {
    const std::string_view words = trimmed(text);
    if (words.starts_with("GPU ")) {
      close();
      const std::size_t colon = words.find(':');
      name = words.substr(std::min(colon + 1, words.size()), words.find('(') - colon - 1);
      const std::string plain = lower_case(name);
      is_card = plain.find("pcie") != std::string::npos || plain.find("nvl") != std::string::npos ||
                plain.find("geforce") != std::string::npos;
      const std::string_view model = model_in_name(name);
      if (gpus > 0 && (model != first_model || (model.empty() && name != first_name)))
        throw InputError(fmt::format("{}:{}:1: \"{}\" after \"{}\": a list is read as one kind of "
                                     "GPU; of two kinds make two lists, a.txt+b.txt",
                                     file.source, line + 1, trimmed(name), trimmed(first_name)));
      first_name = name;
      first_model = model;
      if (gpus++ == 0 && !file.options.contains("npu")) {
        if (model.empty())
          assumed.add("GPUs", fmt::format("\"{}\" isn't known (npu=... says what it is like)",
                                          trimmed(name)));
        else
          file.options["npu"] = model;
      }
      xml += fmt::format("<pci busid=\"{}\" class=\"0x030200\" vendor=\"0x10de\"", gpus - 1);
      if (const std::optional<GpuKind> kind = asked_gpu_kind(file))
        xml += fmt::format(" bandwidth=\"{}\"",
                           static_cast<double>(pcie_rate(kind->pcie, 16).bytes_per_second) / 1e9);
      xml += '>';
    } else if (words.starts_with("MIG ") && gpus > 0) {
      slices += fmt::format("<gpu rank=\"{}\" mig=\"1\"/>", ranks++);
    } else if (!words.empty()) {
      throw InputError(fmt::format("{}:{}:1: neither \"GPU 0: NAME (UUID: ...)\" nor \"MIG ...\"",
                                   file.source, line + 1));
    }
    xml += '\n';
    ++line;
  }
  close();
  assumed.add("CPUs", "one for all GPUs, with PCIe of 16 lanes");
  if (is_cut)
    assumed.add("slices (MIG)", "those of a GPU share its PCIe, which all of their data crosses");
  return read_as_nccl(file, xml + "</cpu></system>", assumed, "GPUs as nvidia-smi -L lists them.");
}

} // namespace tutti::topologies
