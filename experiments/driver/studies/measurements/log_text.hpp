// The text of a log, without what terminals, launchers, collectors of logs and web pages add to it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

using LogWords = std::vector<std::string_view>;
[[nodiscard]] LogWords words_of(std::string_view line);

/// UTF-8 with "\n" at the ends of lines: from UTF-16 or UTF-8 with or without a byte order mark,
/// "\r\n", colours of a terminal (also where its escape character has become "^[" or "\e"), tags
/// of HTML, no-break spaces. Lines keep their numbers.
[[nodiscard]] std::string plain_text(std::string_view bytes);

/// A line without what stands before it: ranks ("[1,0]<stdout>:", "[prterun-a-1@1,0]<stdout>: ",
/// "3: ", "[0] "), pods ("[pod/name/container] "), hosts ("host: "), time stamps in the forms of
/// ISO, syslog, date and container runtimes, "> " of a quotation; of a row of a Markdown table only
/// the cells.
[[nodiscard]] std::string without_prefix(std::string_view line);

/// Where "Rank 3 Pid ..." begins in a line, as in nccl-tests' list of devices.
[[nodiscard]] std::optional<std::size_t> device_in(const LogWords& words);

/// Where a message of NCCL's begins: "host:pid:tid [0] NCCL INFO ...", or what is left of that;
/// npos without one. `hosts`: known names, since what runs into a message may end with digits.
[[nodiscard]] std::size_t message_in(std::string_view text, const std::vector<std::string>& hosts);

} // namespace tutti
