#include "cli/reasons.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/streams.h"
#include "onnx_io/values/tensor_files.h"
#include "report/element_text.h"
#include "tensor/error.h"
#include "trial/diagnosis/diagnose.h"
#include "trial/diagnosis/trace.h"
#include "trial/precise.h"

namespace grurun::cli {
namespace {

void print_why(const RunRecord& record) {
  const trial::DiagnosisQuestion question{record.model,  record.inputs,  record.expected,
                                          record.values, record.differs, {record.seed, {}}};
  for (const trial::Explanation& finding : trial::diagnose(question)) {
    print("why: {}\n", printable(trial::describe(finding)));
  }
}

/// What cannot be told does not take the place of the verdict that outputs differ: a line on stderr says why.
template <typename Body>
void attempt(bool differs, Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    if (!differs || error.kind() == ErrorKind::internal) throw;
    tell("grurun: {}\n", printable(error.what()));
  }
}

void print_truth(const RunRecord& record) {
  const std::vector<Value> truth = trial::run_in_double(record.model, record.inputs, {record.seed, {}});
  bool is_told = false;
  for (std::size_t i = 0; i < record.outputs.size(); ++i) {
    const std::string text = trial::judge_by_truth(truth[i], record.values[i], record.expected[i]);
    if (!text.empty()) print("{}: {}\n", printable(record.outputs[i].name), text);
    is_told = is_told || !text.empty();
  }
  if (!is_told)
    tell(
        "grurun: --precise tells nothing here: no output is a tensor of float, float16 or bfloat16 that the "
        "model computes in double, in the shape that both sides have\n");
}

}  // namespace

void add_reason_flags(CLI::App& app, ReasonFlags& flags, const std::string& group) {
  app.add_option("--trace-gates", flags.trace_gates,
                 "Write every gate of every step of GRU, LSTM and RNN, recomputed in double")
      ->type_name("FILE.npz")
      ->group(group);
  app.add_flag("--precise", flags.precise,
               "Compute once more in double, and say which side is nearer to the truth, by how many ULP")
      ->group(group);
}

bool needs_inputs(const ReasonFlags& flags, const onnx_io::Model& model, bool compares) {
  return flags.precise || !flags.trace_gates.empty() || (compares && trial::can_be_diagnosed(model));
}

void check(const ReasonFlags& flags, const onnx_io::Model& model) {
  if (!flags.trace_gates.empty()) trial::require_traceable(model);
}

void check(const ReasonFlags& flags) {
  if (!flags.trace_gates.empty() && onnx_io::format_of(flags.trace_gates) != onnx_io::FileFormat::npz) {
    fail_usage("--trace-gates takes a file that ends in .npz, not {}", flags.trace_gates);
  }
}

void tell_reasons(const ReasonFlags& flags, const RunRecord& record) {
  const bool differs = std::ranges::find(record.differs, true) != record.differs.end();
  if (differs) print_why(record);
  if (flags.precise) attempt(differs, [&] { print_truth(record); });
  if (flags.trace_gates.empty()) return;
  attempt(differs, [&] {
    onnx_io::write_values(flags.trace_gates,
                          trial::trace_gates(record.model, record.inputs, {record.seed, {}}));
  });
}

}  // namespace grurun::cli
