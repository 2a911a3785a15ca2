// No algorithm of Tutti's has a dot, a slash or a colon in its name, so that whatever has one comes
// from outside: no list has to be asked, and a slip is told as the missing file that it is.
#include "experiments/driver/outside/outside.hpp"

#include "experiments/driver/outside/program_algorithm.hpp"
#include "experiments/driver/outside/schedule_files.hpp"
#include "experiments/driver/outside/shared_object.hpp"
#include "experiments/driver/records/output.hpp"
#include "runtime/formats/msccl/xml.hpp"
#include "sim/error.hpp"
#include "sim/processes/program_keeper.hpp"
#include "sim/text.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace tutti {

namespace {

constexpr std::string_view program_prefix = "program:", file_prefix = "file:", python = ".py:";

/// Where what reads XML isn't built, it says so when it is called: now, not in the midst of cases.
void require_xml() {
  try {
    (void)runtime::read_msccl_files("", "", Bytes{1});
  } catch (const InputError&) { // it is there
  }
}

/// With a slash, for execvp() and dlopen() look elsewhere for what has none.
std::string path_of(std::string_view file) {
  return (file.find('/') == file.npos ? "./" : "") + std::string(file);
}

void require_file(const std::string& file, bool is_executed) {
  std::error_code error; // of a name that is too long
  if (!std::filesystem::is_regular_file(file, error))
    throw InputError(fmt::format("there is no file {}", file));
  if (is_executed && ::access(file.c_str(), X_OK) != 0)
    throw InputError(fmt::format("{0} can't be executed (chmod +x {0})", file));
}

AlgorithmRow row_of(std::shared_ptr<const OutsideAlgorithm> outside) {
  AlgorithmRow row{};
  row.name = outside->name;
  row.collectives = basic_collectives();
  row.chunk_multiple = 1;
  row.needs = "any";
  row.source = "from outside";
  row.outside = std::move(outside);
  return row;
}

AlgorithmRow program_row(const std::string& name, std::string file,
                         std::vector<std::string> arguments,
                         std::shared_ptr<ProgramKeeper> keeper) {
  const auto program = std::make_shared<ProgramAlgorithm>(name, std::move(file),
                                                          std::move(arguments), std::move(keeper));
  return row_of(std::make_shared<OutsideAlgorithm>(
      OutsideAlgorithm{name,
                       [program](const Topology& topology, const Collective& collective,
                                 const SynthesisOptions& options) {
                         return program->run(topology, collective, options);
                       },
                       [program](const Topology& topology, const Collective& collective,
                                 const SynthesisOptions& options) {
                         return program->chunk_candidates(topology, collective, options);
                       }}));
}

} // namespace

std::optional<OutsideName> outside_name(std::string_view text) {
  using Kind = OutsideName::Kind;
  if (text.starts_with(file_prefix)) {
    OutsideName name{Kind::schedules, std::string(text.substr(file_prefix.size())), {}, {}, {}};
    if (name.file.empty()) throw InputError("\"file:\" needs the name of a file");
    require_pattern(name.file);
    return name;
  }
  if (text.starts_with(program_prefix)) {
    OutsideName name;
    for (const std::string_view word : split(text.substr(program_prefix.size()), ' '))
      if (!word.empty()) name.arguments.emplace_back(word);
    if (name.arguments.empty()) throw InputError("\"program:\" needs the name of a program");
    name.file = std::move(name.arguments.front());
    name.arguments.erase(name.arguments.begin());
    return name;
  }
  if (const std::size_t at = text.find(python); at != text.npos) {
    const std::size_t end = at + python.size() - 1;
    return OutsideName{
        Kind::program, path_of(text.substr(0, end)), {}, std::string(text.substr(end + 1)), {}};
  }
  if (text.find_first_of("./") == text.npos) return std::nullopt;
  return OutsideName{
      text.ends_with(".so") ? Kind::shared_object : Kind::program, path_of(text), {}, {}, {}};
}

ProgramGate program_gate(bool all, bool announcing) {
  ProgramGate gate;
  gate.keeper = std::make_shared<ProgramKeeper>();
  if (all) gate.admit = [](const std::string&, const std::string&) {};
  if (!announcing) return gate;
  const auto said = std::make_shared<std::set<std::string>>();
  gate.admit = [said, admit = gate.admit, keeper = gate.keeper](const std::string& program,
                                                                const std::string& file) {
    admit(program, file);
    if (!said->insert(program).second) return;
    print_message(fmt::format("{} runs the program {}", file,
                              std::filesystem::path(program).lexically_normal().string()));
    keeper->start();
  };
  return gate;
}

AlgorithmRow outside_algorithm(const std::string& name, const OutsideName& what,
                               std::shared_ptr<ProgramKeeper> keeper) {
  using Kind = OutsideName::Kind;
  if (what.kind == Kind::schedules) {
    if (what.file.find(".xml") != what.file.npos) require_xml();
    AlgorithmRow row = row_of(std::make_shared<OutsideAlgorithm>(
        OutsideAlgorithm{name,
                         [file = what.file, folder = what.folder](const Topology& topology,
                                                                  const Collective& collective,
                                                                  const SynthesisOptions& options) {
                           return schedule_from_file(folder, file, topology, collective, options);
                         },
                         {}}));
    row.chooses_chunks = row.imitates = true;
    return row;
  }
  const std::string& path = what.file;
  if (path.find('/') != path.npos)
    require_file(path, what.kind == Kind::program && what.function.empty());
  if (!what.function.empty()) // by Debian's own interpreter, which sees its packages
    return program_row(name, "/usr/bin/python3", {"-m", "tutti.serve", path + ":" + what.function},
                       std::move(keeper));
  if (what.kind == Kind::program) return program_row(name, path, what.arguments, std::move(keeper));
  return row_of(std::make_shared<OutsideAlgorithm>(
      OutsideAlgorithm{name,
                       [path](const Topology& topology, const Collective& collective,
                              const SynthesisOptions& options) {
                         return run_shared_object(path, topology, collective, options);
                       },
                       [path](const Topology& topology, const Collective& collective,
                              const SynthesisOptions& options) {
                         return chunk_candidates_of(path, topology, collective, options);
                       }}));
}

} // namespace tutti
