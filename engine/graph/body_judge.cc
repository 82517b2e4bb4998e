#include "engine/graph/body_judge.h"

#include "engine/graph/node_rules.h"
#include "opset/findings/body_fault.h"
#include "opset/findings/rule_error.h"

namespace grurun::engine {

namespace {

std::pair<DType, Shape> judged_type(const Value* value) {
  if (value == nullptr || !value->is_tensor()) return {DType::undefined, {}};
  return {value->tensor().dtype(), value->tensor().shape()};
}

}  // namespace

bool BodyJudge::is_as_seen(const FindInput& input) const {
  if (seen_.text == nullptr || seen_.by_values) return false;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Value* value = input(i);
    if (value != nullptr && !value->is_tensor()) return false;
    if (judged_type(value) != seen_.types[i]) return false;
  }
  return true;
}

BodyJudge::Seen BodyJudge::judged_anew(const FindInput& input) const {
  Seen seen;
  std::string text;
  std::vector<opset::InputFacts> facts(slots_.size());
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const Value* value = input(i);
    facts[i].given = value != nullptr;
    seen.types.push_back(judged_type(value));
    text += (i == 0 ? "" : ", ") + (value == nullptr ? "-" : value->describe());
    if (value == nullptr || !value->is_tensor()) continue;
    facts[i].dtype = value->tensor().dtype();
    facts[i].shape = symbolic_shape(value->tensor().shape());
  }
  const auto value_of = [&](std::size_t i) -> const Tensor* {
    seen.by_values = true;
    const Value* value = input(i);
    return value != nullptr && value->is_tensor() ? &value->tensor() : nullptr;
  };
  const auto require = [&] {
    require_facts(opset::NodeFacts(node_, since_version_, std::move(facts), value_of));
  };
  if (label_.empty()) {
    require();
  } else {
    with_context([&] { return label_ + " with " + text; }, require);
  }
  seen.text = std::make_shared<const std::string>(std::move(text));
  return seen;
}

std::shared_ptr<const std::string> BodyJudge::judge(const FindInput& input) const {
  {
    const std::lock_guard lock(mutex_);
    if (is_as_seen(input)) return seen_.text;
  }
  Seen seen = judged_anew(input);
  const std::lock_guard lock(mutex_);
  seen_ = std::move(seen);
  return seen_.text;
}

void fail_of_body(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::invalid_model:
      throw opset::RuleError(opset::body_fault, opset::rule_info(opset::Rule::inference).code);
    case ErrorKind::unsupported:
      fail_unsupported("one of the operators of ai.onnx that it is computed by does not take such inputs");
    case ErrorKind::usage:
    case ErrorKind::limit:
      throw Error(error.kind(), error.message());
    case ErrorKind::internal:
      break;
  }
  throw error;
}

}  // namespace grurun::engine
