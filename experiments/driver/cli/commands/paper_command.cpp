// `tutti paper`: a paper's figures and tables beside what its experiments gave, as one page.
#include "experiments/driver/cli/catalogue.hpp"
#include "experiments/driver/cli/commands.hpp"
#include "experiments/driver/records/output.hpp"
#include "experiments/driver/results/paper_page.hpp"
#include "sim/files/files.hpp"

#include <fmt/format.h>

namespace tutti {

int paper_command(const PaperArguments& arguments) {
  const std::string source = find_paper(arguments.paper);
  const Paper paper = read_paper(source, source == arguments.paper ? "" : arguments.paper);
  const std::string file = arguments.output.value_or(paper.folder_of("out") + "/paper.html");
  write_file(file, paper_page(paper, arguments.results));
  print_text(fmt::format("written: {}\n", file));
  return 0;
}

} // namespace tutti
