#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/limit_flags.h"
#include "cli/report_flags.h"
#include "cli/sandbox_flags.h"
#include "cli/tolerance_flags.h"
#include "conformance/policy.h"
#include "report/compare/compare_format.h"
#include "tensor/memory/heap.h"

namespace grurun::cli {

namespace {

struct CompareFlags {
  std::string actual, expected;
  ToleranceFlags tolerance;
  std::string policy;
  bool cast = false;
  std::string sandbox = "auto";
  std::string max_memory;
  ReportFlags report;
};

int run_compare(const CompareFlags& flags, Reports<report::ComparedFiles>& reports) {
  const trial::ToleranceChoice tolerance = checked(flags.tolerance);
  std::shared_ptr<const conformance::Policy> policy;
  if (!flags.policy.empty()) policy = conformance::Policy::load(flags.policy);
  const auto tolerances = [&](const std::string& name) {
    trial::Tolerances out{tolerance, {}};
    if (policy != nullptr)
      out.rule = [&policy, name](DType type) { return policy->find({}, {}, name, type); };
    return out;
  };
  memory::begin_counting_heap();
  reports.open();
  const report::ComparedFiles compared{
      flags.actual, flags.expected,
      trial::compare_files(flags.actual, flags.expected, tolerances, flags.cast)};
  reports.write(compared);
  return compared.ok() ? 0 : 1;
}

Work prepare_compare(const std::shared_ptr<const CompareFlags>& flags) {
  const auto reports = std::make_shared<Reports<report::ComparedFiles>>(flags->report, "compare", true);
  require_unread(reports->files(),
                 {{"ACTUAL", flags->actual}, {"EXPECTED", flags->expected}, {"--policy", flags->policy}});
  checked(flags->tolerance);
  apply_memory_limit(flags->max_memory);
  SandboxFiles files{{}, {flags->actual, flags->expected}, paths_of(reports->files())};
  if (!flags->policy.empty()) files.values.push_back(flags->policy);
  return {{flags->sandbox, files}, [=] { return run_compare(*flags, *reports); }};
}

}  // namespace

void add_compare(CLI::App& command, Action& action) {
  const auto flags = std::make_shared<CompareFlags>();
  command
      .add_option("ACTUAL", flags->actual, "A file of values (.pb, .npy, .npz, .json), or a folder of such")
      ->required();
  command.add_option("EXPECTED", flags->expected, "What it is held against, likewise")->required();
  add_tolerance_flags(command, flags->tolerance);
  add_cast_flag(command, flags->cast);
  command
      .add_option("--policy", flags->policy, "Rules of how exact values must be, by their names and types")
      ->type_name("FILE");
  add_sandbox_flag(command, flags->sandbox);
  command
      .add_option("--max-memory", flags->max_memory,
                  "Bytes that both sides may take, 512M, 4G (the memory of the machine, or of the container)")
      ->type_name("SIZE");
  add_report_flags(command, flags->report, either_of(report::format_names<report::ComparedFiles>()));
  command.footer(
      "Exit codes: 0 all as expected, 1 something differs or is on one side only, 2 usage, 3 invalid data, 4 "
      "unsupported, 5 a limit was hit, 70 internal error.");
  command.callback([&action, flags] { action = [flags] { return prepare_compare(flags); }; });
}

}  // namespace grurun::cli
