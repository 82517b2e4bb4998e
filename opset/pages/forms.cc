#include "opset/pages/forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "opset/schema/added/experimental.h"

namespace grurun::opset {

namespace {

using onnx_io::Attribute;
using onnx_io::Node;

// "Reduce*" is the begin of a name, "*Normalization" its end.
bool is_form_of(const Form& form, const Node& node) {
  if (form.op_type == nullptr || node.domain != form.domain) return false;
  const std::string_view op_type = form.op_type;
  if (op_type.ends_with('*')) return node.op_type.starts_with(op_type.substr(0, op_type.size() - 1));
  if (op_type.starts_with('*')) return node.op_type.ends_with(op_type.substr(1));
  return node.op_type == op_type;
}

constexpr int old_normalization = 1;  // version of LayerNormalization before opset 17, ONNX Runtime's own

std::size_t label_count(const NodeFacts& facts, const char* name) {
  const Attribute* list = facts.attribute(name);
  return list == nullptr ? 0 : std::max(list->ints.size(), list->strings.size());
}

std::string bound_with_axes(const NodeFacts& facts) {
  if (facts.since_version() < 11) return "";
  for (std::size_t i = 1; i <= 2; ++i) {
    const SymbolicShape* shape = facts.shape(i);
    const auto is_one = [](const Dim& dim) { return dim.value == 1; };
    if (shape != nullptr && !shape->empty() && std::ranges::all_of(*shape, is_one))
      return fmt::format(
          "input {} is {}; Clip-{} takes a scalar, []. Its one element is taken; give it no axes",
          input_name(facts, i), to_string(*shape), facts.since_version());
  }
  return "";
}

std::string reduced_scalar(const NodeFacts& facts) {
  const SymbolicShape* data = facts.shape(0);
  if (data == nullptr || !data->empty()) return "";
  const auto axes = integers_of(facts, "axes", 1);
  const auto is_of_one = [](std::int64_t axis) { return axis == 0 || axis == -1; };
  if (!axes || axes->empty() || !std::ranges::all_of(*axes, is_of_one)) return "";
  return fmt::format(
      "axes names axis {} of a scalar; {}-{} takes axes of data, and a scalar has none. The scalar is "
      "reduced as it "
      "is; leave axes out",
      axes->front(), facts.op_type(), facts.since_version());
}

std::string lengths_with_axes(const NodeFacts& facts) {
  const SymbolicShape* lengths = facts.shape(5);
  if (lengths == nullptr || lengths->size() == 1) return "";
  return fmt::format(
      "input seqlens_k is {}; GroupQueryAttention-1 takes [batch]. Its elements are taken in their "
      "order, one for each row; give it one axis",
      to_string(*lengths));
}

std::string output_not_made(const NodeFacts& facts) {
  static constexpr const char* names[] = {"", "mean", "inv_std_var"};
  for (std::size_t i = 1; i < std::size(names) && i < facts.output_count(); ++i) {
    const std::string& name = facts.node().outputs[i];
    if (!name.empty())
      return fmt::format(
          "output {} is named '{}'; SkipSimplifiedLayerNormalization-1 makes no {}, and runs where "
          "nobody reads it. Leave the name empty",
          names[i], name, names[i]);
  }
  return "";
}

std::string shared_batch(const NodeFacts& facts) {
  struct Shared {
    std::size_t input;
    std::size_t rank;  // of one that has a batch
  };
  constexpr Shared all[] = {{1, 3}, {2, 3}, {3, 2}};
  const SymbolicShape* X = facts.shape(0);
  if (X == nullptr || X->empty() || X->front().value == 1) return "";
  if (!X->front().value && X->front().name.empty()) return "";
  for (const Shared& one : all) {
    const SymbolicShape* shape = facts.shape(one.input);
    if (shape == nullptr || shape->size() != one.rank || shape->front().value != 1) continue;
    return fmt::format(
        "input {} is {}, and X is {}; RotaryEmbedding-23 takes one row for each row of the batch. Its one "
        "row serves all of them; expand it to the batch",
        input_name(facts, one.input), to_string(*shape), to_string(*X));
  }
  return "";
}

std::string bias_with_axes(const NodeFacts& facts) {
  const std::size_t input = facts.op_type() == "DynamicQuantizeMatMul" ? 4 : 6;
  const SymbolicShape* bias = facts.shape(input);
  if (bias == nullptr || bias->size() < 2) return "";
  return fmt::format(
      "input bias is {}; {}-1 takes [N]. Its elements are taken in their order; give it one axis",
      to_string(*bias), facts.op_type());
}

std::string signal_without_parts(const NodeFacts& facts) {
  const SymbolicShape* signal = facts.shape(0);
  if (signal == nullptr || signal->size() != 2) return "";
  return fmt::format(
      "input signal is {}; STFT-17 takes [batch_size,signal_length,1] of real numbers. It is taken for "
      "real; give it a last axis of 1",
      to_string(*signal));
}

std::string single_class(const NodeFacts& facts) {
  if (std::max(label_count(facts, "classlabels_int64s"), label_count(facts, "classlabels_strings")) != 1)
    return "";
  if (const Attribute* transform = facts.attribute("post_transform");
      transform != nullptr && transform->s != "NONE")
    return "";
  return "there is one class label; a classifier chooses among classes. Each row is of that class, and its "
         "score is "
         "the sum of the votes; train it on two classes, or put a constant in its place";
}

std::string misspelt_epsilon(const NodeFacts& facts) {
  const Attribute* attribute = facts.node().find_attribute("epsion");
  if (attribute == nullptr || !is_left_unread(facts.node(), *attribute, facts.since_version())) return "";
  return "LayerNormalization has no attribute 'epsion', did you mean 'epsilon'? It is left unread, and "
         "epsilon is "
         "1e-05 where it is not stated; correct the name or remove it";
}

std::string rotary_size_alone(const NodeFacts& facts) {
  const Attribute* attribute = facts.node().find_attribute("rotary_embedding_dim");
  if (attribute == nullptr || attribute->i == 0 ||
      !is_left_unread(facts.node(), *attribute, facts.since_version()))
    return "";
  return fmt::format(
      "attribute rotary_embedding_dim is {} without do_rotary = 1; nothing is rotated, and it has no "
      "effect. Remove it, or state do_rotary",
      attribute->i);
}

std::string operator_of_runtime(const NodeFacts& facts) {
  if (!is_of_runtimes(facts.op_type()) || facts.since_version() != old_normalization) return "";
  const bool is_newer = facts.op_type() == "LayerNormalization";
  return fmt::format(
      "ai.onnx has no {} in the imported opset. ONNX Runtime has one, which is taken; {}", facts.op_type(),
      is_newer ? "import opset 17 or newer" : "write RMSNormalization of opset 23, which is the same");
}

constexpr Form form_rows[] = {
    {Rule::domain_imported, "`ai.onnx.ml` or `com.microsoft` is used and not imported", "hand-made models",
     "nodes bind to \"the referenced operator sets\" (ModelProto.opset_import)",
     "the newest version known here"},
    {Rule::topological_order, "nodes stand before those that make their inputs", "graph editing tools",
     "\"The nodes in the graph, sorted topologically\" (GraphProto.node)", "the nodes, sorted"},
    {Rule::form_bound, "Clip since version 11: min or max of one element and one or more axes",
     "sklearn-onnx (KNNImputer)", "\"It must be a scalar(tensor of empty shape)\" (Clip, min and max)",
     "that element", "", "Clip", nullptr, bound_with_axes},
    {Rule::form_reduced_scalar, "Reduce operators: axis 0 or -1 of a scalar",
     "PyTorch (sum, mean, amax of a scalar)", "\"Accepted range is [-r, r-1] where r = rank(data)\" (axes)",
     "the function of that element, of shape []", "", "Reduce*", nullptr, reduced_scalar},
    {Rule::form_lengths, "GroupQueryAttention: seqlens_k of another rank than 1",
     "published exports of Phi-3, optimum", "\"1D Tensor of shape (batch_size)\" (seqlens_k)",
     "one length for each row, in the order of elements", "com.microsoft", "GroupQueryAttention", nullptr,
     lengths_with_axes},
    {Rule::form_output, "SkipSimplifiedLayerNormalization: mean or inv_std_var is named, and nobody reads it",
     "onnxscript (fusions for ONNX Runtime)", "an output that is named is made", "no value", "com.microsoft",
     "SkipSimplifiedLayerNormalization", output_not_made},
    {Rule::form_class, "TreeEnsembleClassifier: one class label",
     "sklearn-onnx (forests fitted to one class)",
     "\"Returns the top class for each of N inputs\": there is nothing to choose from",
     "that label for each row, and the sum of the votes, [N,1]", "ai.onnx.ml", "TreeEnsembleClassifier",
     single_class},
    {Rule::form_epsilon, "LayerNormalization before opset 17: the attribute `epsion`",
     "ONNX Runtime's own fusions of BERT", "a node has attributes of its operator only (NodeProto.attribute)",
     "nothing: epsilon is stated, or its default", "", "LayerNormalization", misspelt_epsilon},
    {Rule::form_scalar_input,
     "a graph's input that is declared with the shape [] and given a tensor with axes",
     "converters that left dimensions out",
     "a shape without dimensions is that of a scalar (TensorShapeProto)", "the tensor that is given"},
    {Rule::form_rotary, "Attention of com.microsoft: rotary_embedding_dim without do_rotary",
     "ONNX Runtime's optimizer", "an attribute has an effect", "nothing is rotated", "com.microsoft",
     "Attention", rotary_size_alone},
    {Rule::form_operator, "LayerNormalization before opset 17, SimplifiedLayerNormalization in ai.onnx",
     "ONNX Runtime's optimizer, exporters for it", "an operator exists in the imported opset of its domain",
     "ONNX Runtime's operator", "", "*LayerNormalization", operator_of_runtime},
    {Rule::form_shared_batch,
     "RotaryEmbedding: caches or position_ids of a batch of 1 beside a larger one of X", "PyTorch",
     "\"3D tensor with shape (batch_size, sequence_length, head_size / 2)\" (cos_cache)",
     "that row for every row of the batch, as in the function body", "", "RotaryEmbedding", nullptr,
     shared_batch},
    {Rule::form_signal, "STFT: a signal of rank 2", "PyTorch (torch.stft), onnx-asr",
     "\"The tensor is expected to have rank 3\" (signal)", "a real signal", "", "STFT", nullptr,
     signal_without_parts},
    {Rule::form_bias, "DynamicQuantizeMatMul: a bias with axes of 1 before the last",
     "ONNX Runtime's optimizer", "\"1D input tensor, whose dimension is same as B's last dimension\" (bias)",
     "the bias without them", "com.microsoft", "DynamicQuantizeMatMul", nullptr, bias_with_axes},
    {Rule::form_bias, "MatMulIntegerToFloat: the same", "ONNX Runtime's optimizer",
     "\"1D input tensor, whose dimension is same as B's last dimension\" (bias)", "the bias without them",
     "com.microsoft", "MatMulIntegerToFloat", nullptr, bias_with_axes},
};

std::vector<FormFound> forms_found(const NodeFacts& facts, std::string (*Form::*look)(const NodeFacts&)) {
  std::vector<FormFound> out;
  for (const Form& form : form_rows) {
    if (form.*look == nullptr || !is_form_of(form, facts.node())) continue;
    if (std::string message = (form.*look)(facts); !message.empty())
      out.push_back({form.rule, std::move(message)});
  }
  return out;
}

}  // namespace

std::span<const Form> all_forms() {
  return form_rows;
}

bool may_have_form(const Node& node) {
  return std::ranges::any_of(form_rows, [&](const Form& form) { return is_form_of(form, node); });
}

std::vector<FormFound> forms_in_node(const NodeFacts& facts) {
  return forms_found(facts, &Form::in_node);
}

std::vector<FormFound> forms_in_inputs(const NodeFacts& facts) {
  return forms_found(facts, &Form::in_inputs);
}

std::string declared_scalar_message(const std::string& input, const std::string& shape) {
  return fmt::format(
      "input '{}' is declared with the shape [] of a scalar, and given {}. It is taken as it is; declare "
      "its dimensions",
      input, shape);
}

bool is_left_unread(const Node& node, const Attribute& attribute, int since_version) {
  if (node.domain.empty() && node.op_type == "LayerNormalization")
    return since_version == old_normalization && attribute.name == "epsion" &&
           attribute.ref_attr_name.empty();
  if (node.domain != "com.microsoft" || node.op_type != "Attention") return false;
  const Attribute* rotates = node.find_attribute("do_rotary");
  return attribute.name == "rotary_embedding_dim" && attribute.ref_attr_name.empty() &&
         (rotates == nullptr || (rotates->ref_attr_name.empty() && rotates->i == 0));
}

std::string forms_markdown() {
  std::string text =
      "| code | form | written by | the standard | taken for |\n"
      "|---|---|---|---|---|\n";
  for (const Form& form : form_rows) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", rule_info(form.rule).code, form.form, form.writers,
                        form.sentence, form.value);
  }
  return text;
}

}  // namespace grurun::opset
