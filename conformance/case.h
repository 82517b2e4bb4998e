// A conformance case, as found on disk, and what became of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opset/findings/finding.h"
#include "trial/compare.h"
#include "trial/diagnosis/explanation.h"
#include "trial/tolerance.h"

namespace grurun::conformance {

struct Case {
  std::string name;   // "test_gru_defaults", "light_resnet50"
  std::string kind;   // name of the folder that holds it: "node", "simple", "light"
  std::string path;   // the case's folder, or the model file of the flat layout, as the user reached it
  std::string model;  // the model file
  std::vector<std::string> data_sets;  // folders test_data_set_*, in the order of their numbers
  bool flat = false;  // layout of light/: expected outputs beside the model, inputs made by rule
  trial::ToleranceChoice tolerance;  // from data.json
  std::string problem;               // not empty: found, but cannot be run; the verdict is invalid
  std::size_t place = 0;             // in the whole suite, where this is a part of one: take_shard

  /// "node/test_gru_defaults": what patterns are matched against and reports show.
  std::string full_name() const { return kind + "/" + name; }
};

enum class Verdict : std::uint8_t {
  passed,
  passed_not_comparable,  // a random operator reaches an output, which was checked by its distribution
                          // instead: in a test of that operator, or because the options allow it
  known_wrong,            // the case contradicts the text of its own release
  differs,
  random,  // as passed_not_comparable, but nobody said that random values are wanted
  unsupported,
  invalid,
  crashed,
  timed_out,
  missing,  // another runtime left no output to be judged
};

inline constexpr int verdict_count = 10;

/// "passed", "passed-not-comparable", "known-wrong", "differs", ...: as in reports and expectation files.
const char* verdict_name(Verdict verdict);
std::optional<Verdict> parse_verdict(std::string_view name);

/// True for the verdicts that need no line in an expectations file.
inline bool is_good(Verdict verdict) {
  return verdict <= Verdict::known_wrong;
}

/// One output of one data set.
struct OutputResult {
  std::string data_set;  // "test_data_set_0"; empty in the flat layout
  std::string name;      // graph output
  bool random = false;   // checked by type, shape and distribution; comparison then holds only those
  trial::Comparison comparison;
  std::string cause{};  // of a random one: what draws, "node 'drop' runs in training mode"
};

/// A rule of the standard that is broken without a bearing on the verdict.
struct Warning {
  std::string data_set;  // as in OutputResult; empty, too, where the model alone shows it
  opset::Finding finding;
};

/// A domain as people write it, "ai.onnx", and the version of it that a model imports.
struct OpsetImport {
  std::string domain;
  std::int64_t version = 0;
};

struct CaseResult {
  Verdict verdict = Verdict::passed;
  std::string message;  // one line; empty when passed
  double seconds = 0;
  std::vector<std::string> operators;  // of the model, each once, sorted: "GRU", "ai.onnx.ml.Scaler"
  std::vector<OpsetImport> opsets;     // of the model, by domain
  std::vector<OutputResult> outputs;
  std::vector<trial::Explanation> findings;  // why recurrent nodes differ, where diagnosis can say it
  std::vector<Warning> warnings;  // of the model, and of values that are of another type than it declares
  std::uint64_t left_out = 0;     // outputs and warnings beyond the first thousand of each
};

}  // namespace grurun::conformance
