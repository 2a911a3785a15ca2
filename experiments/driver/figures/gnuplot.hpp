// Pictures by gnuplot, run as a child process. A Figure is made by heatmap.hpp or bars.hpp and
// drawn here as SVG or PNG: same figure and same gnuplot, same bytes (no time stamp, no user
// settings).
#pragma once

#include <cstdint>
#include <string>

namespace tutti {

enum class PictureFormat : std::uint8_t { svg, png };

/// What to draw: gnuplot commands with their data inline, without terminal and output.
struct Figure {
  std::string script;
  int width = 0, height = 0; ///< points in SVG; PNG has two pixels per point, for sharp text
  double text_scale = 1;     ///< of letters: what is printed smaller needs larger ones
};

/// The picture's bytes.
/// Errors: InputError "gnuplot isn't installed: ..." where `program` isn't found, or with gnuplot's
/// own words where it refuses the script.
[[nodiscard]] std::string rendered(const Figure& figure, PictureFormat format,
                                   const std::string& program = "gnuplot");

/// Writes the picture in the format that the file name ends in (`.svg`, `.png`), through a
/// temporary and a rename. Errors: InputError for another ending, those of rendered() and of
/// write_file().
void draw(const Figure& figure, const std::string& file);

/// True where draw() will find gnuplot: lets a driver say so once and go on without pictures.
[[nodiscard]] bool gnuplot_found(const std::string& program = "gnuplot");

} // namespace tutti
