#include "opset/pages/families.h"

namespace grurun::opset {

std::span<const Page> generator_pages() {
  static constexpr Page pages[] = {
      {.op_type = "Bernoulli", .draws = Draws::always},
      {.op_type = "Constant", .folded = Folded::constant},
      {.op_type = "ConstantFill"},
      {.op_type = "ConstantOfShape", .folded = Folded::listed},
      {.op_type = "EyeLike"},
      {.op_type = "Multinomial", .attributes = "sample_size >= 0", .draws = Draws::always},
      {.op_type = "RandomNormal", .attributes = "scale >= 0", .draws = Draws::always},
      {.op_type = "RandomNormalLike", .attributes = "scale >= 0", .draws = Draws::always},
      {.op_type = "RandomUniform", .draws = Draws::always},
      {.op_type = "RandomUniformLike", .draws = Draws::always},
      {.op_type = "Range", .attributes = "stash_type@27: 1, 10, 11, 16"},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
