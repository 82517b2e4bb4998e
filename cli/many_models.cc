#include "cli/many_models.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <new>

#include "conformance/wire_fields.h"
#include "conformance/worker.h"
#include "engine/kernels/machine/parallel.h"
#include "onnx_io/models/find_models.h"
#include "opset/schema/registry.h"
#include "tensor/memory/heap.h"

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
  writer(answer.failed->kind()), writer(answer.failed->message()), writer(answer.failed->context());
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
  ErrorKind kind{};
  std::string message;
  std::vector<std::string> context;
  reader(kind), reader(message), reader(context);
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

std::vector<ModelAnswer> look_at_each(const std::vector<std::string>& paths, int jobs,
                                      const std::function<std::string(const std::string& path)>& look) {
  if (jobs < 0) fail_usage("-j takes a number of processes, or 0 for one on each CPU");
  if (paths.size() == 1) return {look_here(paths.front(), look)};
  opset::since_version("Identity", "", 1);  // tables that every worker needs are built once
  std::vector<ModelAnswer> answers(paths.size());
  const auto run = [&](std::size_t job, const conformance::WorkersLeft&) {
    kernels::set_threads(1);
    return encode_answer(look_here(paths[job], look));
  };
  const auto on_end = [&](const conformance::JobEnd& end) {
    if (end.how == conformance::JobEnd::How::answered) {
      answers[end.job] = decode_answer(end.answer);
    } else {
      answers[end.job].failed.emplace(
          ErrorKind::internal, fmt::format("{}: the worker process {}{}", paths[end.job],
                                           end.answer.starts_with("exited") ? "" : "was ", end.answer));
    }
    return true;
  };
  const conformance::PoolOptions options{jobs > 0 ? jobs : kernels::usable_cpus(), std::nullopt};
  if (conformance::run_pool(paths.size(), options, run, on_end) == conformance::PoolEnd::interrupted)
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
  invalid_ = invalid_ || kind == ErrorKind::invalid_model;
  if (other_ == 0) other_ = exit_code(kind);
}

int ExitCode::value() const {
  if (usage_) return exit_code(ErrorKind::usage);
  return invalid_ ? exit_code(ErrorKind::invalid_model) : other_;
}

}  // namespace grurun::cli
