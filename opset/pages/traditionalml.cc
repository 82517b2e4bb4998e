#include "opset/pages/families.h"
#include "opset/pages/page_rules.h"

namespace grurun::opset {

std::span<const Page> traditionalml_pages() {
  static constexpr Page pages[] = {
      {.op_type = "ArrayFeatureExtractor", .shapes = "@1 [*,F]", .rules = {{check_extracted}}},
      {.op_type = "Binarizer"},
      {.op_type = "CastMap",
       .attributes = "cast_to: TO_FLOAT, TO_STRING, TO_INT64; map_form: DENSE, SPARSE",
       .together = map_places_fault,
       .rules = {{check_cast_map}}},
      {.op_type = "CategoryMapper", .lists = "cats_int64s!: cats_strings"},
      {.op_type = "DictVectorizer",
       .lists = "int64_vocabulary | string_vocabulary",
       .rules = {{check_dictionary}}},
      {.op_type = "FeatureVectorizer", .attributes = "inputdimensions >= 0", .rules = {{check_side_by_side}}},
      {.op_type = "Imputer", .rules = {{check_imputed}}},
      {.op_type = "LabelEncoder", .together = label_encoder_fault, .rules = {{check_encoded, 2}}},
      {.op_type = "LinearClassifier",
       .shapes = "@1 [N,F] | [F]",
       .attributes = "multi_class: 0, 1; post_transform: $transforms",
       .lists = "classlabels_strings | classlabels_ints",
       .rules = {{check_linear}}},
      {.op_type = "LinearRegressor",
       .shapes = "@1 [N,F] | [F]",
       .attributes = "post_transform: $transforms",
       .rules = {{check_linear}}},
      {.op_type = "Normalizer", .shapes = "@1 [N,F] | [F]", .attributes = "norm: MAX, L1, L2"},
      {.op_type = "OneHotEncoder", .lists = "cats_int64s | cats_strings", .rules = {{check_categories}}},
      {.op_type = "SVMClassifier",
       .shapes = "@1 [N,F] | [F]",
       .attributes = "kernel_type: $kernels; post_transform: $transforms; vectors_per_class >= 0",
       .lists = "classlabels_strings | classlabels_ints",
       .together = svm_classifier_fault,
       .rules = {{check_svm}}},
      {.op_type = "SVMRegressor",
       .shapes = "@1 [N,F] | [F]",
       .attributes = "kernel_type: $kernels; post_transform: $transforms; n_supports >= 0",
       .together = svm_regressor_fault,
       .rules = {{check_svm}}},
      {.op_type = "Scaler", .lists = "offset!: scale", .rules = {{check_scaler}}},
      {.op_type = "TreeEnsemble",
       .shapes = "@5 [N,F]",
       .attributes =
           "aggregate_function: 0, 1, 2, 3; post_transform: 0, 1, 2, 3, 4; n_targets >= 1; tree_roots >= 0; "
           "nodes_featureids >= 0; nodes_truenodeids >= 0; nodes_falsenodeids >= 0; leaf_targetids >= 0",
       .lists = "tree_roots!: ; nodes_splits!: nodes_modes nodes_featureids nodes_truenodeids "
                "nodes_falsenodeids nodes_trueleafs nodes_falseleafs nodes_hitrates? "
                "nodes_missing_value_tracks_true?; leaf_weights!: leaf_targetids",
       .together = tree_ensemble_fault,
       .rules = {{check_tree_features}}},
      {.op_type = "TreeEnsembleClassifier",
       .shapes = "@1 [N,F] | [F]; @3 [N,F]",
       .attributes = "nodes_modes: $branches; post_transform: $transforms",
       .lists = "classlabels_strings | classlabels_int64s; base_values: ; nodes_nodeids!: nodes_treeids "
                "nodes_featureids nodes_truenodeids nodes_falsenodeids nodes_modes nodes_values "
                "nodes_missing_value_tracks_true? nodes_hitrates?; class_nodeids: class_treeids class_ids "
                "class_weights",
       .together = trees_fault,
       .rules = {{check_tree_features}}},
      {.op_type = "TreeEnsembleRegressor",
       .shapes = "@1 [N,F] | [F]; @3 [N,F]",
       .attributes = "aggregate_function: AVERAGE, SUM, MIN, MAX; nodes_modes: $branches; post_transform: "
                     "$transforms; n_targets >= 1",
       .lists = "base_values: ; nodes_nodeids!: nodes_treeids nodes_featureids nodes_truenodeids "
                "nodes_falsenodeids nodes_modes nodes_values nodes_missing_value_tracks_true? "
                "nodes_hitrates?; target_nodeids: target_treeids target_ids target_weights",
       .together = trees_fault,
       .rules = {{check_tree_features}}},
      {.op_type = "ZipMap",
       .shapes = "@1 [N,C] | [C]",
       .lists = "classlabels_int64s | classlabels_strings",
       .together = repeated_label,
       .rules = {{check_map_keys}}},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
