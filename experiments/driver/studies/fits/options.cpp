// The keys of [[fits]] that `tutti fit` takes.
#include "experiments/driver/studies/options.hpp"
#include "experiments/driver/studies/fits/study.hpp"

#include <array>

namespace tutti {

namespace {

constexpr std::array fit_options{
    StudyOption{"log", "measured", OptionForm::repeated,
                "one or more files: what nccl-tests or rccl-tests printed, JSON of NCCL's "
                "Inspector, or a table in CSV",
                nullptr, true},
    StudyOption{"-c,--collective", "collective", OptionForm::text,
                "collective of logs that don't name theirs; of tables and the Inspector's JSON, "
                "only this one is read"},
    StudyOption{"--only", "only", OptionForm::pairs,
                "only those rows of tables that have this text in this column: hardware=H100; "
                "repeatable: all must match"},
    StudyOption{"--size", "sizes", OptionForm::text,
                "sizes of the rows that are fitted: 64KiB..1GiB; default 1B..1GiB; other rows are "
                "only predicted"},
    StudyOption{"--free", "free", OptionForm::texts,
                "constants that are fitted, * for any text: nvlink4.*,launch.h100; default all"},
    StudyOption{"--transport", "transport", OptionForm::text,
                "transport that the fit starts from, and whose constants stay where the rows don't "
                "determine them: nccl, rccl or a TOML file; default: the vendor's"},
    StudyOption{"-a,--algorithm", "algorithm", OptionForm::text,
                "algorithm that predicts; default nccl, on AMD's GPUs rccl"},
    settings_option,
    StudyOption{"--name", "name", OptionForm::text, "name of the fitted transport; default fitted"},
    StudyOption{"--from", "from", OptionForm::texts,
                "smallest size of the rows whose errors are reported, or several: 1MiB,256MiB; "
                "default 1MiB"}};

} // namespace

std::span<const StudyOption> FitStudy::options_of_command() { return fit_options; }

} // namespace tutti
