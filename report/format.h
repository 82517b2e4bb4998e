// The formats that reports come in: one table, a row each. A new format is a file that makes it and a row.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace grurun::opset {
struct RuleInfo;
}  // namespace grurun::opset

namespace grurun::conformance {
struct SuiteResult;
}  // namespace grurun::conformance

namespace grurun::trial {
struct BenchResult;
}  // namespace grurun::trial

namespace grurun::report {

/// A format of reports on a Subject: a suite that ran, models that were checked, ...
template <typename Subject>
struct Format {
  std::string_view name;    // "json", as flags spell it
  std::string_view begins;  // what each such report begins with; empty: nothing marks it as one
  std::string_view holds;   // and what its first 8 kB hold besides
  std::string (*make)(const Subject&);
};

struct CheckedModel;
struct SchemaView;
struct DiffView;
struct OpsetDiffView;
struct Inspected;
struct InspectedFile;
struct OpSupport;
struct RunReport;
struct BisectReport;
struct SuiteDiff;
struct HeadroomView;
struct ComparedFiles;

/// The rows for a subject; the first is what is printed when no flag asks for another.
template <typename Subject>
std::span<const Format<Subject>> formats();

template <>
std::span<const Format<conformance::SuiteResult>> formats();
template <>
std::span<const Format<std::vector<CheckedModel>>> formats();
template <>
std::span<const Format<std::vector<opset::RuleInfo>>> formats();
template <>
std::span<const Format<SchemaView>> formats();
template <>
std::span<const Format<DiffView>> formats();
template <>
std::span<const Format<OpsetDiffView>> formats();
template <>
std::span<const Format<Inspected>> formats();
template <>
std::span<const Format<std::vector<InspectedFile>>> formats();
template <>
std::span<const Format<std::vector<OpSupport>>> formats();
template <>
std::span<const Format<trial::BenchResult>> formats();
template <>
std::span<const Format<RunReport>> formats();
template <>
std::span<const Format<BisectReport>> formats();
template <>
std::span<const Format<SuiteDiff>> formats();
template <>
std::span<const Format<HeadroomView>> formats();
template <>
std::span<const Format<ComparedFiles>> formats();

template <typename Subject>
std::vector<std::string_view> format_names() {
  std::vector<std::string_view> names;
  for (const Format<Subject>& format : formats<Subject>()) names.push_back(format.name);
  return names;
}

/// Whether some subject has a format of this name.
bool is_format(std::string_view name);

/// Whether a file whose first 8 kB are these is a report of this program, of a format that marks it as one.
bool is_report(std::string_view head);

}  // namespace grurun::report
