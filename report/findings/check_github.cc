#include <fmt/format.h>

#include "opset/findings/rules.h"
#include "report/findings/check_format.h"
#include "report/github_commands.h"

namespace grurun::report {

namespace {

using opset::Finding;
using opset::Severity;

std::string where(const Finding& finding) {
  std::string text = finding.node;
  if (!finding.op.empty()) text += fmt::format(" ({})", finding.op);
  return text.empty() ? "" : text + ": ";
}

}  // namespace

std::string check_github(const std::vector<CheckedModel>& models) {
  GithubCommands commands;
  for (const CheckedModel& model : models) {
    if (!model.failure.empty()) commands.add("error", model.path, "not read", model.failure);
    if (!model.cut_short.empty())
      commands.add("error", model.path, "not checked to the end", model.cut_short);
  }
  for (const Severity severity : {Severity::error, Severity::warning, Severity::note}) {
    const char* kind = severity == Severity::note ? "notice" : opset::severity_name(severity);
    for (const CheckedModel& model : models) {
      for (const Finding& finding : model.findings) {
        if (finding.severity == severity)
          commands.add(kind, model.path, finding.code, where(finding) + finding.message);
      }
    }
  }
  return commands.finish("findings", "grurun check lists them");
}

}  // namespace grurun::report
