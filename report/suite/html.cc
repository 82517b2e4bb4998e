#include <nlohmann/json.hpp>
#include <string_view>

#include "report/suite/html_page.h"
#include "report/suite/suite_format.h"
#include "report/suite/suite_json.h"
#include "tensor/printable.h"

namespace grurun::report {

namespace {

using Json = nlohmann::ordered_json;

void keep(Json& object, std::initializer_list<std::string_view> keys) {
  Json kept = Json::object();
  for (const std::string_view key : keys)
    if (object.contains(key)) kept[std::string(key)] = std::move(object[std::string(key)]);
  object = std::move(kept);
}

/// What the page needs of the run before to tell what changed; null where there is none.
Json former_json(const conformance::SuiteResult& result) {
  if (!result.former) return nullptr;
  const conformance::SuiteResult& former = *result.former;
  Json out;
  add_totals(out, totals_of(former));
  keep(out, {"summary"});
  out["file"] = printable(result.former_file);
  out["cases"] = Json::array();
  for (std::size_t i = 0; i < former.cases.size(); ++i) {
    if (!former.outcomes[i].ran) continue;
    Json test = case_json(former, i);
    keep(test, {"name", "path", "kind", "verdict", "seconds", "outputs"});
    if (former.outcomes[i].result.verdict != conformance::Verdict::differs) test["outputs"] = Json::array();
    for (Json& output : test["outputs"])
      keep(output, {"data_set", "name", "problem", "max_abs", "max_ulp", "differing", "non_finite"});
    out["cases"].push_back(std::move(test));
  }
  return out;
}

/// A script ends where its text says so, whatever the JSON around it means.
void put_into_script(std::string& out, const std::string& json) {
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
}

}  // namespace

std::string html_report(const conformance::SuiteResult& result) {
  constexpr std::string_view report = "@REPORT@", former = "@FORMER@";
  const std::string_view page = html_page;
  const std::size_t at = page.find(report), then = page.find(former);
  const std::string json = Json::parse(json_report(result)).dump();
  std::string out(page.substr(0, at));
  out.reserve(page.size() + json.size());
  put_into_script(out, json);
  out += page.substr(at + report.size(), then - at - report.size());
  put_into_script(out, former_json(result).dump());
  return out + std::string(page.substr(then + former.size()));
}

}  // namespace grurun::report
