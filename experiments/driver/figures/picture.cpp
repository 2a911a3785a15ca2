// librsvg takes the SVG as it is, so that a PDF in a paper is the picture of the page. Its PDF has
// no time of its own where SOURCE_DATE_EPOCH says one.
#include "experiments/driver/figures/picture.hpp"

#include "experiments/driver/records/printable.hpp"
#include "experiments/driver/records/shell_word.hpp"
#include "sim/error.hpp"
#include "sim/files/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>

namespace tutti {

namespace {

/// What a command prints, and whether it succeeds.
struct CommandOutput {
  std::string text;
  bool success = false;
};

CommandOutput output_of(const std::string& command) {
  FILE* const pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  CommandOutput output;
  std::array<char, 1 << 16> block;
  while (const std::size_t n = std::fread(block.data(), 1, block.size(), pipe))
    output.text.append(block.data(), n);
  output.success = ::pclose(pipe) == 0;
  return output;
}

/// The picture goes through a file of its own beside the one that is to come: with pipes both ways,
/// each side could wait for the other to read.
std::string converted(const std::string& svg, const std::string& file, const std::string& program) {
  if (!converter_found(program)) throw InputError(fmt::format("{}: {}", file, converter_missing()));
  const std::string source = file + ".svg~";
  write_file(source, svg);
  const CommandOutput output = output_of(
      fmt::format("SOURCE_DATE_EPOCH=0 {} {} <{} 2>&1", program,
                  file.ends_with(".pdf") ? "--format=pdf" : "--zoom=2", shell_word(source)));
  std::filesystem::remove(source);
  if (!output.success)
    throw InputError(fmt::format("{}: {} failed: {}", file, program, printable(output.text)));
  return output.text;
}

} // namespace

std::string svg_of(const Figure& figure) {
  const double height = figure.inches * figure.height / figure.width;
  const std::string size =
      figure.inches > 0
          ? fmt::format("width=\"{:.4g}in\" height=\"{:.4g}in\"", figure.inches, height)
          : fmt::format("width=\"{}\" height=\"{}\"", figure.width, figure.height);
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" {2} viewBox=\"0 0 {0} {1}\" "
                     "font-family=\"{3}\">\n<path fill=\"#fff\" d=\"M0 0h{0}v{1}H0z\"/>\n{4}"
                     "</svg>\n",
                     figure.width, figure.height, size,
                     figure.font.empty() ? "sans-serif" : figure.font, figure.drawing);
}

std::vector<std::string> picture_formats() { return {"svg", "pdf", "png"}; }

bool is_picture_name(const std::string& file) {
  return std::ranges::any_of(
      picture_formats(), [&](const std::string& format) { return file.ends_with("." + format); });
}

bool needs_converter(const std::string& file) {
  return is_picture_name(file) && !file.ends_with(".svg");
}

std::string converter_missing() {
  return "PDF and PNG are made by rsvg-convert, which isn't installed (package librsvg2-bin); SVG "
         "needs nothing";
}

bool converter_found(const std::string& program) {
  return output_of(program + " --version 2>&1").success;
}

void draw(const Figure& figure, const std::string& file, const std::string& program) {
  if (!is_picture_name(file))
    throw InputError(fmt::format("{}: a picture's file name must end in .svg, .pdf or .png", file));
  const std::string svg = svg_of(figure);
  write_file(file, needs_converter(file) ? converted(svg, file, program) : svg);
}

} // namespace tutti
