#include "cli/part_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/flag_values.h"
#include "conformance/resume.h"
#include "report/suite/read_suite.h"
#include "tensor/error.h"

namespace grurun::cli {

namespace {

using namespace grurun::conformance;

CaseTimes times_of(const std::string& file) {
  CaseTimes times;
  if (file.empty()) return times;
  const SuiteResult former = report::read_suite(file, report::Unfinished::allowed);
  std::map<std::string, int> holders;
  for (const Case& test : former.cases) ++holders[test.full_name()];
  for (std::size_t i = 0; i < former.cases.size(); ++i) {
    if (!former.outcomes[i].ran) continue;
    const double seconds = former.outcomes[i].result.seconds;
    times.emplace(path_key(former.cases[i]), seconds);
    if (holders[former.cases[i].full_name()] == 1) times.emplace(former.cases[i].full_name(), seconds);
  }
  return times;
}

void add_selection(CLI::App& command, Selection& selection) {
  const auto repeated = [&](const char* name, std::vector<std::string>& values, const char* text) {
    return command.add_option(name, values, text)->allow_extra_args(false);
  };
  repeated("-k", selection.filters,
           "Only cases whose kind/name holds this text; with * ? [ it is a shell pattern for name "
           "or kind/name; with two slashes or more it is for the path; several: any of them");
  repeated("--kind", selection.kinds, "Only cases of this kind, the folder that holds them; may be repeated")
      ->type_name("KIND");
  repeated("--op", selection.operators,
           "Only cases whose model holds this operator, GRU or ai.onnx.ml.Scaler; several: any of them")
      ->type_name("OPERATOR");
  const auto opset = [&](const char* name, std::optional<std::int64_t>& version, const char* text) {
    command
        .add_option_function<std::string>(
            name,
            [name, &version](const std::string& value) {
              version =
                  static_cast<std::int64_t>(std::min<std::uint64_t>(parse_whole(name, value), INT64_MAX));
            },
            text)
        ->type_name("OPSET");
  };
  opset("--since", selection.since, "Only cases whose model imports this opset of ai.onnx or a newer one");
  opset("--until", selection.until, "Only cases whose model imports this opset of ai.onnx or an older one");
}

}  // namespace

void add_part_flags(CLI::App& command, PartFlags& flags) {
  add_selection(command, flags.selection);
  const char* machines = "Several machines";
  command
      .add_option("--shard", flags.shard,
                  "Run part K of N; auto: as Slurm, Kubernetes, GitLab or Buildkite say, or GRURUN_SHARD and "
                  "GRURUN_SHARDS")
      ->type_name("K/N")
      ->group(machines);
  command
      .add_option(
          "--times", flags.times,
          "JSON report of a run before: the parts take equally long then (a hash of the path decides)")
      ->type_name("REPORT")
      ->group(machines);
  command
      .add_option("--resume", flags.resume,
                  "Report of a run that was stopped, as json or jsonl: what it did is taken over")
      ->type_name("REPORT")
      ->group(machines);
}

void take_part(const PartFlags& flags, std::string_view policy, SuiteResult& result) {
  if (flags.shard.empty() && !flags.times.empty())
    fail_usage("--times divides a suite among machines; give --shard K/N, too");
  if (!flags.shard.empty())
    result.part = take_shard(result.cases, parse_shard(flags.shard), times_of(flags.times), policy);
  if (!flags.resume.empty()) take_over(result, report::read_suite(flags.resume, report::Unfinished::allowed));
}

}  // namespace grurun::cli
