#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/engine_flags.h"
#include "cli/limit_flags.h"
#include "cli/many_models.h"
#include "cli/report_flags.h"
#include "cli/sandbox_flags.h"
#include "conformance/wire_fields.h"
#include "onnx_io/models/load_for_check.h"
#include "opset/check/check.h"
#include "opset/check/mended_findings.h"
#include "opset/findings/form_watch.h"
#include "opset/findings/rules.h"
#include "opset/recurrent/recurrent_rules.h"
#include "opset/schema/near_match.h"
#include "report/findings/check_format.h"
#include "tensor/error.h"
#include "tensor/memory/heap.h"
#include "tensor/printable.h"
#include "trial/model_check.h"

namespace grurun::cli {

namespace {

struct FindingFilter {
  std::vector<std::string> select;  // prefixes of codes; empty: all
  std::vector<std::string> ignore;
  opset::Severity least = opset::Severity::note;

  bool keeps(const std::string& code, opset::Severity severity) const;

  /// Whether --select alone leaves it out.
  bool excludes_by_select(const std::string& code) const;
};

using opset::RuleInfo;
using opset::Severity;

bool begins(const std::string& code, const std::vector<std::string>& prefixes) {
  return std::ranges::any_of(prefixes, [&](const std::string& prefix) { return code.starts_with(prefix); });
}

// "GRU023" -> "GRU".
std::string family(const std::string& code) {
  return code.substr(0, code.find_first_of("0123456789"));
}

void add_prefix(const char* flag, const std::string& prefix, std::vector<std::string>& to) {
  const auto rules = opset::all_rules();
  const bool known =
      std::ranges::any_of(rules, [&](const RuleInfo& rule) { return rule.code.starts_with(prefix); });
  if (!prefix.empty() && known) {
    to.push_back(prefix);
    return;
  }
  std::vector<std::string> families;
  for (const RuleInfo& rule : rules) {
    if (families.empty() || families.back() != family(rule.code)) families.push_back(family(rule.code));
  }
  families.erase(std::unique(families.begin(), families.end()), families.end());
  fail_usage("{}: no code begins with '{}'; codes begin with {}; see grurun check --list-rules", flag, prefix,
             fmt::join(families, ", "));
}

std::vector<std::string> prefixes(const char* flag, const std::vector<std::string>& values) {
  std::vector<std::string> found;
  for (const std::string& value : values) {
    std::size_t begin = 0;
    while (begin <= value.size()) {
      const std::size_t end = std::min(value.find(',', begin), value.size());
      add_prefix(flag, value.substr(begin, end - begin), found);
      begin = end + 1;
    }
  }
  return found;
}

bool FindingFilter::keeps(const std::string& code, Severity severity) const {
  if (severity > least || begins(code, ignore)) return false;
  return select.empty() || begins(code, select);
}

bool FindingFilter::excludes_by_select(const std::string& code) const {
  return !select.empty() && !begins(code, select) && !begins(code, ignore);
}

std::optional<Severity> severity_of(const std::string& name) {
  for (const Severity severity : {Severity::error, Severity::warning, Severity::note})
    if (name == opset::severity_name(severity)) return severity;
  return std::nullopt;
}

/// Each of select and ignore may hold several prefixes, "GRU,SHAPE003". Throws Error(usage) for one that no
/// code begins with, and for a severity that is none of error, warning and note.
FindingFilter make_filter(const std::vector<std::string>& select, const std::vector<std::string>& ignore,
                          const std::string& least) {
  FindingFilter filter{prefixes("--select", select), prefixes("--ignore", ignore), Severity::note};
  const std::optional<Severity> severity = severity_of(least);
  if (!severity) fail_usage("--severity: '{}' is none of error, warning and note", least);
  filter.least = *severity;
  return filter;
}

/// Which findings make the command fail.
struct FailOn {
  Severity least = Severity::error;
  std::vector<std::string> codes;  // prefixes

  bool fails(const opset::Finding& finding) const {
    return finding.severity <= least || begins(finding.code, codes);
  }
};

/// Each value is a severity or codes, "GRU,SHAPE003"; errors are always meant. Throws what prefixes throws.
FailOn make_fail_on(const std::vector<std::string>& values) {
  FailOn out;
  for (const std::string& value : values) {
    if (const auto severity = severity_of(value)) {
      out.least = std::max(out.least, *severity);
    } else {
      for (std::string& prefix : prefixes("--fail-on", {value})) out.codes.push_back(std::move(prefix));
    }
  }
  return out;
}

struct CheckFlags {
  std::vector<std::string> models;
  int jobs = 0;
  std::vector<std::string> fail_on;
  std::vector<std::string> select;
  std::vector<std::string> ignore;
  std::string severity = "note";
  ReportFlags report;
  LimitFlags limits;
  std::string sandbox = "auto";
  bool all = false;
  bool list_rules = false;
  bool strict = false;
};

/// What of a model one worker found.
struct Checked {
  std::vector<opset::Finding> findings;
  bool is_too_new = false;
  std::string cut_short;

  template <typename Io>
  void fields(Io&& io) {
    io(is_too_new), io(findings), io(cut_short);
  }

  std::string encoded() {
    conformance::WireWriter writer;
    fields(writer);
    return writer.take();
  }
};

/// Findings until now, for the thread that ends a check at its limit.
class Progress {
 public:
  void begin() {
    const std::lock_guard lock(mutex_);
    findings_.clear();
  }
  void add(const opset::Finding& finding) {
    const std::lock_guard lock(mutex_);
    findings_.push_back(finding);
  }
  std::vector<opset::Finding> findings() {
    const std::lock_guard lock(mutex_);
    return findings_;
  }

 private:
  std::mutex mutex_;
  std::vector<opset::Finding> findings_;
};

Checked check_model(const std::string& path, const FindingFilter& filter, Progress& progress) {
  progress.begin();
  std::vector<onnx_io::Mended> mended;
  const onnx_io::Model model =
      onnx_io::load_model_for_check(path, opset::forms_are_refused() ? nullptr : &mended);
  Checked out;
  const auto note = [&](const opset::Finding& finding) {
    out.findings.push_back(finding);
    if (filter.keeps(finding.code, finding.severity)) progress.add(finding);
  };
  for (const opset::Finding& finding : opset::mended_findings(mended)) note(finding);
  try {
    trial::check_fully(model, trial::CheckDepth::everything, {}, note);
  } catch (const std::bad_alloc&) {
    out.cut_short = memory::out_of_memory_text();
  }
  // What --select asks for is not known where nodes could not be judged at all.
  const auto counts = [&](const opset::Finding& finding) {
    return filter.keeps(finding.code, finding.severity) ||
           (filter.excludes_by_select(finding.code) && opset::keeps_from_judging(finding.code));
  };
  std::erase_if(out.findings, [&](const opset::Finding& finding) { return !counts(finding); });
  const auto is_error = [](const opset::Finding& finding) {
    return finding.severity == opset::Severity::error;
  };
  const auto is_other = [&](const opset::Finding& finding) {
    return is_error(finding) && !opset::is_too_new(finding, model);
  };
  out.is_too_new =
      std::ranges::any_of(out.findings, is_error) && std::ranges::none_of(out.findings, is_other);
  return out;
}

void note_findings(const report::CheckedModel& model, const FailOn& fail_on, ExitCode& code) {
  for (const opset::Finding& finding : model.findings) {
    const bool excused = model.is_too_new && finding.severity == Severity::error;
    if (!excused && fail_on.fails(finding)) code.note(ErrorKind::invalid_model);
  }
  if (model.is_too_new) code.note(ErrorKind::unsupported);
}

report::CheckedModel checked_model(const std::string& path, const ModelAnswer& answer, bool shows_all,
                                   const FailOn& fail_on, ExitCode& code) {
  report::CheckedModel model;
  model.path = path;
  model.shows_all = shows_all;
  if (answer.failed) {
    model.failure = answer.failed->what();
    tell("grurun: {}\n", model.failure);
    code.note(answer.failed->kind());
    return model;
  }
  Checked checked;
  checked.fields(conformance::WireReader(answer.bytes));
  model.findings = std::move(checked.findings);
  model.is_too_new = checked.is_too_new;
  model.cut_short = std::move(checked.cut_short);
  note_findings(model, fail_on, code);
  if (!model.cut_short.empty()) code.note(ErrorKind::limit);
  return model;
}

// A file that cannot be read does not keep the others from being checked.
int check_models(const CheckFlags& flags, bool here, Reports<std::vector<report::CheckedModel>>& reports) {
  const FindingFilter filter = make_filter(flags.select, flags.ignore, flags.severity);
  const FailOn fail_on = make_fail_on(flags.fail_on);
  const std::vector<std::string> paths = model_paths(flags.models);
  std::vector<NamedPath> read;
  for (const std::string& path : paths) read.push_back({"the model", path});
  require_unread(reports.files(), read);
  reports.open();
  Progress progress;
  Look look;
  look.all = [&](const std::string& path) { return check_model(path, filter, progress).encoded(); };
  look.until_now = [&](const std::string& limit) {
    return Checked{progress.findings(), false, limit}.encoded();
  };
  ExitCode code;
  const auto finish = [&](const std::vector<ModelAnswer>& answers) {
    std::vector<report::CheckedModel> checked;
    for (const ModelAnswer& answer : answers)
      checked.push_back(checked_model(paths[checked.size()], answer, flags.all, fail_on, code));
    reports.write(checked);
  };
  finish(look_at_each(paths, {flags.jobs, flags.limits, flags.sandbox, "the check", here}, look, finish));
  return code.value();
}

int list_rules(const CheckFlags& flags, Reports<report::Rules>& reports) {
  const FindingFilter filter = make_filter(flags.select, flags.ignore, flags.severity);
  report::Rules rules;
  for (const opset::RuleInfo& rule : opset::all_rules()) {
    if (filter.keeps(rule.code, rule.severity)) rules.push_back(rule);
  }
  reports.open();
  reports.write(rules);
  return 0;
}

Work prepare_check(const std::shared_ptr<const CheckFlags>& flags) {
  if (flags->list_rules) {
    const auto reports = std::make_shared<Reports<report::Rules>>(flags->report, "check --list-rules", true);
    if (!flags->models.empty()) fail_usage("--list-rules checks no model; give one of them");
    return {{flags->sandbox, {{}, {}, paths_of(reports->files())}},
            [=] { return list_rules(*flags, *reports); }};
  }
  opset::refuse_forms(flags->strict);
  if (flags->models.empty()) fail_usage("check: no model given; see grurun check --help");
  const auto reports =
      std::make_shared<Reports<std::vector<report::CheckedModel>>>(flags->report, "check", true);
  const LookPlace place =
      look_place(flags->models, flags->sandbox, flags->limits, paths_of(reports->files()));
  return {place.sandbox, [=] { return check_models(*flags, place.here, *reports); }};
}

}  // namespace

void add_check(CLI::App& command, Action& action) {
  const auto flags = std::make_shared<CheckFlags>();
  command.add_option("MODEL", flags->models, "Model files, and folders for all models below them");
  add_jobs_flag(command, flags->jobs);
  const auto repeated = [&](const char* name, std::vector<std::string>& values, const char* help) {
    return command.add_option(name, values, help)->allow_extra_args(false)->type_name("CODES");
  };
  repeated("--select", flags->select,
           "Only findings whose code begins so: GRU or GRU,SHAPE003; may be repeated");
  repeated("--ignore", flags->ignore, "No findings whose code begins so; goes before --select");
  command
      .add_option("--severity", flags->severity,
                  "Findings of this severity and above: error, warning or note")
      ->type_name("LEAST")
      ->capture_default_str();
  repeated(
      "--fail-on", flags->fail_on,
      "Fail for more than errors: warning, note, or findings whose code begins so, GRU065; may be repeated")
      ->type_name("warning|CODES");
  const std::string formats = either_of(report::format_names<std::vector<report::CheckedModel>>()) +
                              "; with --list-rules " + either_of(report::format_names<report::Rules>());
  add_report_flags(command, flags->report, formats);
  command.add_flag("--all", flags->all,
                   "List every finding: without it the first 50 of each code of a model");
  add_limit_flags(command, flags->limits, "the check of a model");
  add_model_limit_flags(command, flags->limits.model, false);
  add_sandbox_flag(command, flags->sandbox);
  add_strict_flag(command, flags->strict);
  command.add_flag("--list-rules", flags->list_rules,
                   "Print the rules, with code and severity, that the flags leave in");
  command.footer(R"(
Every node, in subgraphs and functions too, is held against the schema of the exact version that the model's opset
means: operators, attributes, inputs, outputs and types. Names must be defined before they are used. Types and shapes
are inferred and compared with what the model declares; ONNX's own checker has its say. All findings are listed.
GRU, RNN and LSTM are held against everything that the text of their version states; docs/rules.md has the list.
Forms that the standard forbids and that can mean one thing only are warnings, with --strict errors.

  grurun check model.onnx
  grurun check --select GRU,RNN,LSTM --ignore GRU065 --severity warning model.onnx
  grurun check models/ --fail-on warning --report sarif=models.sarif
  grurun check --output-format json a.onnx b.onnx

Exit codes: 0 no errors (warnings and notes count with --fail-on, what the flags leave out never), 2 usage or a file is
missing, 3 errors, what --fail-on names, or no valid model file, 4 not supported (an opset or ir_version newer than those known here, say), 5 a limit was
hit: what was found until then is told.)");
  command.callback([flags, &action] { action = [flags] { return prepare_check(flags); }; });
}

}  // namespace grurun::cli
