// How a model fails on given values, in the words that conformance has for a case of it.
#pragma once

#include <optional>
#include <string>

#include "conformance/case.h"
#include "conformance/run_case.h"
#include "trial/submodel.h"

namespace grurun::conformance {

struct Failure {
  Verdict verdict = Verdict::differs;
  std::string message;
  /// What a smaller model must share to fail in the same way: of values that differ, whether it is type and
  /// shape or the elements; else the message without names, numbers, shapes and paths.
  std::string kind;

  bool is_same_as(const Failure& other) const { return verdict == other.verdict && kind == other.kind; }
};

/// nullopt of a good verdict.
std::optional<Failure> failure_of(const CaseResult& result);

/// "node '' (GRU-#): W has shape []": a message without what a smaller model changes, and without the nodes
/// in whose bodies the one that it is about stands.
std::string kind_of_message(const std::string& message);

/// Writes a part as a case folder: model.onnx and test_data_set_0. What is expected of an output of which
/// nothing is known are zeros.
void write_case(const std::string& folder, const trial::Submodel& part);

/// Runs parts as cases, in folders of their own below `scratch`, which are removed again.
class Judge {
 public:
  Judge(CaseOptions each, std::string scratch) : each_(std::move(each)), scratch_(std::move(scratch)) {}

  /// nullopt: nothing fails.
  std::optional<Failure> operator()(const trial::Submodel& part);
  std::size_t runs() const { return runs_; }

 private:
  CaseOptions each_;
  std::string scratch_;
  std::size_t runs_ = 0;
};

}  // namespace grurun::conformance
