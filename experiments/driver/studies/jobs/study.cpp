// [[jobs]] from its tables to what came of them.
#include "experiments/driver/studies/jobs/study.hpp"

#include "experiments/driver/cli/stage_display.hpp"
#include "experiments/driver/records/file_stem.hpp"
#include "experiments/driver/studies/jobs/figure.hpp"
#include "experiments/driver/studies/jobs/json.hpp"
#include "experiments/driver/studies/jobs/records.hpp"
#include "experiments/driver/studies/jobs/table.hpp"

#include <nlohmann/json.hpp>

#include <memory>

namespace tutti {

void require_sound(const JobStudy& study, Networks networks) {
  require_sound(study, networks[study.topology].topology);
}

namespace {

JobStudyEvaluation evaluate(JobStudy study, const StudyRun& how) {
  const LabelledTopology& network = how.networks[study.topology];
  InterruptibleWork work(how.interrupts, study.label, how.progress);
  work.watch(study.options);
  return evaluate_jobs(study, network.label, network.topology, how.refusals);
}

} // namespace

StudyResult run_study(const JobStudy& study, const StudyRun& how) {
  const auto made = std::make_shared<const JobStudyEvaluation>(evaluate(study, how));
  StudyResult result;
  result.files = {{"jobs", job_records({made.get(), 1})}};
  result.json_key = "jobs";
  result.json = [made] { return nlohmann::ordered_json::array({jobs_json(*made)}); };
  result.story = [made](const TableForm& form) { return jobs_text(*made, form); };
  result.figures = [made] {
    std::vector<NamedFigure> figures;
    if (has_schedule(*made)) figures.push_back({file_stem("jobs", made->label), job_figure(*made)});
    return figures;
  };
  result.defects = problems_of(*made);
  result.nothing_made = nothing_made(*made);
  return result;
}

} // namespace tutti
