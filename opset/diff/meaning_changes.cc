#include "opset/diff/meaning_changes.h"

#include <array>

namespace grurun::opset {

namespace {

constexpr std::string_view by_group = "a node has one number for each channel, not for each group";
constexpr std::string_view by_channel = "a node has one number for each group, not for each channel";
constexpr std::string_view one_shape = "a node may have inputs of different shapes";
constexpr std::string_view negative = "a node may have a negative axis";
constexpr std::string_view of_rank_4 = "a node that has it with inputs of rank 4 is invalid";

constexpr auto changes = std::to_array<MeaningChange>({
    {"", "Attention", 24, "input", "attn_mask", "broadcast to all keys", "shorter ones hide the keys behind",
     "a mask of one column repeated for all keys and hides all but one now",
     "a node may have a shorter mask"},
    {"", "Attention", 25, "attribute", "q_num_heads", "with inputs of rank 4", "without", of_rank_4, ""},
    {"", "Attention", 25, "attribute", "kv_num_heads", "with inputs of rank 4", "without", of_rank_4, ""},
    {"", "ConvTranspose", 11, "attribute", "auto_pad", "an odd padding's larger half in front for SAME_UPPER",
     "for all but SAME_UPPER",
     "where auto_pad or output_shape makes the padding odd, the output shifts by one",
     "where auto_pad or output_shape makes the padding odd, the output shifts by one"},
    {"", "Flatten", 11, "attribute", "axis", "from 0 on", "negative ones, too", "", negative},
    {"", "Gather", 11, "input", "indices", "from 0 on", "negative ones, too", "",
     "a node may have a negative index"},
    {"", "GroupNormalization", 21, "input", "scale", "[num_groups]", "[C]", by_channel, by_group},
    {"", "GroupNormalization", 21, "input", "bias", "[num_groups]", "[C]", by_channel, by_group},
    {"", "If", 11, "output", "outputs", "branches agree in shape", "they need not", "",
     "a node may have branches of different shapes"},
    {"", "Max", 8, "input", "data_0", "one shape", "broadcast", "", one_shape},
    {"", "Mean", 8, "input", "data_0", "one shape", "broadcast", "", one_shape},
    {"", "Min", 8, "input", "data_0", "one shape", "broadcast", "", one_shape},
    {"", "Mod", 28, "attribute", "fmod", "0 for integers, 1 for floats", "either for both", "",
     "a node of floats may have 0, or one of integers 1"},
    {"", "OneHot", 11, "input", "indices", "negative ones match no element",
     "negative ones count from the end", "a node with negative indices means something else",
     "a node with negative indices means something else"},
    {"", "PRelu", 7, "input", "slope", "by channel", "broadcast from the last axis",
     "a node with a slope for each channel means something else, or is invalid",
     "a node with a slope that is broadcast means something else, or is invalid"},
    {"", "Slice", 13, "input", "starts", "backwards from before the first element: nothing",
     "the first element on", "a node with a negative step may mean something else",
     "a node with a negative step may mean something else"},
    {"", "Split", 18, "input", "split", "may be left out", "only with num_outputs",
     "a node without both is invalid", ""},
    {"", "Squeeze", 11, "attribute", "axes", "from 0 on", "negative ones, too", "", negative},
    {"", "Sum", 8, "input", "data_0", "one shape", "broadcast", "", one_shape},
    {"", "Unsqueeze", 11, "attribute", "axes", "from 0 on", "negative ones, too", "", negative},
    {"ai.onnx.ml", "LabelEncoder", 4, "input", "X", "NaN matches a key of the same bits", "any NaN key",
     "a node with keys that are NaN may mean something else",
     "a node with keys that are NaN may mean something else"},
});

}  // namespace

std::span<const MeaningChange> all_meaning_changes() {
  return changes;
}

const char* default_changes_meaning(std::string_view op_type, std::string_view attribute) {
  // RoiAlign-10 does not shift by half a pixel, as its later output_half_pixel.
  if (op_type == "RoiAlign" && attribute == "coordinate_transformation_mode")
    return "a node without it means something else by the default";
  // Versions before 7.
  if (attribute == "broadcast") return "a node without it, whose inputs differ in shape, is invalid";
  if (attribute == "is_test") return "a node without it trains by the default";
  return nullptr;
}

}  // namespace grurun::opset
