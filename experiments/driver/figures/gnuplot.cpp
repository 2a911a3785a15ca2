// gnuplot runs as a child with files for all three streams: with pipes, parent and child could each
// wait for the other to read. The same bytes come out for everybody: without the user's settings,
// and in the encoding and fonts that the script sets.
#include "experiments/driver/figures/gnuplot.hpp"

#include "sim/error.hpp"
#include "sim/files/files.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <vector>

namespace tutti {

namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

std::string words(int error) { return std::generic_category().message(error); }

/// A nameless temporary with this content, to be read from its start.
File temporary(std::string_view content) {
  File file(std::tmpfile());
  if (!file || std::fwrite(content.data(), 1, content.size(), file.get()) != content.size() ||
      std::fflush(file.get()) != 0)
    throw InputError(fmt::format("cannot write a temporary file: {}", words(errno)));
  std::rewind(file.get());
  return file;
}

std::string content_of(std::FILE* file) {
  std::string content;
  std::array<char, 1 << 16> block;
  std::rewind(file);
  while (const std::size_t n = std::fread(block.data(), 1, block.size(), file))
    content.append(block.data(), n);
  return content;
}

struct ChildOutput {
  int spawn_error = 0; ///< errno of starting it; the rest is then empty
  bool success = false;
  std::string output, messages;
};

/// Runs a program to its end. All three streams are files, so that nobody waits for anybody.
ChildOutput run_child(std::vector<std::string> arguments, std::string_view input) {
  const File in = temporary(input), out = temporary(""), messages = temporary("");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::array<std::FILE*, 3> streams{in.get(), out.get(), messages.get()};
  for (int stream = 0; stream < 3; ++stream)
    posix_spawn_file_actions_adddup2(&actions, fileno(streams[static_cast<std::size_t>(stream)]),
                                     stream);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  pid_t child = 0;
  ChildOutput result;
  result.spawn_error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (result.spawn_error != 0) return result;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.success = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  result.output = content_of(out.get());
  result.messages = content_of(messages.get());
  return result;
}

// Cairo takes a point for 4/3 pixels: at 1.5 letters are as large as in SVG of half the size.
std::string terminal(const Figure& figure, PictureFormat format) {
  if (format == PictureFormat::svg)
    return fmt::format("set terminal svg noenhanced size {},{} font 'sans-serif,11' fontscale "
                       "{:.3f} background rgb 'white'\n",
                       figure.width, figure.height, figure.text_scale);
  return fmt::format("set terminal pngcairo noenhanced size {},{} font 'sans-serif,11' fontscale "
                     "{:.3f} linewidth 2 pointscale 2 background rgb 'white'\n",
                     2 * figure.width, 2 * figure.height, 1.5 * figure.text_scale);
}

/// gnuplot embeds a matrix in SVG as a small picture, which viewers blur when they enlarge it
/// unless they are told not to.
std::string with_sharp_images(std::string svg) {
  constexpr std::string_view tag = "<image ", attribute = "image-rendering='pixelated' ";
  for (std::size_t at = svg.find(tag); at != std::string::npos; at = svg.find(tag, at + 1))
    svg.insert(at + tag.size(), attribute);
  return svg;
}

/// gnuplot names itself and its data blocks in <title>, which browsers show over the picture.
std::string without_titles(std::string svg) {
  constexpr std::string_view begin = "<title>", end = "</title>";
  std::string result;
  std::size_t from = 0;
  for (std::size_t at = svg.find(begin); at != std::string::npos; at = svg.find(begin, from)) {
    const std::size_t close = svg.find(end, at);
    if (close == std::string::npos) break;
    result.append(svg, from, at - from);
    from = close + end.size();
    if (from < svg.size() && svg[from] == '\n') ++from;
  }
  return result.append(svg, from);
}

/// gnuplot's messages on one line, without its prompts and the caret under the mistake.
std::string on_one_line(std::string_view messages) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(messages, '\n')) {
    const std::string_view text = trimmed(line);
    if (!text.empty() && text != "^") lines.emplace_back(text);
  }
  return joined(lines, " ");
}

} // namespace

std::string rendered(const Figure& figure, PictureFormat format, const std::string& program) {
  // -d: no settings of the user's, so that everyone gets the same picture.
  ChildOutput child =
      run_child({program, "-d"}, "set encoding utf8\n" + terminal(figure, format) + figure.script);
  if (child.spawn_error == ENOENT)
    throw InputError(fmt::format("gnuplot isn't installed: no program \"{}\" in PATH (install the "
                                 "package gnuplot-nox or gnuplot, or run without figures)",
                                 program));
  if (child.spawn_error != 0)
    throw InputError(fmt::format("cannot run {}: {}", program, words(child.spawn_error)));
  if (!child.success || child.output.empty())
    throw InputError(fmt::format("{} failed: {}", program, on_one_line(child.messages)));
  return format == PictureFormat::svg ? without_titles(with_sharp_images(std::move(child.output)))
                                      : std::move(child.output);
}

void draw(const Figure& figure, const std::string& file) {
  PictureFormat format;
  if (file.ends_with(".svg"))
    format = PictureFormat::svg;
  else if (file.ends_with(".png"))
    format = PictureFormat::png;
  else
    throw InputError(fmt::format("{}: a picture's file name must end in .svg or .png", file));
  write_file(file, rendered(figure, format));
}

bool gnuplot_found(const std::string& program) {
  return run_child({program, "--version"}, "").success;
}

} // namespace tutti
