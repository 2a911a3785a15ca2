// The keys of [[fits]] that `tutti fit` takes.
#include "experiments/driver/studies/options.hpp"
#include "experiments/driver/studies/fits/study.hpp"

#include <array>

namespace tutti {

namespace {

constexpr std::array fit_options{
    StudyOption{"log", "measured", OptionForm::repeated,
                "what nccl-tests or rccl-tests printed, JSON of NCCL's Inspector, or a table in "
                "CSV; several of them",
                nullptr, true},
    StudyOption{"-c,--collective", "collective", OptionForm::text,
                "of logs that don't say theirs; of tables and of the Inspector only this one"},
    StudyOption{"--only", "only", OptionForm::pairs,
                "of tables: rows whose column holds the text, hardware=H100; repeated: all"},
    StudyOption{
        "--size", "sizes", OptionForm::text,
        "of rows that are fitted: 64KiB..1GiB; default 1B..1GiB; others are predicted only"},
    StudyOption{"--free", "free", OptionForm::texts,
                "constants that are fitted, * for any text: nvlink4.*,launch.h100; default all"},
    StudyOption{"--transport", "transport", OptionForm::text,
                "where the fit begins, and what stays where rows determine nothing: nccl, rccl or "
                "a TOML file; default that of the vendor"},
    StudyOption{"-a,--algorithm", "algorithm", OptionForm::text,
                "that predicts; default nccl, on AMD's GPUs rccl"},
    settings_option,
    StudyOption{"--name", "name", OptionForm::text, "of the transport; default fitted"},
    StudyOption{"--from", "from", OptionForm::texts,
                "errors are reported for rows of so much and more: 1MiB,256MiB; default 1MiB"}};

} // namespace

std::span<const StudyOption> FitStudy::options_of_command() { return fit_options; }

} // namespace tutti
