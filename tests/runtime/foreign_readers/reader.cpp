// Reads files with a runtime's own parser, as each of the file's ranks, and says whether it takes
// them: a line for each file, exit code 1 where one is refused. build.sh puts it together with the
// runtime's sources, which stay where they are.
#ifdef MSCCL_OF_MICROSOFT
#include <msccl_reader.cc> // made by build.sh
#else
#include <msccl/msccl_parser.h>
#endif

#include <fstream>
#include <iterator>
#include <memory>
#include <string>

namespace {

std::string last_warning;

#ifdef MSCCL_OF_MICROSOFT
bool reads(const char* file, int rank, int ranks) {
  const auto algorithm = std::make_unique<mscclAlgorithm>();
  return mscclGetAlgoFromXMLAndSetAlgo(file, algorithm.get(), MAXCHANNELS, rank, ranks) ==
             ncclSuccess &&
         algorithm->isValid;
}
#else
bool reads(const char* file, int rank, int) {
  const auto algorithm = std::make_unique<mscclAlgo>();
  mscclAlgoMeta meta;
  return mscclGetAlgoFromXmlFile(file, algorithm.get(), rank) == ncclSuccess &&
         mscclGetAlgoMetaFromXmlFile(file, &meta) == ncclSuccess;
}
#endif

/// What ngpus="..." says; 0 without it.
int ranks_of(const char* file) {
  std::ifstream in(file);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::size_t at = text.find("ngpus=\"");
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + 7);
}

} // namespace

void note_warning(const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  last_warning = text;
}

int main(int count, char** files) {
  int code = 0;
  for (int f = 1; f < count; ++f) {
    const int ranks = ranks_of(files[f]);
    int rank = 0;
    last_warning = "no ngpus";
    while (rank < ranks && reads(files[f], rank, ranks)) ++rank;
    const bool taken = ranks > 0 && rank == ranks;
    std::printf("%s: %s\n", files[f],
                taken ? "taken" : ("rank " + std::to_string(rank) + ": " + last_warning).c_str());
    if (!taken) code = 1;
  }
  return code;
}
