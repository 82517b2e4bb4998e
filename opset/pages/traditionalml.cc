#include "opset/pages/families.h"
#include "opset/pages/page_rules.h"

namespace grurun::opset {

std::span<const Page> traditionalml_pages() {
  static constexpr Page pages[] = {
      {.op_type = "ArrayFeatureExtractor"},
      {.op_type = "Binarizer"},
      {.op_type = "CastMap", .attributes = "cast_to: TO_FLOAT, TO_STRING, TO_INT64; map_form: DENSE, SPARSE"},
      {.op_type = "CategoryMapper"},
      {.op_type = "DictVectorizer"},
      {.op_type = "FeatureVectorizer"},
      {.op_type = "Imputer"},
      {.op_type = "LabelEncoder", .together = both_kinds},
      {.op_type = "LinearClassifier", .attributes = "multi_class: 0, 1; post_transform: $transforms"},
      {.op_type = "LinearRegressor", .attributes = "post_transform: $transforms"},
      {.op_type = "Normalizer", .attributes = "norm: MAX, L1, L2"},
      {.op_type = "OneHotEncoder"},
      {.op_type = "SVMClassifier", .attributes = "kernel_type: $kernels; post_transform: $transforms"},
      {.op_type = "SVMRegressor",
       .attributes = "kernel_type: $kernels; post_transform: $transforms; n_supports >= 0"},
      {.op_type = "Scaler"},
      {.op_type = "TreeEnsemble",
       .attributes =
           "aggregate_function: 0, 1, 2, 3; post_transform: 0, 1, 2, 3, 4; n_targets >= 1; tree_roots >= 0; "
           "nodes_featureids >= 0; nodes_truenodeids >= 0; nodes_falsenodeids >= 0; leaf_targetids >= 0"},
      {.op_type = "TreeEnsembleClassifier",
       .attributes = "nodes_modes: $branches; post_transform: $transforms"},
      {.op_type = "TreeEnsembleRegressor",
       .attributes = "aggregate_function: AVERAGE, SUM, MIN, MAX; nodes_modes: $branches; post_transform: "
                     "$transforms; n_targets >= 1"},
      {.op_type = "ZipMap"},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
