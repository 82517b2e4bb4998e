#include "report/compare/compare_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "conformance/version.h"
#include "report/bounded.h"
#include "report/counted.h"
#include "report/json_text.h"
#include "report/judgement_json.h"
#include "tensor/printable.h"

namespace grurun::report {

std::string problem_of(const trial::ComparedFile& value) {
  if (value.unreadable) return *value.unreadable;
  if (!value.in_actual) return "the actual side has no such value";
  if (!value.in_expected) return "the expected side has no such value";
  return value.comparison.ok ? "" : trial::describe(value.comparison);
}

bool ComparedFiles::ok() const {
  return std::ranges::all_of(values, &trial::ComparedFile::ok);
}

std::string compare_text(const ComparedFiles& compared) {
  std::string out =
      fmt::format("actual: {}\nexpected: {}\n", printable(compared.actual), printable(compared.expected));
  std::size_t differing = 0;
  for (const trial::ComparedFile& value : compared.values) {
    const std::string problem = problem_of(value);
    const std::string name = value.name.empty() ? "" : printable(value.name) + ": ";
    if (!problem.empty()) {
      if (++differing <= most_in_text) out += fmt::format("differs  {}{}\n", name, printable(problem));
    } else if (compared.values.size() == 1) {
      out += fmt::format("as expected  {}{}\n", name, printable(trial::describe(value.comparison)));
    }
  }
  out += left_out(differing, most_in_text, "differs  ");
  return out + fmt::format("{}, {} not as expected\n", counted(compared.values.size(), "value"), differing);
}

std::string compare_json(const ComparedFiles& compared) {
  nlohmann::ordered_json out = {{"format", 1},
                                {"grurun", conformance::version()},
                                {"actual", printable(compared.actual)},
                                {"expected", printable(compared.expected)},
                                {"as_expected", compared.ok()}};
  out["values"] = nlohmann::ordered_json::array();
  for (const trial::ComparedFile& value : compared.values) {
    nlohmann::ordered_json& row = out["values"].emplace_back();
    row = {{"name", printable(value.name)},
           {"in_actual", value.in_actual},
           {"in_expected", value.in_expected},
           {"unreadable", printable(value.unreadable.value_or(""))}};
    if (value.in_actual && value.in_expected && !value.unreadable)
      add_comparison(row, value.comparison, false);
  }
  return json_text(out, 1);
}

}  // namespace grurun::report
