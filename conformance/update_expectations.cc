#include "conformance/update_expectations.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "tensor/printable.h"

namespace grurun::conformance {

namespace {

std::string line_text(const std::string& pattern, Verdict verdict, const Bounds& bounds,
                      const std::string& reason) {
  const std::string pins = bounds.empty() ? "" : to_string(bounds) + " ";
  return fmt::format("{}  {}  {}{}", pattern, verdict_name(verdict), pins, reason);
}

/// What the run said, short enough for a list.
std::string said(const CaseResult& result) {
  constexpr std::size_t longest = 120;
  std::string text = printable(result.message);
  if (text.size() > longest) {
    std::size_t end = longest;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    text = text.substr(0, end) + "...";
  }
  // What looks like a bound would be read as one.
  return text.empty() ? "no reason known" : "run: " + text;
}

Bounds pins(const CaseResult& result) {
  return result.verdict == Verdict::differs ? bounds_of(result) : Bounds();
}

/// A name in which no character has a meaning in patterns.
std::string escaped(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c == '*' || c == '?' || c == '[' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

class Update {
 public:
  Update(std::string_view text, const SuiteResult& result, const std::vector<Case>& all) : result_(result) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      rows_.emplace_back(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    std::map<std::string, int> holders;
    for (const Case& test : all) ++holders[test.full_name()];
    for (const Case& test : all) {
      is_unique_[test.path] = holders[test.full_name()] == 1;
      if (const Expectation* line = result.expectations.find(test)) decided_[line->line].push_back(&test);
    }
    for (std::size_t i = 0; i < result.cases.size(); ++i)
      if (result.outcomes[i].ran) outcomes_[result.cases[i].path] = &result.outcomes[i];
  }

  UpdatedList all() {
    for (const Expectation& line : result_.expectations.lines()) visit(line);
    for (std::size_t i = 0; i < result_.cases.size(); ++i) {
      const CaseOutcome& outcome = result_.outcomes[i];
      if (outcome.ran && outcome.expectation == nullptr && !is_good(outcome.result.verdict))
        insert(result_.cases[i], outcome.result);
    }
    out_.text.clear();
    for (std::size_t i = 0; i <= rows_.size(); ++i) {
      for (const auto& [pattern, text] : before_[i]) out_.text += text + "\n";
      if (i < rows_.size() && !removed_.contains(i)) out_.text += rows_[i] + "\n";
    }
    return out_;
  }

 private:
  const CaseOutcome* outcome_of(const Case& test) const {
    const auto found = outcomes_.find(test.path);
    return found == outcomes_.end() ? nullptr : found->second;
  }

  /// The pattern that is for this case alone.
  std::string pattern_of(const Case& test) const {
    const std::string name = is_unique_.at(test.path) ? test.full_name() : test.path;
    std::string out = escaped(name);
    std::ranges::replace_if(
        out, [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }, '?');
    return out[0] == '#' ? "[#]" + out.substr(1) : out;
  }

  static bool holds(const Expectation& line, const CaseOutcome* outcome) {
    return outcome == nullptr || !is_unexpected(outcome->result, &line);
  }

  void visit(const Expectation& line) {
    const std::vector<const Case*>& cases = decided_[line.line];
    const std::size_t row = static_cast<std::size_t>(line.line) - 1;
    if (cases.empty()) return remove(row);
    const bool all_hold =
        std::ranges::all_of(cases, [&](const Case* test) { return holds(line, outcome_of(*test)); });
    if (all_hold) return;
    const auto passed = [&](const Case* test) {
      const CaseOutcome* outcome = outcome_of(*test);
      return outcome != nullptr && is_good(outcome->result.verdict);
    };
    if (cases.size() == 1) {
      if (passed(cases[0])) return remove(row);
      const CaseResult& ended = outcome_of(*cases[0])->result;
      rows_[row] = line_text(line.pattern, ended.verdict, pins(ended), line.reason);
      ++out_.changed;
      return;
    }
    const bool is_replaced = std::ranges::any_of(cases, passed);
    for (const Case* test : cases) {
      const CaseOutcome* outcome = outcome_of(*test);
      if (passed(test) || (!is_replaced && holds(line, outcome))) continue;
      const bool is_as_listed = holds(line, outcome);
      const Verdict verdict = is_as_listed ? line.verdict : outcome->result.verdict;
      const Bounds bounds = is_as_listed ? line.bounds : pins(outcome->result);
      const std::string pattern = pattern_of(*test);
      before_[row].emplace_back(pattern, line_text(pattern, verdict, bounds, line.reason));
      ++out_.added;
    }
    std::ranges::sort(before_[row]);
    if (is_replaced) remove(row);
  }

  void remove(std::size_t row) {
    removed_.insert(row);
    ++out_.removed;
  }

  /// Before the first line that is behind it in the order of names, where all are in order; at the end
  /// otherwise. No line matches the case, so that any place will do.
  void insert(const Case& test, const CaseResult& ended) {
    const std::string pattern = pattern_of(test);
    std::size_t row = rows_.size();
    const std::vector<Expectation>& lines = result_.expectations.lines();
    if (std::ranges::is_sorted(lines, {}, &Expectation::pattern)) {
      const auto behind = std::ranges::upper_bound(lines, pattern, {}, &Expectation::pattern);
      if (behind != lines.end()) row = above_comment(static_cast<std::size_t>(behind->line) - 1);
    }
    before_[row].emplace_back(pattern, line_text(pattern, ended.verdict, pins(ended), said(ended)));
    std::ranges::sort(before_[row]);
    ++out_.added;
  }

  /// Where the comment begins that stands right above a line; the one that begins the file is of all of it.
  std::size_t above_comment(std::size_t row) const {
    std::size_t first = row;
    while (first > 0 && rows_[first - 1].starts_with('#')) --first;
    return first == 0 ? row : first;
  }

  const SuiteResult& result_;
  std::vector<std::string> rows_;
  std::unordered_map<std::string, bool> is_unique_;                                 // by path
  std::unordered_map<int, std::vector<const Case*>> decided_;                       // by line
  std::unordered_map<std::string, const CaseOutcome*> outcomes_;                    // by path
  std::map<std::size_t, std::vector<std::pair<std::string, std::string>>> before_;  // pattern, text; by row
  std::set<std::size_t> removed_;
  UpdatedList out_;
};

}  // namespace

UpdatedList update_expectations(std::string_view text, const SuiteResult& result,
                                const std::vector<Case>& all) {
  return Update(text, result, all).all();
}

}  // namespace grurun::conformance
