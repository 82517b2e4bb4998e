#include "opset/recurrent_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "opset/recurrent_hints.h"

namespace grurun::opset {

namespace {

using Size = std::optional<std::int64_t>;

constexpr std::array shape_rules = {
    RecurrentRule::shape_of_X,
    RecurrentRule::shape_of_W,
    RecurrentRule::shape_of_R,
    RecurrentRule::shape_of_B,
    RecurrentRule::shape_of_sequence_lens,
    RecurrentRule::shape_of_initial_h,
    RecurrentRule::shape_of_initial_c,
    RecurrentRule::shape_of_P,
};

Size times(int factor, const Size& size) {
  std::int64_t product = 0;
  if (!size || __builtin_mul_overflow(*size, std::int64_t{factor}, &product)) return std::nullopt;
  return product;
}

class Judge {
 public:
  Judge(const RecurrentForm& form, const RecurrentAttributes& attributes,
        const std::vector<RecurrentInputInfo>& inputs, RecurrentFindings& findings)
      : form_(form), attributes_(attributes), inputs_(inputs), findings_(findings) {}

  RecurrentSizes judge() {
    if (const auto directions = attributes_.num_directions()) sizes_.num_directions.value = *directions;
    read_X();
    find_batch_size();
    vote_hidden_size();
    check_X();
    for (const std::size_t input :
         {input_W, input_R, input_B, input_sequence_lens, input_initial_h, input_initial_c, input_P}) {
      check(input, wanted(input));
    }
    check_lengths();
    if (!sizes_.num_directions.value && shape(input_W) != nullptr && shape(input_W)->size() == 3)
      sizes_.num_directions = (*shape(input_W))[0];
    return sizes_;
  }

 private:
  const SymbolicShape* shape(std::size_t input) const {
    if (input >= inputs_.size() || !inputs_[input].given || !inputs_[input].shape) return nullptr;
    return &*inputs_[input].shape;
  }

  // Dimension number axis of an input of the right rank.
  const Dim* dim(std::size_t input, std::size_t rank, std::size_t axis) const {
    const SymbolicShape* found = shape(input);
    return found != nullptr && found->size() == rank ? &(*found)[axis] : nullptr;
  }

  void take(Dim& to, const Dim* from) const {
    if (from != nullptr && !to.value && (from->value || to.name.empty())) to = *from;
  }

  void read_X() {
    take(sizes_.input_size, dim(input_X, 3, 2));
    take(sizes_.input_size, dim(input_W, 3, 2));
    if (!attributes_.layout) return;
    const bool batch_first = *attributes_.layout == 1;
    take(sizes_.seq_length, dim(input_X, 3, batch_first ? 1 : 0));
    take(sizes_.batch_size, dim(input_X, 3, batch_first ? 0 : 1));
  }

  void find_batch_size() {
    if (!attributes_.layout) return;
    const std::size_t axis = *attributes_.layout == 1 ? 0 : 1;
    take(sizes_.batch_size, dim(input_sequence_lens, 1, 0));
    take(sizes_.batch_size, dim(input_initial_h, 3, axis));
    take(sizes_.batch_size, dim(input_initial_c, 3, axis));
  }

  void vote(std::map<std::int64_t, int>& votes, const Dim* dim, int factor) const {
    if (dim != nullptr && dim->value && *dim->value % factor == 0) ++votes[*dim->value / factor];
  }

  // The size that most of attribute and inputs have, so that the odd one out is told; the attribute's, then
  // R's last dimension, where that is undecided.
  void vote_hidden_size() {
    std::map<std::int64_t, int> votes;
    if (attributes_.hidden_size) ++votes[*attributes_.hidden_size];
    const Dim* last_of_R = dim(input_R, 3, 2);
    vote(votes, last_of_R, 1);
    vote(votes, dim(input_R, 3, 1), form_.gates);
    vote(votes, dim(input_W, 3, 1), form_.gates);
    vote(votes, dim(input_B, 2, 1), 2 * form_.gates);
    vote(votes, dim(input_initial_h, 3, 2), 1);
    vote(votes, dim(input_initial_c, 3, 2), 1);
    vote(votes, dim(input_P, 2, 1), 3);
    int most = 0;
    for (const auto& [size, count] : votes) most = std::max(most, count);
    const auto leads = [&](const Size& size) {
      return size && votes.count(*size) != 0 && votes[*size] == most;
    };
    if (leads(attributes_.hidden_size)) {
      sizes_.hidden_size.value = attributes_.hidden_size;
    } else if (last_of_R != nullptr && leads(last_of_R->value)) {
      sizes_.hidden_size.value = last_of_R->value;
    } else {
      for (const auto& [size, count] : votes) {
        if (count == most) sizes_.hidden_size.value = size;
      }
    }
    take(sizes_.hidden_size, last_of_R);
    take(sizes_.hidden_size, dim(input_initial_h, 3, 2));
    if (attributes_.hidden_size && *attributes_.hidden_size != sizes_.hidden_size.value) {
      add(RecurrentRule::hidden_size, fmt::format("hidden_size is {}, but {}", *attributes_.hidden_size,
                                                  witnesses(*sizes_.hidden_size.value)));
    }
  }

  // "W [1,12,2], R [1,12,4] and B [1,24] have 4".
  std::string witnesses(std::int64_t hidden_size) const {
    std::vector<std::string> names;
    const auto add_if = [&](std::size_t input, std::size_t rank, std::size_t axis, int factor) {
      const Dim* found = dim(input, rank, axis);
      if (found != nullptr && found->value && found->value == times(factor, hidden_size)) {
        names.push_back(fmt::format("{} {}", recurrent_input_name(input), to_string(*shape(input))));
      }
    };
    add_if(input_W, 3, 1, form_.gates);
    add_if(input_R, 3, 2, 1);
    if (names.empty() || !names.back().starts_with('R')) add_if(input_R, 3, 1, form_.gates);
    add_if(input_B, 2, 1, 2 * form_.gates);
    add_if(input_initial_h, 3, 2, 1);
    add_if(input_initial_c, 3, 2, 1);
    add_if(input_P, 2, 1, 3);
    return fmt::format("{} {} {}", fmt::join(names, ", "), names.size() == 1 ? "has" : "have", hidden_size);
  }

  std::vector<WantedDim> wanted(std::size_t input) const {
    const WantedDim directions{"num_directions", sizes_.num_directions.value};
    const WantedDim batch{"batch_size", sizes_.batch_size.value};
    const WantedDim hidden{"hidden_size", sizes_.hidden_size.value};
    const auto multiple = [&](int factor) {
      return WantedDim{times_hidden_size(factor), times(factor, sizes_.hidden_size.value), factor};
    };
    switch (input) {
      case input_W:
        return {directions, multiple(form_.gates), {"input_size", sizes_.input_size.value}};
      case input_R:
        return {directions, multiple(form_.gates), hidden};
      case input_B:
        return {directions, multiple(2 * form_.gates)};
      case input_sequence_lens:
        return {batch};
      case input_P:
        return {directions, multiple(3)};
      default:
        break;
    }
    if (!attributes_.layout) return {};
    if (*attributes_.layout == 1) return {batch, directions, hidden};
    return {directions, batch, hidden};
  }

  void check_X() {
    const SymbolicShape* found = shape(input_X);
    if (found == nullptr || found->size() == 3) return;
    const bool batch_first = attributes_.layout && *attributes_.layout == 1;
    add(RecurrentRule::shape_of_X,
        fmt::format("X is {}; it must be {}", to_string(*found),
                    batch_first ? "[batch_size, seq_length, input_size] under layout 1"
                                : "[seq_length, batch_size, input_size]"));
  }

  void check(std::size_t input, const std::vector<WantedDim>& want) {
    const SymbolicShape* found = shape(input);
    if (found == nullptr || want.empty() || fits(*found, want)) return;
    const bool state = input == input_initial_h || input == input_initial_c;
    add(shape_rules[input],
        fmt::format("{} is {}; it must be {}{}, here {}{}", recurrent_input_name(input), to_string(*found),
                    spelled(want), state && *attributes_.layout == 1 ? " under layout 1" : "", sized(want),
                    shape_hint(input, *found, want, form_, attributes_, sizes_)));
  }

  void check_lengths() {
    if (input_sequence_lens >= inputs_.size()) return;
    const Tensor* lengths = inputs_[input_sequence_lens].value;
    if (lengths == nullptr || lengths->dtype() != DType::int32 || lengths->rank() != 1) return;
    const auto* values = lengths->data<std::int32_t>();
    int told = 0;
    for (std::int64_t row = 0; row < lengths->dim(0); ++row) {
      const std::int64_t length = values[row];
      const bool beyond = sizes_.seq_length.value && length > *sizes_.seq_length.value;
      if (length < 0 || beyond) {
        const std::string bound =
            sizes_.seq_length.value ? std::to_string(*sizes_.seq_length.value) : "seq_length";
        if (++told <= 3) {  // the first rows say enough
          add(RecurrentRule::sequence_lens_range,
              fmt::format("sequence_lens[{}] is {}; it must be in 0 to seq_length, here {}", row, length,
                          bound));
        }
      } else if (length == 0 && !zero_told_) {
        zero_told_ = true;
        add(RecurrentRule::zero_length,
            fmt::format("sequence_lens[{}] is 0; runtimes differ in what Y_h is then: 0 here", row));
      }
    }
  }

  void add(RecurrentRule rule, std::string message) { findings_.push_back({rule, "", std::move(message)}); }

  const RecurrentForm& form_;
  const RecurrentAttributes& attributes_;
  const std::vector<RecurrentInputInfo>& inputs_;
  RecurrentFindings& findings_;
  RecurrentSizes sizes_;
  bool zero_told_ = false;
};

}  // namespace

RecurrentSizes check_recurrent_shapes(const RecurrentForm& form, const RecurrentAttributes& attributes,
                                      const std::vector<RecurrentInputInfo>& inputs,
                                      RecurrentFindings& findings) {
  return Judge(form, attributes, inputs, findings).judge();
}

std::optional<SymbolicShape> recurrent_output_shape(std::size_t output, const RecurrentAttributes& attributes,
                                                    const RecurrentSizes& sizes) {
  if (!attributes.layout) return std::nullopt;
  const auto& [directions, time, batch, input, hidden] = sizes;
  if (*attributes.layout == 1) {
    if (output == output_Y) return SymbolicShape{batch, time, directions, hidden};
    return SymbolicShape{batch, directions, hidden};
  }
  if (output == output_Y) return SymbolicShape{time, directions, batch, hidden};
  return SymbolicShape{directions, batch, hidden};
}

}  // namespace grurun::opset
