#include "cli/report_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "tensor/error.h"

namespace grurun::cli {

std::string either_of(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

void add_report_flags(CLI::App& command, ReportFlags& flags, const std::string& formats,
                      const std::string& group) {
  flags.command = command.get_name();
  command
      .add_option("--report", flags.reports,
                  "Write a report, as json=FILE; - is standard output; may be repeated")
      ->allow_extra_args(false)
      ->type_name("FORMAT=FILE")
      ->group(group);
  command.add_option("--output-format", flags.output_format, "Of what is printed: " + formats)
      ->type_name("FORMAT")
      ->default_str("text")
      ->group(group);
}

void add_short_form(CLI::App& command, ReportFlags& flags, const char* format, const std::string& help,
                    const std::string& group) {
  command.add_option(std::string("--") + format, flags.files[format], help)->type_name("FILE")->group(group);
}

namespace {

ReportRequest parse_request(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0)
    fail_usage("--report takes FORMAT=FILE, as in json=report.json; got '{}'", text);
  if (equals + 1 == text.size()) fail_usage("--report {}: no file is named", text);
  return {"--report " + text.substr(0, equals), text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

std::vector<ReportRequest> requests(const ReportFlags& flags, bool only_reports) {
  std::vector<ReportRequest> found;
  for (const auto& [format, path] : flags.files)
    if (!path.empty()) found.push_back({"--" + format, format, path});
  for (const std::string& text : flags.reports) found.push_back(parse_request(text));
  const bool to_files_only = !found.empty();
  if (!flags.output_format.empty()) found.push_back({"--output-format", flags.output_format, "-"});

  const auto printed = std::stable_partition(
      found.begin(), found.end(), [](const ReportRequest& request) { return !request.is_printed(); });
  if (found.end() - printed > 1)
    fail_usage("{} and {} cannot both go to standard output; give one of them a file", printed[0].flag,
               printed[1].flag);
  std::vector<NamedPath> files;
  for (const ReportRequest& request : found) files.push_back({request.flag, request.path});
  require_distinct(files);
  if (printed == found.end()) {
    if (only_reports && !to_files_only) require_stdout(flags.command.c_str());
    found.push_back({flags.command, "", "-"});
  } else if (found.back().flag == "--output-format") {
    require_stdout(flags.command.c_str());
  } else {
    require_stdout((found.back().flag + " -").c_str());
  }
  return found;
}

void fail_over_format(const ReportRequest& request, const std::string& subject,
                      const std::vector<std::string_view>& known) {
  const std::string flag =
      request.flag == "--output-format" ? request.flag + " " + request.format : request.flag;
  fail_usage("{}: {} has no such format; it has {}", flag, subject, either_of(known));
}

}  // namespace grurun::cli
