#include "opset/recurrent/recurrent_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "opset/recurrent/recurrent_hints.h"

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
    RecurrentRule::shape_of_W,  // its scale and its zero point
    RecurrentRule::shape_of_W,
    RecurrentRule::shape_of_R,
    RecurrentRule::shape_of_R,
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
    for (std::size_t input = 0; input <= input_P; ++input) read_sizes(input);
    vote_hidden_size();
    for (std::size_t input = 0; input <= input_P; ++input) check(input);
    for (const std::size_t scale : {input_W_scale, input_R_scale}) check_parameters(scale);
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

  bool batch_first() const { return attributes_.layout == 1; }
  RecurrentDims dims(std::size_t input) const { return recurrent_input_dims(form_, input, batch_first()); }

  // Calls see(what the text states, what there is) for each dimension of an input of the right rank.
  template <typename See>
  void each_dim(std::size_t input, See see) const {
    const SymbolicShape* found = shape(input);
    const RecurrentDims stated = dims(input);
    for (std::size_t i = 0; found != nullptr && found->size() == stated.size() && i < stated.size(); ++i)
      see(stated[i], (*found)[i]);
  }

  void take(Dim& to, const Dim& from) const {
    if (!to.value && (from.value || to.name.empty())) to = from;
  }

  void read_sizes(std::size_t input) {
    each_dim(input, [&](const RecurrentDim& stated, const Dim& dim) {
      const bool by_layout =
          stated.size == RecurrentSize::seq_length || stated.size == RecurrentSize::batch_size;
      if (stated.size == RecurrentSize::input_size || (by_layout && attributes_.layout))
        take(size_of(sizes_, stated.size), dim);
    });
  }

  // The size that most of attribute and inputs have, so that the odd one out is told; the attribute's, then
  // R's, where that is undecided.
  void vote_hidden_size() {
    std::map<std::int64_t, int> votes;
    if (attributes_.hidden_size) ++votes[*attributes_.hidden_size];
    Dim of_R, named;
    for (std::size_t input = 0; input <= input_P; ++input) {
      each_dim(input, [&](const RecurrentDim& stated, const Dim& dim) {
        if (stated.size != RecurrentSize::hidden_size) return;
        if (dim.value && *dim.value % stated.factor == 0) ++votes[*dim.value / stated.factor];
        if (input == input_R && stated.factor == 1) of_R = dim;
        if (stated.factor == 1 && input > input_W) take(named, dim);
      });
    }
    int most = 0;
    for (const auto& [size, count] : votes) most = std::max(most, count);
    const auto leads = [&](const Size& size) {
      return size && votes.count(*size) != 0 && votes[*size] == most;
    };
    if (leads(attributes_.hidden_size)) {
      sizes_.hidden_size.value = attributes_.hidden_size;
    } else if (leads(of_R.value)) {
      sizes_.hidden_size.value = of_R.value;
    } else {
      for (const auto& [size, count] : votes) {
        if (count == most) sizes_.hidden_size.value = size;
      }
    }
    take(sizes_.hidden_size, of_R);
    take(sizes_.hidden_size, named);
    if (attributes_.hidden_size && *attributes_.hidden_size != sizes_.hidden_size.value) {
      add(RecurrentRule::hidden_size, fmt::format("hidden_size is {}, but {}", *attributes_.hidden_size,
                                                  witnesses(*sizes_.hidden_size.value)));
    }
  }

  // "W [1,12,2], R [1,12,4] and B [1,24] have 4".
  std::string witnesses(std::int64_t hidden_size) const {
    std::vector<std::string> names;
    for (std::size_t input = 0; input <= input_P; ++input) {
      bool agrees = false;
      each_dim(input, [&](const RecurrentDim& stated, const Dim& dim) {
        const bool same = dim.value && dim.value == times(stated.factor, hidden_size);
        agrees = agrees || (stated.size == RecurrentSize::hidden_size && same);
      });
      if (agrees)
        names.push_back(fmt::format("{} {}", recurrent_input_name(input), to_string(*shape(input))));
    }
    return fmt::format("{} {} {}", fmt::join(names, ", "), names.size() == 1 ? "has" : "have", hidden_size);
  }

  std::vector<WantedDim> wanted(std::size_t input) const {
    std::vector<WantedDim> want;
    for (const RecurrentDim& dim : dims(input))
      want.push_back({dim.text(), times(dim.factor, size_of(sizes_, dim.size).value), dim.factor});
    return want;
  }

  void check(std::size_t input) {
    const SymbolicShape* found = shape(input);
    const bool state = input == input_initial_h || input == input_initial_c;
    if (found == nullptr || (state && !attributes_.layout)) return;
    const std::vector<WantedDim> want = wanted(input);
    if (fits(*found, want)) return;
    const bool by_layout = (state || input == input_X) && batch_first();
    tell(input, spelled(want) + (by_layout ? " under layout 1" : ""),
         sized(want) + shape_hint(input, *found, want, form_, attributes_, sizes_));
  }

  /// A scale and the zero point behind it: one for each direction, or for each column.
  void check_parameters(std::size_t scale) {
    const std::vector<WantedDim> by_column = wanted(scale), by_direction = {by_column[0]};
    for (const std::size_t input : {scale, scale + 1}) {
      const SymbolicShape* found = shape(input);
      if (found == nullptr) continue;
      const bool same_rank = shape(scale) == nullptr || shape(scale)->size() == found->size();
      if (same_rank && (fits(*found, by_column) || fits(*found, by_direction))) continue;
      tell(input,
           fmt::format("{} or {}{}", spelled(by_direction), spelled(by_column),
                       input == scale ? "" : " as its scale is"),
           sized(by_direction) + " or " + sized(by_column));
    }
  }

  void tell(std::size_t input, const std::string& rule, const std::string& here) {
    add(shape_rules[input], fmt::format("{} is {}; it must be {}, here {}", recurrent_input_name(input),
                                        to_string(*shape(input)), rule, here));
  }

  void check_lengths() {
    if (input_sequence_lens >= inputs_.size()) return;
    const Tensor* lengths = inputs_[input_sequence_lens].value;
    if (lengths == nullptr || lengths->dtype() != DType::int32 || lengths->rank() != 1) return;
    const auto* values = lengths->data<std::int32_t>();
    int told = 0;
    for (std::int64_t row = 0; row < lengths->dim(0); ++row) {
      const std::int64_t length = values[row];
      if (!is_sequence_length(length, sizes_.seq_length.value.value_or(length))) {
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
  return recurrent_output_shape<SymbolicShape>(output, *attributes.layout == 1, sizes);
}

}  // namespace grurun::opset
