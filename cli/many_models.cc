#include "cli/many_models.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <new>

#include "cli/streams.h"
#include "cli/time_limit.h"
#include "conformance/memory_groups.h"
#include "conformance/privileges.h"
#include "conformance/process_limits.h"
#include "conformance/wire_fields.h"
#include "conformance/worker.h"
#include "engine/kernels/machine/parallel.h"
#include "onnx_io/models/find_models.h"
#include "opset/schema/registry.h"
#include "tensor/memory/heap.h"
#include "tensor/printable.h"

namespace grurun::cli {

namespace {

ModelAnswer look_here(const std::string& path,
                      const std::function<std::string(const std::string& path)>& look) {
  try {
    return {look(path), std::nullopt};
  } catch (const Error& error) {
    return {{}, error};
  } catch (const std::bad_alloc&) {
    return {{}, Error(ErrorKind::limit, path + ": " + memory::out_of_memory_text())};
  }
}

// An error crosses the border as its kind, its context and its message.
std::string encode_answer(const ModelAnswer& answer) {
  conformance::WireWriter writer;
  writer(answer.failed.has_value());
  if (!answer.failed) return writer(answer.bytes), writer.take();
  writer(static_cast<int>(answer.failed->kind())), writer(answer.failed->message()),
      writer(answer.failed->context());
  return writer.take();
}

ModelAnswer decode_answer(const std::string& bytes) {
  conformance::WireReader reader(bytes);
  bool failed = false;
  reader(failed);
  ModelAnswer answer;
  if (!failed) {
    reader(answer.bytes);
    return answer;
  }
  int number = 0;
  std::string message;
  std::vector<std::string> context;
  reader(number), reader(message), reader(context);
  const bool is_kind = number >= 0 && number <= static_cast<int>(ErrorKind::internal);
  const ErrorKind kind = is_kind ? static_cast<ErrorKind>(number) : ErrorKind::internal;
  answer.failed.emplace(kind, message);
  for (auto where = context.rbegin(); where != context.rend(); ++where) answer.failed->add_context(*where);
  return answer;
}

}  // namespace

std::vector<std::string> model_paths(const std::vector<std::string>& arguments) {
  std::vector<std::string> paths;
  for (const std::string& argument : arguments) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(argument, ignored)) {
      paths.push_back(argument);
      continue;
    }
    const std::vector<std::string> found = onnx_io::find_models(argument);
    if (found.empty()) fail_usage("{}: no model is below this folder", argument);
    paths.insert(paths.end(), found.begin(), found.end());
  }
  return paths;
}

namespace {

ModelAnswer known_until_now(const Look& look, const std::string& path, const std::string& limit) {
  if (look.until_now) return {look.until_now(limit), std::nullopt};
  return {{}, Error(ErrorKind::limit, path + ": " + limit)};
}

std::vector<ModelAnswer> look_at_one(const std::string& path, const LookOptions& options, const Look& look,
                                     const std::function<void(const std::vector<ModelAnswer>&)>& finish) {
  const auto limit = limit_time(options.limits.max_time, printable(path) + ": " + options.what, [&] {
    finish({known_until_now(look, path, time_limit_text(options.what, options.limits.max_time))});
    finish_stdout();
  });
  return {look_here(path, look.all)};
}

}  // namespace

LookPlace look_place(const std::vector<std::string>& arguments, const std::string& mode,
                     const LimitFlags& limits, const std::vector<std::string>& written) {
  std::error_code ignored;
  const bool here = arguments.size() == 1 && !std::filesystem::is_directory(arguments.front(), ignored);
  if (here) apply(limits);
  return {{mode, {arguments, {}, written}, !here}, here};
}

std::vector<ModelAnswer> look_at_each(const std::vector<std::string>& paths, const LookOptions& options,
                                      const Look& look,
                                      const std::function<void(const std::vector<ModelAnswer>&)>& finish) {
  if (options.jobs < 0) fail_usage("-j takes a number of processes, or 0 for one on each CPU");
  if (options.here) return look_at_one(paths.front(), options, look, finish);
  opset::since_version("Identity", "", 1);  // tables that every worker needs are built once
  const std::size_t memory = most_memory(options.limits.max_memory);
  std::vector<ModelAnswer> answers(paths.size());
  const auto run = [&](std::size_t job, const conformance::WorkersLeft&) {
    kernels::set_threads(1);
    const std::string too_late = time_limit_text(options.what, options.limits.max_time);
    const auto limit = limit_time(options.limits.max_time, options.what, [&] {
      conformance::answer_and_end(encode_answer(known_until_now(look, paths[job], too_late)));
    });
    return encode_answer(look_here(paths[job], look.all));
  };
  const auto on_end = [&](const conformance::JobEnd& end) {
    if (end.how == conformance::JobEnd::How::answered) {
      answers[end.job] = decode_answer(end.answer);
    } else if (end.how == conformance::JobEnd::How::over_memory) {
      answers[end.job].failed.emplace(ErrorKind::limit,
                                      paths[end.job] + ": " + conformance::over_memory_text(memory));
    } else {
      answers[end.job].failed.emplace(
          ErrorKind::internal, fmt::format("{}: the worker process {}{}", paths[end.job],
                                           end.answer.starts_with("exited") ? "" : "was ", end.answer));
    }
    return true;
  };
  const auto sandbox = make_sandbox(options.sandbox, paths);
  conformance::PoolOptions pool{options.jobs > 0 ? options.jobs : kernels::usable_cpus(), std::nullopt};
  pool.max_resident = conformance::memory_of_process(memory);
  conformance::MemoryGroups groups(std::min(static_cast<std::size_t>(pool.workers), paths.size()),
                                   pool.max_resident);
  pool.groups = &groups;
  pool.on_start = [&](int answers_to) {
    apply(options.limits);
    if (sandbox == nullptr) return;
    sandbox->enter();
    conformance::keep_only(answers_to);
  };
  if (conformance::run_pool(paths.size(), pool, run, on_end) == conformance::PoolEnd::interrupted)
    fail_usage("stopped by a signal before every model was looked at");
  return answers;
}

void add_jobs_flag(CLI::App& command, int& jobs) {
  command.add_option("-j,--jobs", jobs, "Models that are looked at side by side; 0: one on each CPU")
      ->type_name("N")
      ->capture_default_str();
}

void ExitCode::note(ErrorKind kind) {
  usage_ = usage_ || kind == ErrorKind::usage;
  limit_ = limit_ || kind == ErrorKind::limit;
  invalid_ = invalid_ || kind == ErrorKind::invalid_model;
  if (other_ == 0) other_ = exit_code(kind);
}

int ExitCode::value() const {
  if (usage_) return exit_code(ErrorKind::usage);
  if (limit_) return exit_code(ErrorKind::limit);
  return invalid_ ? exit_code(ErrorKind::invalid_model) : other_;
}

}  // namespace grurun::cli
