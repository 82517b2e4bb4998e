#include <nlohmann/json.hpp>

#include "conformance/case.h"
#include "conformance/version.h"
#include "report/bisect/bisection_json.h"
#include "report/bounded.h"
#include "report/json_text.h"
#include "report/judgement_json.h"
#include "report/run/run_format.h"
#include "tensor/printable.h"

namespace grurun::report {

namespace {

using Json = nlohmann::ordered_json;
using conformance::Verdict;
using conformance::verdict_name;

Json run_output_json(const std::string& name, const Value& value, const trial::Judgement& judgement) {
  Json out = {{"name", printable_name(name)},
              {"type", printable(value.type().to_string())},
              {"shape", nullptr},
              {"compared", judgement.compared}};
  if (value.is_tensor()) out["shape"] = value.tensor().shape();
  if (judgement.compared) add_comparison(out, judgement.comparison, judgement.random);
  return out;
}

}  // namespace

const char* RunReport::verdict() const {
  // What a wrong argument keeps from being written says nothing of the outputs.
  if (error && error->kind() != ErrorKind::usage) {
    if (error->kind() == ErrorKind::invalid_model) return verdict_name(Verdict::invalid);
    if (error->kind() == ErrorKind::unsupported) return verdict_name(Verdict::unsupported);
    if (error->kind() == ErrorKind::limit) return verdict_name(Verdict::timed_out);
    return verdict_name(Verdict::crashed);
  }
  if (!compares && !bisection) return "ran";
  return verdict_name(differs() ? Verdict::differs : Verdict::passed);
}

bool RunReport::differs() const {
  return outcome.differs() || (bisection && bisection->differs());
}

int RunReport::exit_status() const {
  if (error) return exit_code(error->kind());
  return differs() ? 1 : 0;
}

std::string run_json(const RunReport& run) {
  Json out = {{"format", 1},
              {"grurun", conformance::version()},
              {"verdict", run.verdict()},
              {"exit_status", run.exit_status()},
              {"message", run.error ? printable(run.error->what()) : ""},
              {"model", printable(run.model)}};
  out["outputs"] = Json::array();
  const std::size_t outputs = run.outcome.outputs.size();
  if (outputs > most_in_json) out["outputs_left_out"] = outputs - most_in_json;
  for (std::size_t i = 0; i < std::min(outputs, most_in_json); ++i)
    out["outputs"].push_back(
        run_output_json(run.outputs[i], run.outcome.outputs[i], run.outcome.judgements[i]));
  out["diagnosis"] = Json::array();
  for (const trial::Explanation& finding : run.reasons) out["diagnosis"].push_back(reason_json(finding));
  if (!run.between.empty()) {
    out["between"] = Json::array();
    for (const auto& [name, value] : run.between)
      out["between"].push_back(run_output_json(name, value, trial::Judgement()));
  }
  if (run.bisection) out["intermediates"] = bisection_json(*run.bisection);
  out["warnings"] = Json::array();
  for (const opset::Finding& finding : run.warnings) add_warning(out["warnings"].emplace_back(), finding);
  return json_text(out, 1);
}

}  // namespace grurun::report
