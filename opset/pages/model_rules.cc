// Models of ai.onnx.ml: what their attributes say of each other, and of the features of X.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "opset/pages/attribute_lists.h"
#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

namespace {

using onnx_io::Node;
using Said = std::optional<std::string>;

// X [N,F], or [F] as one row.
Size features_of(const NodeFacts& facts) {
  const SymbolicShape* X = facts.shape(0);
  return X == nullptr || X->empty() ? std::nullopt : X->back().value;
}

void require_features(const NodeFacts& facts, std::int64_t wanted) {
  const Size features = features_of(facts);
  if (features && *features != wanted)
    fail_invalid("X is {}: it has {} features, but the model is of {}", to_string(*facts.shape(0)), *features,
                 wanted);
}

std::int64_t class_count(const Node& node) {
  return std::max(length_of(node, "classlabels_strings"),
                  std::max(length_of(node, "classlabels_ints"), length_of(node, "classlabels_int64s")));
}

Said count_fault(const Node& node, const char* list, std::int64_t wanted) {
  const std::int64_t length = length_of(node, list);
  if (length == wanted) return std::nullopt;
  return fmt::format("{} has {} values, but must have {}", list, length, wanted);
}

// So many vectors of one length.
Said vectors_fault(const Node& node, const char* list, std::int64_t count) {
  const std::int64_t length = length_of(node, list);
  if (length != 0 && length % count == 0) return std::nullopt;
  return fmt::format("{} has {} values, which are not those of {} vectors of one length", list, length,
                     count);
}

Said kernel_fault(const Node& node) {
  return length_of(node, "kernel_params") == 0 ? std::nullopt : count_fault(node, "kernel_params", 3);
}

bool has_vectors(const Node& node) {
  const auto& counts = ints_of(node, "vectors_per_class");
  return length_of(node, "support_vectors") > 0 ||
         std::ranges::any_of(counts, [](std::int64_t count) { return count != 0; });
}

std::int64_t vector_count(const Node& node) {
  std::int64_t sum = 0;
  for (const std::int64_t count : ints_of(node, "vectors_per_class"))
    if (__builtin_add_overflow(sum, count, &sum)) return -1;
  return sum;
}

Said pairs_fault(const Node& node) {
  const std::int64_t classes = class_count(node), pairs = classes * (classes - 1) / 2;
  if (Said fault = count_fault(node, "vectors_per_class", classes)) return fault;
  const std::int64_t vectors = vector_count(node);
  if (vectors < 1) return fmt::format("support_vectors are given, but vectors_per_class counts {}", vectors);
  if (Said fault = vectors_fault(node, "support_vectors", vectors)) return fault;
  std::int64_t weights = 0;
  if (__builtin_mul_overflow(vectors, classes - 1, &weights)) weights = -1;
  if (Said fault = count_fault(node, "coefficients", weights)) return fault;
  if (Said fault = count_fault(node, "rho", pairs)) return fault;
  if (length_of(node, "prob_a") + length_of(node, "prob_b") == 0) return std::nullopt;
  if (Said fault = count_fault(node, "prob_a", pairs)) return fault;
  return count_fault(node, "prob_b", pairs);
}

// Of TreeEnsemble: "with true and false branches referencing the same leaf", whatever is compared.
bool is_single_leaf(const Node& node, std::size_t at) {
  return ints_of(node, "nodes_truenodeids")[at] == ints_of(node, "nodes_falsenodeids")[at] &&
         ints_of(node, "nodes_trueleafs")[at] != 0 && ints_of(node, "nodes_falseleafs")[at] != 0;
}

}  // namespace

// Which other class there is beside a single one is not said, and no fault.
Said svm_classifier_fault(const Node& node, int) {
  if (class_count(node) == 1) return std::nullopt;
  if (Said fault = kernel_fault(node)) return fault;
  return has_vectors(node) ? pairs_fault(node) : vectors_fault(node, "coefficients", class_count(node));
}

Said svm_regressor_fault(const Node& node, int) {
  if (Said fault = kernel_fault(node)) return fault;
  if (Said fault = count_fault(node, "rho", 1)) return fault;
  const std::int64_t supports = int_of(node, "n_supports");
  if (supports < 1 && length_of(node, "support_vectors") > 0)
    return "support_vectors are given, but n_supports is " + std::to_string(supports);
  if (supports < 1) return vectors_fault(node, "coefficients", 1);
  if (Said fault = count_fault(node, "coefficients", supports)) return fault;
  return vectors_fault(node, "support_vectors", supports);
}

void check_svm(const NodeFacts& facts) {
  const Node& node = facts.node();
  const bool classifies = facts.op_type() == "SVMClassifier";
  const std::int64_t supports =
      classifies ? has_vectors(node) ? vector_count(node) : 0 : int_of(node, "n_supports");
  if (supports > 0) return require_features(facts, length_of(node, "support_vectors") / supports);
  const std::int64_t weights = classifies ? class_count(node) : 1;
  if (weights > 0) require_features(facts, length_of(node, "coefficients") / weights);
}

// Of two classes, the second alone may have coefficients. The text does not say that there are no more of
// them than classes and features need.
void check_linear(const NodeFacts& facts) {
  const Node& node = facts.node();
  const Size features = features_of(facts);
  const bool classifies = facts.op_type() == "LinearClassifier";
  const std::int64_t scores = classifies ? class_count(node) : facts.int_attribute("targets", 1);
  const std::int64_t weights = length_of(node, "coefficients"), added = length_of(node, "intercepts");
  if (!features || (classifies && scores == 1)) return;
  const bool one = classifies && scores == 2 && weights == *features && *features > 0;
  std::int64_t needed = 0;
  const bool huge = __builtin_mul_overflow(scores, *features, &needed);
  if (!one && (scores < 1 || *features < 1 || huge || (classifies ? weights < needed : weights != needed)))
    fail_invalid("coefficients has {} values, but {} {} of {} features need {}", weights, scores,
                 classifies ? "classes" : "targets", *features, huge ? "more" : std::to_string(needed));
  if (added != 0 && added != (one ? 1 : scores))
    fail_invalid("intercepts has {} values, but the {} coefficients make {} scores of {} features", added,
                 weights, one ? 1 : scores, *features);
}

// One for all features, or one for each.
void check_scaler(const NodeFacts& facts) {
  const std::int64_t length = length_of(facts.node(), "offset");
  const SymbolicShape* X = facts.shape(0);
  if (length == 1 || X == nullptr) return;
  if (X->size() != 1 && X->size() != 2)
    fail_invalid("offset and scale have {} values, but X {} is neither [N,F] nor [F]", length, to_string(*X));
  require_features(facts, length);
}

// The values' type must have room for them.
void check_imputed(const NodeFacts& facts) {
  const Node& node = facts.node();
  const DType dtype = facts.dtype(0);
  if (dtype == DType::undefined) return;
  const bool floating = is_floating(dtype);
  // ONNX Runtime writes out defaults, 0 of both.
  const auto states = [&](const char* name) {
    const onnx_io::Attribute* stated = facts.attribute(name);
    return stated != nullptr && (stated->i != 0 || stated->f != 0);
  };
  if (floating ? states("replaced_value_int64") || length_of(node, "imputed_value_int64s") > 0
               : states("replaced_value_float") || length_of(node, "imputed_value_floats") > 0)
    fail_invalid("X is {}, but the {} twins of replaced_value and imputed_value are given too: remove them",
                 dtype_name(dtype), floating ? "int64" : "float");
  const char* list = floating ? "imputed_value_floats" : "imputed_value_int64s";
  const std::int64_t count = length_of(node, list);
  const SymbolicShape* X = facts.shape(0);
  const Size width = X != nullptr && X->empty() ? 1 : features_of(facts);
  if (width && count != 1 && count != *width)
    fail_invalid("{} has {} values for X {}: there must be 1 or {}", list, count, to_string(*X), *width);
  for (const std::int64_t value : ints_of(node, list))
    if (dtype == DType::int32 && !std::in_range<std::int32_t>(value))
      fail_invalid("{} holds {}, which does not fit into int32", list, value);
}

// inputdimensions says how many columns each takes.
void check_side_by_side(const NodeFacts& facts) {
  const std::int64_t dimensions = length_of(facts.node(), "inputdimensions");
  if (dimensions != 0 && dimensions != std::int64_t(facts.input_count()))
    fail_invalid("inputdimensions has {} values for {} inputs", dimensions, facts.input_count());
  Size rows;
  for (std::size_t i = 0; i < facts.input_count(); ++i) {
    const SymbolicShape* X = facts.shape(i);
    if (X == nullptr) continue;
    if (X->size() != 1 && X->size() != 2)
      fail_invalid("input {} is {}, but must be [N,F] or [F]", i, to_string(*X));
    const Size here = X->size() == 1 ? 1 : X->front().value;
    if (!rows) rows = here;
    if (here && *here != *rows) fail_invalid("input {} has {} rows, but others have {}", i, *here, *rows);
  }
}

void check_map_keys(const NodeFacts& facts) {
  const Size columns = features_of(facts);
  const std::int64_t labels = class_count(facts.node());
  if (columns && *columns != labels)
    fail_invalid("X is {}: it has {} columns, but there are {} class labels", to_string(*facts.shape(0)),
                 *columns, labels);
}

Said repeated_label(const Node& node, int) {
  for (const onnx_io::Attribute& attribute : node.attributes) {
    const auto twice = [&](auto labels) -> Said {
      std::ranges::sort(labels);
      const auto found = std::ranges::adjacent_find(labels);
      if (found == labels.end()) return std::nullopt;
      return fmt::format("{} lists '{}' twice, but a map has a key once", attribute.name, *found);
    };
    Said fault = attribute.strings.empty() ? twice(attribute.ints) : twice(attribute.strings);
    if (fault) return fault;
  }
  return std::nullopt;
}

// Categories of the type of X; where zeros is 0, each element is one of them.
void check_categories(const NodeFacts& facts) {
  const Node& node = facts.node();
  const DType dtype = facts.dtype(0);
  const bool of_strings = length_of(node, "cats_strings") > 0;
  if (dtype == DType::undefined) return;
  if ((dtype == DType::string) != of_strings)
    fail_invalid("X is {}, but the categories are {}", dtype_name(dtype), of_strings ? "strings" : "int64");
  const Tensor* X = facts.value(0);
  if (X == nullptr || facts.int_attribute("zeros", 1) != 0) return;
  const auto require = [](const auto& element, const auto& categories) {
    if (std::ranges::find(categories, element) == categories.end())
      fail_invalid("X holds '{}', which is none of the {} categories, and zeros is 0", element,
                   categories.size());
  };
  if (of_strings) {
    for (const std::string& text : X->span<std::string>())
      require(text, facts.attribute("cats_strings")->strings);
    return;
  }
  for (const double number : numbers_in(facts, 0).value_or(std::vector<double>())) {
    const bool fits = number >= -0x1p63 && number < 0x1p63;
    require(fits ? static_cast<std::int64_t>(number) : 0,
            fits ? ints_of(node, "cats_int64s") : std::vector<std::int64_t>());
  }
}

// One list of keys and one of values, of types that there are, and as many of both.
Said label_encoder_fault(const Node& node, int since_version) {
  if (since_version < 2) return std::nullopt;
  std::int64_t lengths[2] = {0, 0};
  DType of_values = DType::undefined;
  for (const int kind : {0, 1}) {
    const std::string prefix = kind == 0 ? "keys" : "values";
    const onnx_io::Attribute* given = nullptr;
    for (const onnx_io::Attribute& attribute : node.attributes) {
      if (!attribute.name.starts_with(prefix + "_")) continue;
      const Tensor* tensor = tensor_of(node, attribute.name);
      if (given != nullptr)
        return fmt::format("{} and {} are both given, but LabelEncoder takes one of them", given->name,
                           attribute.name);
      given = &attribute;
      of_values = tensor != nullptr            ? tensor->dtype()
                  : !attribute.strings.empty() ? DType::string
                  : !attribute.ints.empty()    ? DType::int64
                                               : DType::float32;
      lengths[kind] = length_of(node, attribute.name);
      constexpr DTypeSet admitted{DType::string, DType::int64, DType::float32,
                                  DType::int32,  DType::int16, DType::float64};
      if (tensor != nullptr && (tensor->rank() != 1 || !admitted.contains(of_values)))
        return fmt::format("{} is {} {}, but must be a list of strings or numbers", attribute.name,
                           dtype_name(of_values), tensor->shape().to_string());
    }
    if (lengths[kind] == 0)
      return fmt::format("none of the attributes {}_* is given: it must be one", prefix);
  }
  if (lengths[0] != lengths[1])
    return fmt::format("{} keys and {} values: there must be as many", lengths[0], lengths[1]);
  const Tensor* otherwise = tensor_of(node, "default_tensor");
  if (otherwise != nullptr && (otherwise->dtype() != of_values || otherwise->size() != 1))
    return fmt::format("default_tensor must hold one {}, but is {} {}", dtype_name(of_values),
                       dtype_name(otherwise->dtype()), otherwise->shape().to_string());
  return std::nullopt;
}

// The elements of X are of the keys' type.
void check_encoded(const NodeFacts& facts) {
  const Node& node = facts.node();
  const Tensor* keys = tensor_of(node, "keys_tensor");
  const DType dtype = facts.dtype(0);
  const DType wanted = keys != nullptr                       ? keys->dtype()
                       : length_of(node, "keys_strings") > 0 ? DType::string
                       : length_of(node, "keys_int64s") > 0  ? DType::int64
                                                             : DType::float32;
  if (dtype != DType::undefined && dtype != wanted)
    fail_invalid("X is {}, but the keys are {}", dtype_name(dtype), dtype_name(wanted));
}

void check_extracted(const NodeFacts& facts) {
  const Size width = features_of(facts);
  for (const std::int64_t index : integers_in(facts, 1).value_or(std::vector<std::int64_t>()))
    if (width && (index < 0 || index >= *width))
      fail_invalid("Y holds {}, but must lie in [0, {}): X is {}", index, *width, to_string(*facts.shape(0)));
}

// The highest feature that a node of a tree asks for.
void check_tree_features(const NodeFacts& facts) {
  const Node& node = facts.node();
  const bool in_tensors = facts.op_type() == "TreeEnsemble";
  const Tensor* splits = tensor_of(node, "nodes_splits");
  const DType dtype = facts.dtype(0);
  if (in_tensors && splits != nullptr && dtype != DType::undefined && dtype != splits->dtype())
    fail_invalid("X is {}, but nodes_splits is {}: they must be alike", dtype_name(dtype),
                 dtype_name(splits->dtype()));
  const Size width = features_of(facts);
  const auto& features = ints_of(node, "nodes_featureids");
  const auto& modes = strings_of(node, "nodes_modes");
  for (std::size_t i = 0; width && i < features.size(); ++i) {
    const bool is_leaf = in_tensors ? is_single_leaf(node, i) : modes[i] == "LEAF";
    if (!is_leaf && (features[i] < 0 || features[i] >= *width))
      fail_invalid("a tree asks for feature {}, but X {} has {}", features[i], to_string(*facts.shape(0)),
                   *width);
  }
}

}  // namespace grurun::opset
