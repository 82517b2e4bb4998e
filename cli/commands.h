// Each subcommand in its own file: add_NAME, in NAME_command.cc, declares the command's flags; its callback
// only sets action, which main runs inside the one error handler. action looks at the flags and says what
// work there is. main then enters the sandbox, for every command, and does the work, which returns the exit
// code. Both throw what loading, planning and running throw.
#pragma once

#include <functional>

#include "cli/app.h"
#include "cli/sandbox_flags.h"

namespace grurun::cli {

/// What a command does with bytes of strangers, and what it must be able to open for it. No file that it
/// names is read before.
struct Work {
  SandboxChoice sandbox;
  std::function<int()> run;
};

using Action = std::function<Work()>;

/// A row of a table of commands.
struct Command {
  const char* name;
  const char* description;
  void (*add)(CLI::App& command, Action& action);
  bool tells_of_all = false;  // looks at the flags of every command
};

/// `grurun MODEL ...`, the command without a name: flags and action of the application itself.
void add_run(CLI::App& app, Action& action);

/// `grurun conformance PATH...`: runs cases and compares them with their expected outputs. Returns 0 (all as
/// expected) or 1 (an unexpected verdict or a stale expectation) and throws Error(usage) for what the user
/// gave, for a run without cases and, after the verdicts are printed, for a report that could not be written,
/// Error(internal) for faults of ours; nothing else leaves it.
void add_conformance(CLI::App& command, Action& action);

/// `grurun data -o DIR`: ONNX's official cases as files. Returns 0, or 1 where some could not be made.
void add_data(CLI::App& command, Action& action);

/// `grurun report COMMAND`: what becomes of the JSON reports of `grurun conformance`; each command of it has
/// a row in report_command.cc.
void add_report(CLI::App& command, Action& action);

/// `grurun compare ACTUAL EXPECTED`: values in files, without a model. Returns 0, or 1 where they differ.
void add_compare(CLI::App& command, Action& action);

/// `grurun bench MODEL`: how long a run takes, and where the time goes. Returns 0.
void add_bench(CLI::App& command, Action& action);

/// `grurun bisect MODEL`: which node is the first to go wrong. Returns 1 where one does, else 0.
void add_bisect(CLI::App& command, Action& action);

/// `grurun reduce MODEL -o DIR`: the smallest case that fails as the model does. Returns 0, or 1 where
/// nothing fails.
void add_reduce(CLI::App& command, Action& action);

/// `grurun generate MODEL -o DIR`: a case of a model, with random inputs and what it makes of them. Returns
/// 0, or 1 where a size that was asked for cannot be run.
void add_generate(CLI::App& command, Action& action);

/// `grurun node OP -o DIR`: a case of one node. Returns 0.
void add_node(CLI::App& command, Action& action);

/// `grurun diff A B`: what two models have in common, and whether they do the same. Returns 0, or 1 where
/// something differs.
void add_diff(CLI::App& command, Action& action);

/// `grurun check MODEL...`: what the standard has to say against a model. Returns 0 without errors, 2 a file
/// is missing, 3 errors or no valid model, else that of the first file that failed otherwise; one that is
/// newer than what is known here is not supported.
void add_check(CLI::App& command, Action& action);

/// `grurun schema OP`: an operator as one version of the standard defines it. Returns 0 and throws what
/// select_schema throws.
void add_schema(CLI::App& command, Action& action);

/// `grurun inspect MODEL`: what a model consists of. Returns 0.
void add_inspect(CLI::App& command, Action& action);

/// `grurun completions SHELL`: what bash, zsh or fish read, made from the flags of all commands, which must
/// have been added to the same application. Returns 0.
void add_completions(CLI::App& command, Action& action);

/// `grurun manual`: the man page, likewise.
void add_manual(CLI::App& command, Action& action);

/// `grurun ops`: operator x version x type, from the schema registry and the kernel tables.
void add_ops(CLI::App& command, Action& action);

}  // namespace grurun::cli
