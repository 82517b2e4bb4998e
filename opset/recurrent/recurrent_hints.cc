#include "opset/recurrent/recurrent_hints.h"

#include <fmt/format.h>

#include <algorithm>

#include "opset/recurrent/recurrent_shapes.h"

namespace grurun::opset {

namespace {

bool agrees(const Dim& dim, const WantedDim& want) {
  if (!dim.value) return true;
  if (want.size) return *dim.value == *want.size;
  return *dim.value % want.factor == 0;
}

std::vector<WantedDim> without(std::vector<WantedDim> want, std::size_t axis) {
  want.erase(want.begin() + static_cast<std::ptrdiff_t>(axis));
  return want;
}

std::vector<WantedDim> swapped(std::vector<WantedDim> want, std::size_t a, std::size_t b) {
  std::swap(want[a], want[b]);
  return want;
}

bool is_state(std::size_t input) {
  return input == input_initial_h || input == input_initial_c;
}

std::string missing_axis(std::size_t input, const SymbolicShape& shape, const std::vector<WantedDim>& want,
                         const RecurrentAttributes& attributes) {
  if (shape.size() + 1 != want.size() || input == input_sequence_lens) return "";
  const std::size_t axis = is_state(input) && attributes.layout == 1 ? 1 : 0;
  if (want[axis].size != 1 || !fits(shape, without(want, axis))) return "";
  return fmt::format("; the axis num_directions is missing: Unsqueeze it at {}", axis);
}

std::string other_bias(const SymbolicShape& shape, const std::vector<WantedDim>& want,
                       const RecurrentForm& form) {
  if (shape.size() != 2 || !shape[1].value || !want[1].size || !agrees(shape[0], want[0])) return "";
  if (*shape[1].value == *want[1].size / 2)
    return fmt::format("; it holds one of [Wb[{0}], Rb[{0}]]: append zeros for the other", form.gate_order);
  return "";
}

// A GRU's weights in an LSTM's node: the blocks of rows tell.
std::string other_operator(const SymbolicShape& shape, const std::vector<WantedDim>& want,
                           const RecurrentForm& form) {
  if (form.quantized || !want[1].size || *want[1].size % form.gates != 0) return "";
  for (const RecurrentForm& other : recurrent_forms()) {
    std::vector<WantedDim> rows = want;
    std::int64_t others = 0;
    if (__builtin_mul_overflow(*want[1].size / form.gates, std::int64_t{other.gates}, &others)) continue;
    rows[1].size = others;
    if (other.gates != form.gates && fits(shape, rows))
      return fmt::format("; it has the rows of {} {}", other.op_type == std::string_view("GRU") ? "a" : "an",
                         other.op_type);
  }
  return "";
}

// W has another input_size than X, which may stand on another axis of X.
std::string other_input_size(const SymbolicShape& shape, const std::vector<WantedDim>& want,
                             const RecurrentSizes& sizes) {
  std::vector<WantedDim> rows = want;
  rows[2].size.reset();
  if (!want[2].size || !fits(shape, rows)) return "";
  const std::string hint = fmt::format("; X has input_size {}", *want[2].size);
  const auto& input_size = shape[2].value;
  if (input_size == sizes.seq_length.value)
    return hint +
           fmt::format(", and {} where seq_length stands: Transpose X if that is its input", *input_size);
  if (input_size == sizes.batch_size.value)
    return hint +
           fmt::format(", and {} where batch_size stands: Transpose X if that is its input", *input_size);
  return hint;
}

std::string unbatched(const SymbolicShape& shape, const std::vector<WantedDim>& want) {
  if (shape.size() != 2 || !agrees(shape[1], want[2])) return "";
  return "; it has no batch_size, or no seq_length: Unsqueeze the axis that is missing";
}

std::string other_state(const SymbolicShape& shape, const std::vector<WantedDim>& want,
                        const RecurrentAttributes& attributes, const RecurrentSizes& sizes) {
  if (shape.size() != 3) return "";
  if (fits(shape, swapped(want, 0, 1)))
    return fmt::format("; it has the shape of layout {}", *attributes.layout == 1 ? 0 : 1);
  const std::size_t batch = *attributes.layout == 1 ? 0 : 1;
  std::vector<WantedDim> other_batch = want;
  other_batch[batch].size = shape[batch].value;
  if (!fits(shape, other_batch)) return "";
  // What X calls seq_length is the states' batch_size.
  if (sizes.seq_length.value && shape[batch].value == sizes.seq_length.value)
    return "; its batch_size is X's seq_length: X may be batch first, Transpose it";
  return "; X has another batch_size: leave the state out if it is 0, or make it an input of that size";
}

// As of an LSTM whose cell is wider than what it hands on.
std::string projected_state(std::size_t input, const SymbolicShape& shape, std::vector<WantedDim> want) {
  if (input != input_R && input != input_initial_c) return "";
  if (shape.size() != 3 || !shape[2].value || !want[2].size) return "";
  const std::int64_t has = *shape[2].value, wants = *want[2].size;
  if (input == input_R ? has >= wants : has <= wants) return "";
  want[2].size = has;
  if (!fits(shape, want)) return "";
  return "; an LSTM with a projection of its state (proj_size) has it so, but this operator has none: "
         "export the layer as operators of its own";
}

}  // namespace

bool fits(const SymbolicShape& shape, const std::vector<WantedDim>& want) {
  return std::ranges::equal(shape, want, agrees);
}

std::string spelled(const std::vector<WantedDim>& want) {
  std::string text;
  for (const WantedDim& dim : want) text += (text.empty() ? "" : ", ") + dim.text;
  return "[" + text + "]";
}

std::string sized(const std::vector<WantedDim>& want) {
  std::string text;
  for (const WantedDim& dim : want) {
    text += (text.empty() ? "" : ",") + (dim.size         ? std::to_string(*dim.size)
                                         : dim.factor > 1 ? fmt::format("{}*?", dim.factor)
                                                          : "?");
  }
  return "[" + text + "]";
}

std::string shape_hint(std::size_t input, const SymbolicShape& shape, const std::vector<WantedDim>& want,
                       const RecurrentForm& form, const RecurrentAttributes& attributes,
                       const RecurrentSizes& sizes) {
  if (input == input_X) return unbatched(shape, want);
  if (std::string hint = missing_axis(input, shape, want, attributes); !hint.empty()) return hint;
  if (input == input_sequence_lens) {
    const bool time = sizes.seq_length.value && shape.size() == 1 && shape[0].value == sizes.seq_length.value;
    if (shape.size() == 3)
      return "; a state is input 5 or 6: name \"\" in the place of sequence_lens, which is left out then";
    return time ? "; it has X's seq_length: X may be batch first, Transpose it" : "";
  }
  if (form.has_cell) {
    if (std::string hint = projected_state(input, shape, want); !hint.empty()) return hint;
  }
  if (is_state(input)) return other_state(shape, want, attributes, sizes);
  if (shape.size() != want.size()) return "";
  std::vector<WantedDim> other_directions = want;
  if (want[0].size) other_directions[0].size = 3 - *want[0].size;
  if (fits(shape, other_directions)) {
    return fmt::format("; it is that of {} direction{}, but direction is {}", *other_directions[0].size,
                       *other_directions[0].size == 1 ? "" : "s", *attributes.direction);
  }
  if (input == input_P) {
    const bool each_gate = want[1].size && shape[1].value && *shape[1].value % 4 == 0 &&
                           *shape[1].value / 4 == *want[1].size / 3;
    return each_gate ? "; it has one for each gate: the cell gate has none, P is P[iof]" : "";
  }
  if (input == input_B) {
    const std::string half = other_bias(shape, want, form);
    return half.empty() ? other_operator(shape, want, form) : half;
  }
  if (std::string hint = other_operator(shape, want, form); !hint.empty()) return hint;
  if (std::string hint = input == input_W ? other_input_size(shape, want, sizes) : ""; !hint.empty())
    return hint;
  if (shape.size() != 3 || !fits(shape, swapped(want, 1, 2))) return "";
  return fmt::format("; its last two axes are swapped{}: Transpose it",
                     form.quantized ? ", as LSTM has them" : "");
}

}  // namespace grurun::opset
