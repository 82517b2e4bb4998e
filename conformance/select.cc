#include "conformance/select.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <set>

#include "conformance/expectations.h"
#include "conformance/model_facts.h"
#include "conformance/wire_fields.h"
#include "onnx_io/models/load_to_run.h"
#include "opset/schema/near_match.h"
#include "opset/schema/registry.h"
#include "opset/schema/signature.h"
#include "tensor/error.h"

namespace grurun::conformance {

namespace {

struct Facts {
  bool readable = false;
  std::vector<std::string> operators;
  std::optional<std::int64_t> opset;  // of ai.onnx
};

Facts read_facts(const Case& test) {
  Facts facts;
  if (!test.problem.empty()) return facts;
  try {
    const onnx_io::Model model = onnx_io::load_model_to_run(test.model).model;
    facts.operators = operators_of(model);
    for (const auto& [domain, version] : model.opset_imports)
      if (domain.empty()) facts.opset = version;
    facts.readable = true;
  } catch (const std::exception&) {  // the case's verdict will say why
  }
  return facts;
}

/// Of each case.
std::vector<Facts> read_all(const std::vector<Case>& cases, const PoolOptions& options) {
  std::vector<Facts> all(cases.size());
  const auto run = [&](std::size_t job, const WorkersLeft&) {
    const Facts facts = read_facts(cases[job]);
    WireWriter writer;
    writer(facts.readable), writer(facts.operators), writer(facts.opset);
    return writer.take();
  };
  const auto on_end = [&](const JobEnd& end) {
    if (end.how != JobEnd::How::answered) return true;
    WireReader reader(end.answer);
    Facts& facts = all[end.job];
    reader(facts.readable), reader(facts.operators), reader(facts.opset);
    return true;
  };
  if (run_pool(cases.size(), options, run, on_end) == PoolEnd::interrupted)
    fail_usage("stopped by a signal before a case was run");
  return all;
}

/// "Scaler" is also ai.onnx.ml.Scaler.
bool is_called(const std::string& qualified, const std::string& name) {
  return qualified == name || qualified.substr(qualified.rfind('.') + 1) == name;
}

void require_known(const Selection& selection, const std::vector<Facts>& all) {
  for (const std::string& name : selection.operators) {
    const auto is_it = [&](const std::string& held) { return is_called(held, name); };
    const bool held = std::ranges::any_of(
        all, [&](const Facts& facts) { return std::ranges::any_of(facts.operators, is_it); });
    const std::string type = name.substr(name.rfind('.') + 1);
    const bool is_standard = std::ranges::any_of(opset::known_domains(), [&](const std::string& domain) {
      return !opset::signatures(type, domain).versions.empty();
    });
    const std::vector<std::string> near =
        held || is_standard ? std::vector<std::string>() : opset::near_operators(name);
    if (!near.empty()) fail_usage("--op {}: no case holds it{}", name, opset::did_you_mean(near));
  }
}

bool matches_model(const Selection& selection, const Facts& facts) {
  if (!facts.readable) return true;
  const auto is_held = [&](const std::string& name) {
    return std::ranges::any_of(facts.operators,
                               [&](const std::string& held) { return is_called(held, name); });
  };
  if (!selection.operators.empty() && std::ranges::none_of(selection.operators, is_held)) return false;
  if (selection.since && !(facts.opset && *facts.opset >= *selection.since)) return false;
  return !selection.until || (facts.opset && *facts.opset <= *selection.until);
}

bool matches_names(const Selection& selection, const Case& test) {
  const auto matches = [&](const std::string& filter) { return matches_filter(test, filter); };
  const auto is_kind = [&](const std::string& kind) {
    return fnmatch(kind.c_str(), test.kind.c_str(), 0) == 0;
  };
  return (selection.filters.empty() || std::ranges::any_of(selection.filters, matches)) &&
         (selection.kinds.empty() || std::ranges::any_of(selection.kinds, is_kind));
}

}  // namespace

std::string Selection::flags() const {
  std::vector<std::string> out;
  const auto add = [&](const char* flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) out.push_back(fmt::format("{} {}", flag, value));
  };
  add("-k", filters);
  add("--kind", kinds);
  add("--op", operators);
  if (since) out.push_back(fmt::format("--since {}", *since));
  if (until) out.push_back(fmt::format("--until {}", *until));
  return fmt::format("{}", fmt::join(out, ", "));
}

void select(std::vector<Case>& cases, const Selection& selection, const PoolOptions& options) {
  if (selection.since && selection.until && *selection.since > *selection.until)
    fail_usage("--since {} is beyond --until {}: no opset is in between", *selection.since, *selection.until);
  std::erase_if(cases, [&](const Case& test) { return !matches_names(selection, test); });
  if (selection.operators.empty() && !selection.since && !selection.until) return;
  const std::vector<Facts> facts = read_all(cases, options);
  require_known(selection, facts);
  std::vector<Case> selected;
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (matches_model(selection, facts[i])) selected.push_back(std::move(cases[i]));
  cases = std::move(selected);
}

}  // namespace grurun::conformance
