// The keys of [[fits]] that `tutti fit` takes.
#include "experiments/driver/studies/keys.hpp"
#include "experiments/driver/requests/collective_request.hpp"
#include "experiments/driver/studies/fits/study.hpp"

namespace tutti {

std::vector<StudyOption> FitStudy::options_of_command() {
  using V = KeyValue<FitStudy>;
  static constexpr Key<FitStudy> rows[]{
      {"measured", "log", OptionForm::repeated,
       "one or more files: what nccl-tests or rccl-tests printed, JSON of NCCL's Inspector, or a "
       "table in CSV",
       nullptr, true},
      {"collective", "-c,--collective", V(OptionForm::text, nullptr, collective_names),
       "collective of logs that don't name theirs; of tables and the Inspector's JSON, only this "
       "one is read"},
      {"only", "--only", OptionForm::pairs,
       "only those rows of tables that have this text in this column: hardware=H100; repeatable: "
       "all must match"},
      {"sizes", "--size", OptionForm::text,
       "sizes of the rows that are fitted: 64KiB..1GiB; default 1B..1GiB; other rows are only "
       "predicted"},
      {"free", "--free", OptionForm::texts,
       "constants that are fitted, * for any text: nvlink4.*,launch.h100; default all"},
      {"transport", "--transport", OptionForm::text,
       "transport that the fit starts from, and whose constants stay where the rows don't "
       "determine them: nccl, rccl or a TOML file; default: the vendor's"},
      {"algorithm", "-a,--algorithm", V(OptionForm::text, nullptr, algorithm_names),
       "algorithm that predicts; default nccl, on AMD's GPUs rccl"},
      settings_option,
      {"name", "--name", OptionForm::text, "name of the fitted transport; default fitted"},
      {"from", "--from", OptionForm::texts,
       "smallest size of the rows whose errors are reported, or several: 1MiB,256MiB; default "
       "1MiB"}};
  return command_options(rows);
}

} // namespace tutti
