// An operator that is judged by its page before it runs, and that is named in place of the nodes of its body
// where these fail.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/error.h"
#include "tensor/value.h"

namespace grurun::engine {

class BodyJudge {
 public:
  /// Of an input that is given, else nullptr.
  using FindInput = std::function<const Value*(std::size_t input)>;

  /// label: the context of what judge throws, besides the inputs; none, if empty. slots: where the inputs
  /// stand in the frame of the plan.
  BodyJudge(onnx_io::Node node, int since_version, std::string label, std::vector<int> slots)
      : node_(std::move(node)),
        since_version_(since_version),
        label_(std::move(label)),
        slots_(std::move(slots)) {}

  /// "node 'x' (com.microsoft.FusedMatMul-1)"
  const std::string& label() const { return label_; }
  const std::vector<int>& slots() const { return slots_; }

  /// Throws RuleError for what the operator's page says of these inputs. Inputs of the types and shapes of
  /// the last call are judged again only where a rule looked at values. Returns what the inputs are, for
  /// messages: "tensor(float) [2,3], -".
  std::shared_ptr<const std::string> judge(const FindInput& input) const;

 private:
  struct Seen {
    std::vector<std::pair<DType, Shape>> types;
    bool by_values = false;
    std::shared_ptr<const std::string> text;
  };

  bool is_as_seen(const FindInput& input) const;
  Seen judged_anew(const FindInput& input) const;

  const onnx_io::Node node_;
  const int since_version_;
  const std::string label_;
  const std::vector<int> slots_;
  mutable std::mutex mutex_;  // runs of several threads share a plan
  mutable Seen seen_;
};

/// Throws what an error within a body says of the operator itself. The kind stays. Limits and faults of our
/// own keep their words; those of nodes that the model does not have go.
[[noreturn]] void fail_of_body(const Error& error);

/// What work() gives; what it throws goes through fail_of_body.
template <typename Work>
decltype(auto) of_body(Work&& work) {
  try {
    return work();
  } catch (const Error& error) {
    fail_of_body(error);
  }
}

}  // namespace grurun::engine
