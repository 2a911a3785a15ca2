// Whether a cache can be written is tried before anything is made: those who write to it later are
// many, some in processes of their own, and each would say so or none.
#include "experiments/driver/cli/cache_option.hpp"

#include "experiments/driver/cache/schedule_cache.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/records/output.hpp"
#include "sim/error.hpp"

#include <fmt/format.h>

namespace tutti {

std::string cache_folder(const std::optional<std::string>& option) {
  return usable_cache(!option ? default_schedule_cache() : *option == "none" ? "" : *option);
}

std::string usable_cache(const std::string& folder) {
  if (folder.empty() || schedule_cache_size().count == 0) return folder;
  try {
    require_writable(folder + "/blocks");
  } catch (const InputError& error) { // what is there may still be read
    print_message(fmt::format("schedules aren't remembered: {}", error.what()));
  }
  return folder;
}

} // namespace tutti
