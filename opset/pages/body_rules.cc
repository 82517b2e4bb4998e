#include "opset/pages/body_rules.h"

#include "opset/pages/node_facts.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

using Kind = ValueType::Kind;

bool may_have_one_shape(const ValueType& a, const ValueType& b) {
  if (!a.shape || !b.shape) return true;
  return a.shape->size() == b.shape->size() && may_be(sizes_of(*a.shape), sizes_of(*b.shape));
}

// A state may be given without the optional around it.
const ValueType& unwrapped(const ValueType& type) {
  return type.kind == Kind::optional && type.element ? *type.element : type;
}

bool is_sparse(const ValueType& type) {
  return type.kind == Kind::sparse_tensor;  // held dense
}

bool may_be_alike(const ValueType& a, const ValueType& b, bool with_shapes) {
  if (is_sparse(a) || is_sparse(b)) return true;
  return may_be_one(a, b) && (!with_shapes || may_have_one_shape(a, b));
}

std::string type_text(const ValueType& type, bool with_shape) {
  return with_shape ? type.describe() : type.to_string();
}

}  // namespace

void require_counts(const std::string& body, const char* op_type, BodyCounts wanted, BodyCounts has) {
  if (wanted.inputs == has.inputs && wanted.outputs == has.outputs) return;
  fail_invalid("the body '{}' of {} must have {} inputs and {} outputs, but has {} and {}", body, op_type,
               wanted.inputs, wanted.outputs, has.inputs, has.outputs);
}

void require_declared(const std::string& input, const ValueType& declared, const ValueType& given,
                      bool with_shapes) {
  if (may_be_alike(unwrapped(declared), unwrapped(given), with_shapes)) return;
  fail_invalid("the body declares its input '{}' as {}, but is given {}", input,
               type_text(declared, with_shapes), type_text(given, with_shapes));
}

void require_alike_branches(std::size_t output, int since_version, const BranchOutput& then_output,
                            const BranchOutput& else_output) {
  const bool with_shapes = since_version < 11;
  if (may_be_alike(then_output.type, else_output.type, with_shapes)) return;
  fail_invalid(
      "output {} is {} by then_branch ('{}'), but {} by else_branch ('{}'): the return values of "
      "both branches must be of the same {}data type",
      output, type_text(then_output.type, with_shapes), then_output.name,
      type_text(else_output.type, with_shapes), else_output.name, with_shapes ? "shape and " : "");
}

void require_condition(const ValueType& type) {
  const bool may_be_bool =
      type.kind == Kind::unknown ||
      (type.kind == Kind::tensor && (type.elem == DType::undefined || type.elem == DType::boolean));
  const Size count = type.shape ? count_of(sizes_of(*type.shape)) : std::nullopt;
  if (!may_be_bool || count.value_or(1) != 1)
    fail_invalid("the body's cond must hold one bool, but is {}", type.describe());
}

void require_state_kept(const StateStep& step, bool with_shapes) {
  if (may_be_alike(unwrapped(step.before), unwrapped(step.after), with_shapes)) return;
  fail_invalid("the body takes the state '{}' as {}, but returns {} for it ('{}'): a state keeps its {}",
               step.name, type_text(step.before, with_shapes), type_text(step.after, with_shapes),
               step.returned_name, with_shapes ? "type and shape in all iterations" : "type");
}

void require_scan_output_kept(const ScanOutput& output) {
  if (may_be_alike(output.first, output.later, true)) return;
  fail_invalid(
      "scan output {} is {} in iteration {}, but {} in iteration 0: type and shape of a scan output "
      "are the same in all iterations",
      output.name, output.later.describe(), output.iteration, output.first.describe());
}

void require_same_element(const std::string& output, const ValueType* before, const ValueType& made) {
  if (made.kind != Kind::tensor)
    fail_invalid("output '{}' of the body must be a tensor, but is {}", output, made.to_string());
  if (before != nullptr && !may_be_one(*before, made))
    fail_invalid(
        "output '{}' of the body is {} for an item, but {} for those before: the items of a sequence "
        "have one type",
        output, made.to_string(), before->to_string());
}

void require_tensor_output(const std::string& name, const ValueType& type) {
  if (type.kind != Kind::unknown && type.kind != Kind::tensor)
    fail_invalid("scan output {} must be a tensor, but is {}", name, type.to_string());
}

}  // namespace grurun::opset
