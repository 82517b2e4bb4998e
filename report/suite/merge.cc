#include "report/suite/merge.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "tensor/error.h"

namespace grurun::report {

namespace {

using namespace grurun::conformance;

bool is_same_list(const Expectations& a, const Expectations& b) {
  return std::ranges::equal(a.lines(), b.lines(), [](const Expectation& x, const Expectation& y) {
    return x.pattern == y.pattern && x.verdict == y.verdict && x.reason == y.reason && x.bounds == y.bounds &&
           x.line == y.line;
  });
}

/// Lines of one list in another that is the same.
const Expectation* line_in(const Expectations& to, const Expectations& from, const Expectation* line) {
  return line == nullptr ? nullptr : &to.lines()[static_cast<std::size_t>(line - from.lines().data())];
}

}  // namespace

void SeenParts::add(const std::string& file, const std::optional<SuitePart>& part) {
  if (!part) fail_usage("{}: no report of a shard; grurun conformance --shard K/N writes one", file);
  if (!first_) {
    first_ = part;
    files_.resize(part->shard.count);
  }
  if (part->suite != first_->suite || part->found != first_->found ||
      part->shard.count != first_->shard.count)
    fail_usage("{}: a shard of another suite, or of the same with other flags, than the first report", file);
  std::string& seen = files_.at(part->shard.number - 1);
  if (!seen.empty())
    fail_usage("{}: shard {}/{} is there twice; {} has it, too", file, part->shard.number, part->shard.count,
               seen);
  seen = file;
}

void SeenParts::require_all() const {
  std::string absent;
  for (std::size_t i = 0; i < files_.size(); ++i)
    if (files_[i].empty()) absent += fmt::format("{}{}/{}", absent.empty() ? "" : ", ", i + 1, files_.size());
  if (!absent.empty()) fail_usage("no report of shard {}; the suite is not whole without it", absent);
}

void UnusedRules::add(const std::vector<std::string>& without_case,
                      std::optional<std::vector<std::string>> in_part) {
  without_case_ = without_case;  // each part knows what no case of the whole suite is for
  all_tell_ = all_tell_ && in_part.has_value();
  if (!all_tell_) return;
  if (std::exchange(is_first_, false))
    in_no_part_ = std::move(*in_part);
  else
    std::erase_if(in_no_part_, [told = std::set<std::string>(in_part->begin(), in_part->end())](
                                   const std::string& line) { return !told.contains(line); });
}

void add_sandbox(std::string& whole, const std::string& part, bool is_first) {
  if (is_first)
    whole = part;
  else if (part != whole)
    whole = "not the same in all shards";
}

SuiteResult merge_suites(const std::vector<std::string>& files, std::vector<SuiteResult> parts) {
  SeenParts seen;
  for (std::size_t i = 0; i < parts.size(); ++i) seen.add(files[i], parts[i].part);
  seen.require_all();
  SuiteResult whole;
  whole.expectations = parts.front().expectations;
  whole.sides = parts.front().sides;
  whole.no_cases = parts.front().no_cases;
  for (const Expectation* line : parts.front().stale)
    whole.stale.push_back(line_in(whole.expectations, parts.front().expectations, line));
  UnusedRules unused;
  std::vector<std::pair<Case, CaseOutcome>> all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    SuiteResult& part = parts[i];
    if (!is_same_list(part.expectations, whole.expectations))
      fail_usage("{}: it ran with other expectations than {}", files[i], files.front());
    if (part.sides != whole.sides) fail_usage("{}: it compares other sides than {}", files[i], files.front());
    add_sandbox(whole.sandbox, part.sandbox, i == 0);
    whole.seconds += part.seconds;
    unused.add(part.unused_rules, std::move(part.unused_in_part));
    whole.end = std::max(whole.end, part.end);
    for (std::size_t k = 0; k < part.cases.size(); ++k) {
      CaseOutcome& outcome = part.outcomes[k];
      outcome.expectation = line_in(whole.expectations, part.expectations, outcome.expectation);
      all.emplace_back(std::move(part.cases[k]), std::move(outcome));
    }
  }
  whole.unused_rules = unused.lines();
  std::ranges::sort(all, {}, [](const auto& each) { return each.first.place; });
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].first.place != i)
      fail_usage("{}: the shards together have not every case once", files.front());
  if (all.size() != seen.found()) fail_usage("the shards have {} of {} cases", all.size(), seen.found());
  for (auto& [test, outcome] : all) {
    whole.cases.push_back(std::move(test));
    whole.outcomes.push_back(std::move(outcome));
  }
  return whole;
}

}  // namespace grurun::report
