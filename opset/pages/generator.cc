#include "opset/pages/families.h"
#include "opset/pages/page_rules.h"

namespace grurun::opset {

std::span<const Page> generator_pages() {
  static constexpr Page pages[] = {
      {.op_type = "Bernoulli", .numbers = "input: [0,1]", .draws = Draws::always},
      {.op_type = "Constant", .together = values_of_constant, .folded = Folded::constant},
      {.op_type = "ConstantFill",
       .attributes = "shape >= 0; extra_shape >= 0",
       .together = filled_shape,
       .rules = {{check_filled_shape}}},
      {.op_type = "ConstantOfShape",
       .shapes = "@9 [n]",
       .numbers = "input: [0,inf)",
       .together = value_of_one,
       .folded = Folded::listed},
      {.op_type = "EyeLike", .shapes = "@9 [rows,columns]"},
      {.op_type = "Multinomial",
       .shapes = "@7 [batch_size,class_size]",
       .attributes = "sample_size >= 0",
       .rules = {{check_log_probabilities}},
       .draws = Draws::always},
      {.op_type = "RandomNormal",
       .attributes = "scale >= 0; shape >= 0",
       .together = drawn_interval,
       .draws = Draws::always},
      {.op_type = "RandomNormalLike",
       .attributes = "scale >= 0",
       .together = drawn_interval,
       .rules = {{check_drawn_type}},
       .draws = Draws::always},
      {.op_type = "RandomUniform",
       .attributes = "shape >= 0",
       .together = drawn_interval,
       .draws = Draws::always},
      {.op_type = "RandomUniformLike",
       .together = drawn_interval,
       .rules = {{check_drawn_type}},
       .draws = Draws::always},
      {.op_type = "Range",
       .shapes = "@11 one one one",
       .attributes = "stash_type@27: 1, 10, 11, 16",
       .rules = {{check_range}}},
  };
  static_assert(is_sorted_by_name(pages));
  return pages;
}

}  // namespace grurun::opset
