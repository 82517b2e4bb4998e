#include "conformance/expectations.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "tensor/error.h"

namespace grurun::conformance {

namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view next_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(blanks));
  rest.remove_prefix(word.size());
  return word;
}

Expectation parse_line(std::string_view rest, const std::string& file, int line) {
  Expectation out;
  out.line = line;
  out.pattern = next_word(rest);
  const std::string verdict(next_word(rest));
  for (std::string_view after = rest;; rest = after) {
    const std::string word(next_word(after));
    if (!is_bound(word)) break;
    add_bound(word, fmt::format("{}:{}", file, line), out.bounds);
  }
  rest.remove_prefix(std::min(rest.find_first_not_of(blanks), rest.size()));
  out.reason = rest.substr(0, rest.find_last_not_of(blanks) + 1);
  const auto parsed = parse_verdict(verdict);
  if (!parsed)
    fail_usage(
        "{}:{}: '{}' is no verdict; a line is PATTERN VERDICT REASON, the verdict one of differs, "
        "random, unsupported, invalid, crashed, timed-out, missing",
        file, line, verdict);
  if (is_good(*parsed))
    fail_usage("{}:{}: {} needs no line: only exceptions are listed", file, line, verdict);
  if (out.reason.empty()) fail_usage("{}:{}: a reason must follow the verdict", file, line);
  out.verdict = *parsed;
  if (!out.bounds.empty() && *parsed != Verdict::differs)
    fail_usage("{}:{}: only differs has bounds", file, line);
  return out;
}

/// No kind/name has two slashes: such a text is meant for a path.
bool is_for_path(const std::string& text) {
  return std::count(text.begin(), text.end(), '/') > 1;
}

bool shell_match(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

}  // namespace

Expectations::Expectations(std::string file, std::vector<Expectation> lines)
    : file_(std::move(file)), lines_(std::move(lines)) {}

Expectations Expectations::parse(std::string_view text, const std::string& file) {
  Expectations out;
  out.file_ = file;
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // some editors put it before UTF-8
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  for (int line = 1; !text.empty(); ++line) {
    const std::string_view row = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(row.size() + 1, text.size()));
    const std::size_t start = row.find_first_not_of(blanks);
    if (start == std::string_view::npos || row[start] == '#') continue;
    out.lines_.push_back(parse_line(row, file, line));
  }
  return out;
}

Expectations Expectations::load(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  // A folder can be opened; reading it fails. An empty file is a list without lines.
  const bool empty = in.peek() == std::ifstream::traits_type::eof();
  if (in.bad() || !in.is_open() || (!empty && !(text << in.rdbuf())))
    fail_usage("{}: the expectations cannot be read", file);
  return parse(text.str(), file);
}

const Expectation* Expectations::find(const Case& test) const {
  for (const Expectation& line : lines_)
    if (matches_pattern(test, line.pattern)) return &line;
  return nullptr;
}

std::vector<const Expectation*> Expectations::without_case(const std::vector<Case>& cases) const {
  std::set<const Expectation*> deciding;
  for (const Case& test : cases) deciding.insert(find(test));
  std::vector<const Expectation*> out;
  for (const Expectation& line : lines_)
    if (!deciding.contains(&line)) out.push_back(&line);
  return out;
}

bool matches_pattern(const Case& test, const std::string& pattern) {
  if (is_for_path(pattern))
    return shell_match(pattern, test.path) || shell_match("*/" + pattern, "/" + test.path);
  return shell_match(pattern, test.name) || shell_match(pattern, test.full_name());
}

bool matches_filter(const Case& test, const std::string& filter) {
  if (filter.find_first_of("*?[") != std::string::npos) return matches_pattern(test, filter);
  return (is_for_path(filter) ? test.path : test.full_name()).find(filter) != std::string::npos;
}

}  // namespace grurun::conformance
