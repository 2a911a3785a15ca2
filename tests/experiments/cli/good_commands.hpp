// Good input for every command: commands, and the files that they read.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tutti {

/// Name and content, in the folder in which commands run.
const std::vector<std::pair<std::string, std::string>>& written_files();
/// What follows `tutti`, with blanks between words.
const std::vector<std::string>& good_commands();

} // namespace tutti
