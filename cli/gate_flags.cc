#include "cli/gate_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "cli/flag_values.h"
#include "cli/streams.h"
#include "conformance/update_expectations.h"
#include "onnx_io/bytes.h"
#include "onnx_io/text_file.h"
#include "report/counted.h"
#include "tensor/error.h"
#include "tensor/printable.h"

namespace grurun::cli {

namespace {

using namespace grurun::conformance;

constexpr std::size_t kept_elements = 1000;

std::size_t parse_values(const std::string& text) {
  if (text.empty()) return 0;
  const std::string name = text.substr(0, text.find('='));
  if (name != "differing") fail_usage("--values takes differing or differing=N, not {}", text);
  if (name.size() == text.size()) return kept_elements;
  return parse_whole("--values differing", text.substr(name.size() + 1));
}

void write_list(const std::string& file, const std::string& text) {
  try {
    onnx_io::write_file(file, {text});
  } catch (const Error&) {
    fail_usage("--update-expectations: {} cannot be written", file);
  }
}

}  // namespace

void add_fail_on_flag(CLI::App& command, FailOnFlags& flags) {
  command
      .add_option("--fail-on", flags.kinds,
                  "Exit with 1 for these changes: new, worse, changed, gone, slower, fixed, better")
      ->type_name("KIND,...");
}

std::vector<report::ChangeKind> parse_fail_on(const FailOnFlags& flags) {
  std::vector<report::ChangeKind> kinds;
  std::istringstream words(flags.kinds);
  for (std::string word; std::getline(words, word, ',');) {
    const auto kind = report::parse_change(word);
    if (!kind)
      fail_usage("--fail-on: '{}' is no change; they are new, worse, changed, gone, slower, fixed and better",
                 word);
    kinds.push_back(*kind);
  }
  return kinds;
}

bool fails(const std::vector<report::ChangeKind>& kinds, const report::SuiteDiff& diff) {
  return std::ranges::any_of(kinds, [&](report::ChangeKind kind) { return diff.count(kind) > 0; });
}

void add_gate_flags(CLI::App& command, GateFlags& flags) {
  const char* group = "Gate";
  command
      .add_option(
          "--policy", flags.policy,
          "How exact outputs must be, a TOML file of rules with reasons; one that decides for none fails")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option(
          "--values", flags.values,
          "Keep elements that are not equal in the JSON report, 1000 of each output or N: what report "
          "rejudge needs")
      ->type_name("differing[=N]")
      ->group(group);
  command
      .add_option_function<std::string>(
          "--retries",
          [&flags](const std::string& text) {
            flags.retries = parse_whole("--retries", text);
            if (flags.retries > 100) fail_usage("--retries takes a number to 100, not {}", text);
          },
          "Run what does not end as expected again, so often at most; what does then is told as flaky")
      ->type_name("N")
      ->default_str("0")
      ->group(group);
  command
      .add_option(
          "--update-expectations", flags.update_expectations,
          "Write what this run gave into this list: only lines that do not hold change; the run is judged "
          "by it")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--compare-to", flags.compare_to,
                  "Tell what changed since the run that this JSON report is of")
      ->type_name("REPORT")
      ->group(group);
  add_fail_on_flag(command, flags.fail_on);
}

void check(const GateFlags& flags, const std::string& expectations, bool fail_fast) {
  if (fail_fast && flags.retries > 0)
    fail_usage("--fail-fast stops where --retries runs again; give one of them");
  if (flags.fail_on.is_given() && flags.compare_to.empty())
    fail_usage("--fail-on is for changes since the report of --compare-to; there is none");
  parse_fail_on(flags.fail_on);
  parse_values(flags.values);
  std::error_code ignored;
  if (!flags.update_expectations.empty() && !expectations.empty() &&
      expectations != flags.update_expectations &&
      !std::filesystem::equivalent(expectations, flags.update_expectations, ignored))
    fail_usage("--update-expectations reads and writes one list; leave out --expectations {}", expectations);
}

void apply(const GateFlags& flags, SuiteOptions& options) {
  if (!flags.policy.empty()) options.each.policy = Policy::load(flags.policy);
  options.each.keep_differing = parse_values(flags.values);
  options.retries = static_cast<int>(flags.retries);
}

void note_unused_rules(SuiteResult& result, const std::vector<Case>& all, bool is_selection) {
  const Policy* policy = result.options.each.policy.get();
  if (policy == nullptr) return;
  result.unused_rules = rules_without_case(*policy, all);
  if (is_selection || result.not_run() > 0) return;
  std::vector<std::string> unused = unused_rules(*policy, result.used_rules);
  // Another part may use a rule that this one does not: the merge judges.
  if (result.part)
    result.unused_in_part = std::move(unused);
  else
    result.unused_rules = std::move(unused);
}

void update_list(const GateFlags& flags, SuiteResult& result, const std::vector<Case>& all) {
  const std::string& file = flags.update_expectations;
  if (file.empty() || result.end == PoolEnd::interrupted) return;
  std::error_code ignored;
  const bool is_there = std::filesystem::exists(file, ignored);
  const UpdatedList list = update_expectations(
      is_there ? onnx_io::read_text_file(file, Expectations::largest, "a list of expectations") : "", result,
      all);
  if (list.is_changed()) write_list(file, list.text);
  tell("grurun: {}: {} added, {} changed, {} removed\n", printable(file), report::counted(list.added, "line"),
       list.changed, list.removed);
  result.expectations = Expectations::parse(list.text, file);
  judge_by_expectations(result, all);
}

}  // namespace grurun::cli
