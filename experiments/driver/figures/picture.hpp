// A picture and the files that it becomes: SVG by ourselves, PDF and PNG from that by librsvg's
// rsvg-convert. The same figure gives the same bytes of SVG on every machine, and of PDF with the
// same librsvg and fonts.
#pragma once

#include <string>
#include <vector>

namespace tutti {

/// What a Canvas holds: elements of SVG, places in points; and of charts what they show.
struct Figure {
  std::string drawing;
  int width = 0, height = 0;
  std::vector<std::vector<std::string>> data = {}; ///< rows of a CSV; empty: none
  double inches = 0;     ///< of width in print; 0: as many points as it has
  std::string font = {}; ///< a family; empty: sans-serif
};

/// The picture's bytes of SVG: its texts are texts, all that it needs is in it.
[[nodiscard]] std::string svg_of(const Figure& figure);

/// svg, pdf, png.
[[nodiscard]] std::vector<std::string> picture_formats();
/// Whether a file name ends in a dot and one of them.
[[nodiscard]] bool is_picture_name(const std::string& file);
/// Whether draw() needs the converter for this file, and whether that is there.
[[nodiscard]] bool needs_converter(const std::string& file);
[[nodiscard]] std::string converter_missing(); ///< in words
[[nodiscard]] bool converter_found(const std::string& program = "rsvg-convert");

/// Writes the picture in the format that the file name ends in, through a temporary and a rename;
/// PNG has two pixels per point, for sharp text.
/// Errors: InputError for another ending, for PDF and PNG where `program` isn't found or with its
/// own words where it fails, those of write_file().
void draw(const Figure& figure, const std::string& file,
          const std::string& program = "rsvg-convert");

} // namespace tutti
