#include "report/suite/suite_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "conformance/version.h"
#include "report/bounded.h"
#include "report/counted.h"
#include "report/json_text.h"
#include "tensor/printable.h"

namespace grurun::report {

namespace {

using namespace grurun::conformance;

constexpr std::array<const char*, change_kind_count> change_names = {"new",    "worse", "changed", "gone",
                                                                     "slower", "fixed", "better"};

std::string end_of_path(const std::string& path) {
  std::filesystem::path rest(path), end;
  for (int names = 0; names < 3 && rest.has_filename(); ++names, rest = rest.parent_path())
    end = names == 0 ? rest.filename() : rest.filename() / end;
  return end.string();
}

/// Each case that ran, by a name that tells it from the others.
std::vector<std::pair<std::string, const CaseOutcome*>> named_outcomes(const SuiteResult& result) {
  std::unordered_map<std::string, int> holders;
  for (const Case& test : result.cases) ++holders[test.full_name()];
  std::vector<std::pair<std::string, const CaseOutcome*>> out;
  for (std::size_t i = 0; i < result.cases.size(); ++i) {
    if (!result.outcomes[i].ran) continue;
    const Case& test = result.cases[i];
    out.emplace_back(holders[test.full_name()] > 1 ? end_of_path(test.path) : test.full_name(),
                     &result.outcomes[i]);
  }
  return out;
}

struct Measured {
  std::string structure;
  double max_abs = 0, max_ulp = 0, differing = 0, non_finite = 0;
};

Measured measured(const trial::Comparison& comparison) {
  const trial::ElementErrors& errors = comparison.errors;
  return {comparison.structure, errors.max_abs, static_cast<double>(errors.max_ulp.value_or(0)),
          static_cast<double>(errors.differing), static_cast<double>(errors.non_finite)};
}

/// How an output differs from what it was; better and worse are set where a measure is, by more than a
/// hundredth.
struct Trend {
  bool worse = false, better = false;
  std::string text;

  void see(const char* name, double before, double after) {
    constexpr double noise = 1.01;
    if (after <= before * noise && before <= after * noise) return;
    (after > before ? worse : better) = true;
    text += fmt::format("{}{} {:.4g} instead of {:.4g}", text.empty() ? "" : ", ", name, after, before);
  }
};

Trend trend_of(const CaseResult& before, const CaseResult& after) {
  std::map<std::pair<std::string, std::string>, Measured> old;
  for (const OutputResult& output : before.outputs)
    old[{output.data_set, output.name}] = measured(output.comparison);
  Trend trend;
  for (const OutputResult& output : after.outputs) {
    const auto found = old.find({output.data_set, output.name});
    const Measured was = found == old.end() ? Measured() : found->second;
    const Measured is = measured(output.comparison);
    if (was.structure != is.structure) {
      (is.structure.empty() ? trend.better : trend.worse) = true;
      trend.text +=
          (trend.text.empty() ? "" : ", ") + (is.structure.empty() ? "types and shapes agree" : is.structure);
      continue;
    }
    trend.see("max_abs", was.max_abs, is.max_abs);
    trend.see("max_ulp", was.max_ulp, is.max_ulp);
    trend.see("differing", was.differing, is.differing);
    trend.see("non_finite", was.non_finite, is.non_finite);
  }
  return trend;
}

std::string ended(const CaseResult& result) {
  return fmt::format("{}{}{}", verdict_name(result.verdict), result.message.empty() ? "" : ": ",
                     result.message);
}

/// How much slower the machine was: of the cases that took long enough to be timed, nine in ten took at most
/// so many times as long as before. At least 1.
class MachineFactor {
 public:
  void see(const CaseResult& before, const CaseResult& after) {
    if (before.seconds >= timed) ratios_.push_back(after.seconds / before.seconds);
  }

  /// By the others than a case of this ratio, which is not to excuse itself.
  double without(const CaseResult& before, const CaseResult& after) {
    if (!is_sorted_) std::ranges::sort(ratios_);
    is_sorted_ = true;
    const std::size_t itself = before.seconds >= timed ? 1 : 0;
    if (ratios_.size() <= itself) return 1;
    const std::size_t others = ratios_.size() - itself;
    std::size_t at = (others * 9 + 9) / 10 - 1;
    if (itself == 1 && after.seconds / before.seconds <= ratios_[at]) ++at;
    return std::max(1.0, ratios_[std::min(at, ratios_.size() - 1)]);
  }

 private:
  static constexpr double timed = 0.01;
  std::vector<double> ratios_;
  bool is_sorted_ = false;
};

void compare_times(const std::string& name, const CaseResult& was, const CaseResult& is, double machine,
                   std::vector<Change>& changes) {
  constexpr double least = 0.1, factor = 1.5;
  const double before = was.seconds * machine;
  if (is.seconds <= before * factor || is.seconds - before < least) return;
  std::string text = fmt::format("{:.3g} s instead of {:.3g} s", is.seconds, was.seconds);
  if (machine > 1.05)
    text += fmt::format(" (nine in ten of the other cases took up to {:.2g} times as long)", machine);
  changes.push_back({ChangeKind::slower, name, std::move(text)});
}

void compare_case(const std::string& name, const CaseOutcome* before, const CaseOutcome& after,
                  std::vector<Change>& changes) {
  const CaseResult& is = after.result;
  if (before == nullptr) {
    if (!is_good(is.verdict))
      changes.push_back({ChangeKind::new_failure, name, ended(is) + " (it was not there)"});
    return;
  }
  const CaseResult& was = before->result;
  const auto changed_from = [&] {
    return fmt::format("{} (it was {})", ended(is), verdict_name(was.verdict));
  };
  if (is_good(was.verdict) && !is_good(is.verdict))
    changes.push_back({ChangeKind::new_failure, name, changed_from()});
  else if (!is_good(was.verdict) && is_good(is.verdict))
    changes.push_back({ChangeKind::fixed, name, changed_from()});
  else if (was.verdict != is.verdict && !is_good(is.verdict))
    changes.push_back({ChangeKind::changed, name, changed_from()});
  else if (is.verdict == Verdict::differs) {
    const Trend trend = trend_of(was, is);
    const ChangeKind kind = trend.worse && trend.better ? ChangeKind::changed
                            : trend.worse               ? ChangeKind::worse
                                                        : ChangeKind::better;
    if (trend.worse || trend.better) changes.push_back({kind, name, trend.text});
  }
}

}  // namespace

const char* change_name(ChangeKind kind) {
  return change_names.at(static_cast<std::size_t>(kind));
}

std::optional<ChangeKind> parse_change(std::string_view name) {
  for (std::size_t i = 0; i < change_names.size(); ++i)
    if (name == change_names[i]) return static_cast<ChangeKind>(i);
  return std::nullopt;
}

std::size_t SuiteDiff::count(ChangeKind kind) const {
  return static_cast<std::size_t>(std::ranges::count(changes, kind, &Change::kind));
}

SuiteDiff diff_suites(const SuiteResult& before, const SuiteResult& after) {
  SuiteDiff diff;
  std::map<std::string, const CaseOutcome*> old;
  const auto named_before = named_outcomes(before);
  for (const auto& [name, outcome] : named_before) old.emplace(name, outcome);
  const auto named_after = named_outcomes(after);
  MachineFactor machine;
  for (const auto& [name, outcome] : named_after)
    if (const auto found = old.find(name); found != old.end())
      machine.see(found->second->result, outcome->result);
  for (const auto& [name, outcome] : named_after) {
    const auto found = old.find(name);
    compare_case(name, found == old.end() ? nullptr : found->second, *outcome, diff.changes);
    if (found == old.end()) continue;
    const CaseResult& was = found->second->result;
    compare_times(name, was, outcome->result, machine.without(was, outcome->result), diff.changes);
    ++diff.compared;
    old.erase(found);
  }
  for (const auto& [name, outcome] : named_before)
    if (old.contains(name))
      diff.changes.push_back({ChangeKind::gone, name, "it was " + ended(outcome->result)});
  std::ranges::stable_sort(diff.changes, {}, &Change::kind);
  return diff;
}

std::string suite_diff_text(const SuiteDiff& diff) {
  std::string out = lines_of(diff.changes, [](const Change& change) {
    return fmt::format("{:<8} {}: {}\n", change_name(change.kind), printable(change.name),
                       printable(change.text));
  });
  out += fmt::format("{}{} in {} and in {}", out.empty() ? "" : "\n", counted(diff.compared, "case"),
                     printable(diff.before), printable(diff.after));
  const char* separator = ": ";
  for (std::size_t i = 0; i < change_names.size(); ++i) {
    const std::size_t count = diff.count(static_cast<ChangeKind>(i));
    if (count == 0) continue;
    out += fmt::format("{}{} {}", separator, count, change_names[i]);
    separator = ", ";
  }
  return out + (diff.changes.empty() ? ": no change\n" : "\n");
}

std::string suite_diff_json(const SuiteDiff& diff) {
  nlohmann::ordered_json out = {{"format", 1},
                                {"grurun", conformance::version()},
                                {"before", printable(diff.before)},
                                {"after", printable(diff.after)},
                                {"compared", diff.compared}};
  for (std::size_t i = 0; i < change_names.size(); ++i)
    out["counts"][change_names[i]] = diff.count(static_cast<ChangeKind>(i));
  out["changes"] = nlohmann::ordered_json::array();
  for (const Change& change : diff.changes)
    out["changes"].push_back({{"kind", change_name(change.kind)},
                              {"name", printable(change.name)},
                              {"text", printable(change.text)}});
  return json_text(out, 1);
}

}  // namespace grurun::report
