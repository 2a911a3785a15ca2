// What a page of the documentation shows: files that the reader writes, commands and what they
// print. The tests do what a reader would, in a folder that is empty at first, and compare.
//
//   ```{code-block} toml          a file
//   :caption: pair.toml
//
//   npus = 2
//   ```
//   ```console                    commands, and what a pipe gets of stdout and stderr
//   $ tutti show -t pair.toml
//   pair: 2 NPUs, ...
//   ```
//
// A line `...` stands for any lines, `...` within a line for any text. A run of spaces is as good
// as one space, a run of dashes as two, since a measured value may widen a column. A command may go
// on after a backslash.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

struct ShownStep {
  std::size_t line = 0; ///< of the page, from 1
  std::string file;     ///< what is written; empty: a command
  std::string text;     ///< the file's content, or the command's line for a shell
  std::vector<std::string> output;
};

/// In the order of the page.
[[nodiscard]] std::vector<ShownStep> shown_steps(std::string_view markdown);

/// Empty where `printed` is as shown, else the first line that isn't, in words.
[[nodiscard]] std::string difference(const std::vector<std::string>& shown,
                                     std::string_view printed);

/// Does all steps of a page in a folder of its own, in which `tutti` and `./tutti` are the built
/// command and `links` lead to folders of the repository, as in a clone; a difference fails the
/// test. Returns the number of commands.
std::size_t check_shown_commands(const std::string& page, const std::vector<std::string>& links);

} // namespace tutti
