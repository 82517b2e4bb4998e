// --report and its short forms: in which format a command reports, and where to.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/app.h"
#include "cli/path_conflicts.h"
#include "cli/report_file.h"
#include "cli/streams.h"
#include "report/format.h"

namespace grurun::cli {

struct ReportFlags {
  std::string command;                       // "check"
  std::vector<std::string> reports;          // --report FORMAT=FILE
  std::map<std::string, std::string> files;  // --json FILE and the like, by format
  std::string output_format;                 // --output-format FORMAT
};

/// "text, json or markdown".
std::string either_of(const std::vector<std::string_view>& names);

/// Adds --report and --output-format. `formats` is for the help: those that the command has. `flags` must
/// outlive the command.
void add_report_flags(CLI::App& command, ReportFlags& flags, const std::string& formats,
                      const std::string& group = "Options");

/// Adds --FORMAT FILE, short for --report FORMAT=FILE.
void add_short_form(CLI::App& command, ReportFlags& flags, const char* format, const std::string& help,
                    const std::string& group = "Options");

/// A report that is asked for.
struct ReportRequest {
  std::string flag;    // "--json", "--report json", "check": what asks for it
  std::string format;  // empty: the first
  std::string path;    // "-": standard output

  bool is_printed() const { return path == "-"; }
};

/// One for standard output is always there, and comes last. Throws Error(usage) for a flag without FORMAT= or
/// FILE, for two that go to standard output and for two that write one file; and where standard output, for
/// which a flag or `only_reports`, a command that does nothing else, has a report, was closed.
std::vector<ReportRequest> requests(const ReportFlags& flags, bool only_reports);

[[noreturn]] void fail_over_format(const ReportRequest& request, const std::string& subject,
                                   const std::vector<std::string_view>& known);

/// The reports that flags ask for on a Subject of report/format.h.
template <typename Subject>
class Reports {
 public:
  /// subject: what has the formats, "check --list-rules". Throws what requests throws, and Error(usage) for a
  /// format that there is not.
  Reports(const ReportFlags& flags, const std::string& subject, bool only_reports) {
    for (ReportRequest& request : requests(flags, only_reports)) {
      const report::Format<Subject>& format = find(request, subject);
      reports_.push_back({std::move(request), &format, {}});
    }
  }

  /// Those that are not for standard output.
  std::vector<NamedPath> files() const {
    std::vector<NamedPath> files;
    for (const Report& report : reports_)
      if (!report.request.is_printed()) files.push_back({report.request.flag, report.request.path});
    return files;
  }

  bool has(std::string_view format) const {
    return std::ranges::any_of(reports_, [&](const Report& report) { return report.format->name == format; });
  }

  bool prints(std::string_view format) const { return reports_.back().format->name == format; }

  /// To be called before the work. Throws Error(usage) for a file that cannot be written.
  void open() {
    for (Report& report : reports_)
      if (!report.request.is_printed()) report.file = ReportFile(report.request.path, report.format->begins);
  }

  /// Files first, that no reader of standard output who goes away keeps them from being written; `then` is
  /// called when all is written and printed, before the error is thrown that a file could not be written.
  template <typename Then>
  void write(const Subject& subject, const Then& then) {
    std::optional<Error> failed = std::move(failed_);
    for (Report& report : reports_) {
      if (report.is_streamed) continue;
      std::string text = report.format->make(subject);
      const bool is_text = report.request.is_printed() && report.format->name == "text";
      if (is_text && decorate_ != nullptr) text = decorate_(text);
      report.request.is_printed() ? print_text(text) : report.file.write(text, failed);
    }
    then();
    if (failed) throw *failed;
  }

  void write(const Subject& subject) {
    write(subject, [] {});
  }

  /// Adds to the reports of a format that grow while the work goes on; write() leaves them alone then. What
  /// could not be written is thrown by write().
  void stream(std::string_view format, const std::string& text) {
    for (Report& report : reports_) {
      if (report.format->name != format) continue;
      report.is_streamed = true;
      report.request.is_printed() ? print_text(text) : report.file.append(text, failed_);
    }
  }

  /// What becomes of text that is printed, colours for instance.
  void decorate_text(std::string (*decorate)(const std::string& text)) { decorate_ = decorate; }

  /// Whether no format but these is asked for.
  bool has_only(std::initializer_list<std::string_view> formats) const {
    return std::ranges::all_of(
        reports_, [&](const Report& report) { return std::ranges::count(formats, report.format->name) > 0; });
  }

 private:
  struct Report {
    ReportRequest request;
    const report::Format<Subject>* format;
    ReportFile file;
    bool is_streamed = false;
  };

  static const report::Format<Subject>& find(const ReportRequest& request, const std::string& subject) {
    for (const report::Format<Subject>& format : report::formats<Subject>())
      if (request.format.empty() || request.format == format.name) return format;
    fail_over_format(request, subject, report::format_names<Subject>());
  }

  std::vector<Report> reports_;
  std::optional<Error> failed_;
  std::string (*decorate_)(const std::string& text) = nullptr;
};

}  // namespace grurun::cli
