// After a run: why outputs differ, what the truth is, what happened at every gate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/app.h"
#include "cli/inputs.h"
#include "onnx_io/models/model.h"
#include "tensor/value.h"

namespace grurun::cli {

struct ReasonFlags {
  std::string trace_gates;  // --trace-gates FILE.npz
  bool precise = false;     // --precise
};

/// Adds --trace-gates and --precise.
void add_reason_flags(CLI::App& app, ReasonFlags& flags, const std::string& group);

/// A run and what was expected of it; empty values where nothing was.
struct RunRecord {
  const onnx_io::Model& model;
  const std::vector<Slot>& outputs;
  const std::vector<Value>& inputs;
  const std::vector<Value>& values;
  const std::vector<Value>& expected;
  const std::vector<bool>& differs;
  std::uint64_t seed;  // of its random operators
};

/// True when tell_reasons looks at the inputs once more, so that the run may not have them to overwrite.
bool needs_inputs(const ReasonFlags& flags, const onnx_io::Model& model, bool compares);

/// Throws Error(usage) when --trace-gates names no .npz: to be called before the run.
void check(const ReasonFlags& flags);

/// Throws Error(usage) when --trace-gates has nothing to trace in the model: likewise.
void check(const ReasonFlags& flags, const onnx_io::Model& model);

/// Prints a line for each recurrent node whose outputs differ, and with --precise one for each output; writes
/// the trace. Throws Error(unsupported) when the model cannot be computed in double, Error(usage) when the
/// file cannot be written, and what a run throws; where outputs differ a line on stderr says so instead.
void tell_reasons(const ReasonFlags& flags, const RunRecord& record);

}  // namespace grurun::cli
