#include "conformance/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "conformance/memory_groups.h"
#include "conformance/privileges.h"
#include "conformance/process_limits.h"
#include "conformance/wire.h"
#include "engine/graph/op_registry.h"
#include "engine/kernels/machine/parallel.h"
#include "onnx_io/bytes.h"
#include "onnx_io/folder.h"
#include "onnx_io/scratch_folder.h"
#include "opset/schema/registry.h"
#include "tensor/error.h"
#include "tensor/memory/heap.h"
#include "tensor/memory/memory.h"

namespace grurun::conformance {

namespace {

CaseResult result_of(const JobEnd& end, const SuiteOptions& options) {
  CaseResult result;
  if (end.how == JobEnd::How::answered) {
    try {
      return decode(end.answer);
    } catch (const Error& error) {  // the case has damaged its process, which is that case's result
      result.verdict = Verdict::crashed;
      result.message = error.what();
      return result;
    }
  }
  result.seconds = end.seconds;
  if (end.how == JobEnd::How::crashed) {
    result.verdict = Verdict::crashed;
    result.message = "the worker process was " + end.answer;
    if (end.answer.starts_with("exited")) result.message = "the worker process " + end.answer;
  } else if (end.how == JobEnd::How::over_memory) {
    result.verdict = Verdict::timed_out;
    result.message = over_memory_text(options.max_memory);
  } else {
    result.verdict = Verdict::timed_out;
    result.message = fmt::format("killed: it took longer than {:g} s",
                                 std::chrono::duration<double>(*options.each.max_time).count());
  }
  return result;
}

/// A case's folder or file that is a link lies elsewhere, and is among the links found; so may what is in a
/// data set, which workers need not look into again.
SandboxPaths readable_paths(const SuiteResult& result, onnx_io::KnownFolders& data_sets) {
  SandboxPaths paths{result.options.folders};
  paths.links = result.options.links;
  if (result.options.each.other) paths.read.push_back(result.options.each.other->folder);
  std::string last;
  for (const Case& test : result.cases) {
    const std::string folder = onnx_io::folder_of(test.model);
    if (folder == last) continue;  // models of one folder, in the flat layout
    last = folder;
    if (result.options.folders.empty()) paths.read.push_back(folder);
    for (const std::string& set : test.data_sets)
      for (const onnx_io::FolderEntry& entry : data_sets.look_into(set))
        if (entry.is_link) paths.links.push_back(set + "/" + entry.name);
  }
  return paths;
}

}  // namespace

bool is_unexpected(Verdict verdict, const Expectation* listed) {
  return listed == nullptr ? !is_good(verdict) : verdict != listed->verdict;
}

bool is_unexpected(const CaseResult& result, const Expectation* listed) {
  if (is_unexpected(result.verdict, listed)) return true;
  return listed != nullptr && !beyond(listed->bounds, result).empty();
}

void judge_by_expectations(SuiteResult& result, const std::vector<Case>& all) {
  result.stale = result.expectations.without_case(all);
  for (std::size_t i = 0; i < result.outcomes.size(); ++i) {
    CaseOutcome& outcome = result.outcomes[i];
    outcome.expectation = result.expectations.find(result.cases[i]);
    outcome.unexpected = outcome.ran && is_unexpected(outcome.result, outcome.expectation);
  }
}

std::size_t SuiteResult::flaky() const {
  return static_cast<std::size_t>(std::ranges::count_if(outcomes, &CaseOutcome::is_flaky));
}

std::size_t SuiteResult::not_run() const {
  return static_cast<std::size_t>(std::count_if(outcomes.begin(), outcomes.end(),
                                                [](const CaseOutcome& outcome) { return !outcome.ran; }));
}

std::size_t SuiteResult::unexpected() const {
  return static_cast<std::size_t>(std::count_if(
      outcomes.begin(), outcomes.end(), [](const CaseOutcome& outcome) { return outcome.unexpected; }));
}

bool SuiteResult::as_expected() const {
  return not_run() == 0 && unexpected() == 0 && stale.empty() && unused_rules.empty();
}

void run_suite(SuiteResult& result, const Progress& progress) {
  const auto begin = std::chrono::steady_clock::now();
  result.outcomes.resize(result.cases.size());
  std::vector<std::size_t> jobs;  // cases that did not run in a run before
  for (std::size_t i = 0; i < result.cases.size(); ++i) {
    CaseOutcome& outcome = result.outcomes[i];
    outcome.expectation = result.expectations.find(result.cases[i]);
    if (!outcome.ran) jobs.push_back(i);
    if (!outcome.ran) continue;
    outcome.unexpected = is_unexpected(outcome.result, outcome.expectation);
    add_used_rules(outcome.result, result.used_rules);
  }

  // Tables that every worker needs are built once, before the first fork.
  opset::since_version("Identity", "", 1);
  engine::find_op("", "Identity", 1);

  // Starts no thread here, where workers are forked. A worker whose case runs on when others have ended takes
  // theirs: one large case may be what a suite waits for.
  const auto share_threads = [&](int workers) {
    const int threads = std::max(result.options.threads / std::max(workers, 1), 1);
    if (threads != kernels::threads()) kernels::set_threads(threads);
  };
  share_threads(result.options.workers);

  // A command of another runtime is a program that a worker starts, under limits of its own.
  const bool starts_programs = result.options.each.other && !result.options.each.other->command.empty();
  if (starts_programs && result.options.sandbox == SandboxMode::strict)
    fail_usage("--sandbox strict: workers that run another runtime's command start a program; use auto");
  std::optional<onnx_io::ScratchFolder> scratch;
  if (starts_programs) scratch.emplace();
  const SandboxMode mode = starts_programs ? SandboxMode::off : result.options.sandbox;
  onnx_io::KnownFolders data_sets;
  const bool bounds_paths = mode != SandboxMode::off && sandbox_support().landlock > 0;
  const Sandbox sandbox(mode, SandboxRole::worker,
                        bounds_paths ? readable_paths(result, data_sets) : SandboxPaths{});
  result.sandbox = sandbox.state().text();
  PoolOptions pool{result.options.workers, result.options.each.max_time};
  pool.max_run_time = result.options.max_run_time;
  if (!starts_programs) pool.max_resident = memory_of_process(result.options.max_memory);
  MemoryGroups groups(std::min<std::size_t>(static_cast<std::size_t>(std::max(pool.workers, 1)), jobs.size()),
                      pool.max_resident);
  pool.groups = &groups;
  if (groups.version() != 0) result.sandbox += fmt::format(", control groups {}", groups.version());
  // A worker may not raise its own limit, so that it has twice the time of a case, and ends with less than
  // once.
  const bool bounds_time = result.options.each.max_time && !starts_programs;
  const auto time_of_case =
      (result.options.each.max_time.value_or(std::chrono::nanoseconds(0)) + kill_grace) *
      result.options.threads;
  if (bounds_time) pool.goes_on = [=] { return has_processor_time(time_of_case); };
  pool.on_start = [&](int answers) {
    if (!starts_programs) limit_memory(result.options.max_memory);
    if (bounds_time) limit_processor_time(2 * time_of_case);
    if (mode != SandboxMode::off) {
      limit_files();
      sandbox.enter();
      keep_only(answers);
    }
  };

  std::size_t done = result.cases.size() - jobs.size();
  const auto run = [&](std::size_t job, const WorkersLeft& left) {
    memory::set_limit(result.options.max_memory);
    memory::begin_counting_heap();
    CaseOptions options = result.options.each;
    options.between_steps = [&] {
      share_threads(left());
      if (result.options.each.between_steps) result.options.each.between_steps();
    };
    if (scratch) options.scratch = fmt::format("{}/{}", scratch->path(), job);
    return encode(run_case(result.cases[jobs[job]], options));
  };
  // What is run again is told of when it has ended for good.
  const auto tell = [&](std::size_t index) {
    CaseResult& ended = result.outcomes[index].result;
    add_used_rules(ended, result.used_rules);
    if (progress) progress(result, ++done, index);
    if (result.options.keep_outputs || !is_good(ended.verdict)) return;
    // Of a million cases these would be more than all else.
    std::vector<OutputResult>().swap(ended.outputs);
    std::vector<OpsetImport>().swap(ended.opsets);
    for (const std::string& set : result.cases[index].data_sets) data_sets.forget(set);
    std::vector<std::string>().swap(result.cases[index].data_sets);
    std::string().swap(result.cases[index].model);
  };
  const auto on_end = [&](JobEnd end) {
    const std::size_t index = jobs[end.job];
    CaseOutcome& outcome = result.outcomes[index];
    outcome.result = result_of(end, result.options);
    outcome.ran = true;
    outcome.unexpected = is_unexpected(outcome.result, outcome.expectation);
    if (!outcome.unexpected || result.options.retries == 0) tell(index);
    return !(result.options.fail_fast && outcome.unexpected);
  };
  result.end = run_pool(jobs.size(), pool, run, on_end);
  const std::vector<std::size_t> first_jobs = jobs;
  for (int again = 0; again < result.options.retries && result.end == PoolEnd::done; ++again) {
    std::erase_if(jobs, [&](std::size_t index) { return !result.outcomes[index].unexpected; });
    const auto on_end_again = [&](JobEnd end) {
      CaseOutcome& outcome = result.outcomes[jobs[end.job]];
      outcome.attempts.push_back({outcome.result.verdict, outcome.result.message, outcome.result.seconds});
      outcome.result = result_of(end, result.options);
      outcome.unexpected = is_unexpected(outcome.result, outcome.expectation);
      if (!outcome.unexpected) tell(jobs[end.job]);
      return true;
    };
    result.end = run_pool(jobs.size(), pool, run, on_end_again);
  }
  for (const std::size_t index : first_jobs)
    if (result.options.retries > 0 && result.outcomes[index].ran && result.outcomes[index].unexpected)
      tell(index);
  // What a runtime left may be of any size.
  if (scratch && pool.max_run_time) {
    const std::string path = scratch->path();
    if (!scratch->remove_by(begin + *pool.max_run_time))
      fmt::print(stderr, "grurun: {} could not be removed within --max-run-time: remove it by hand\n", path);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace grurun::conformance
