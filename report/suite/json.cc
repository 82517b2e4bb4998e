#include "conformance/version.h"
#include "report/suite/suite_format.h"
#include "report/suite/suite_json.h"

namespace grurun::report {

std::string json_report(const conformance::SuiteResult& result) {
  nlohmann::ordered_json out = {{"format", 1}, {"grurun", conformance::version()}};
  add_totals(out, totals_of(result));
  add_setting(out, result);
  add_end(out, result.sandbox, result.end);
  out["cases"] = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < result.cases.size(); ++i)
    if (result.outcomes[i].ran) out["cases"].push_back(case_json(result, i));
  out["cases_not_run"] = cases_not_run_json(result);
  return out.dump(1) + "\n";
}

}  // namespace grurun::report
