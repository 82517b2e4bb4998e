#include "trial/bisecting/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "onnx_io/models/walk.h"
#include "opset/recurrent/recurrent_form.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"
#include "trial/compare.h"
#include "trial/precise.h"
#include "trial/quantized.h"
#include "trial/random_tensor.h"

namespace grurun::trial {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
// Of few samples, one element in a million moves fifty times less than it may, by chance.
constexpr int few_samples = 4, many_samples = 32;
constexpr double beyond_chance = 100;

/// Sums of n terms may be off by sqrt(n) times what their terms are. Of 16-bit floats they are taken in
/// float.
double factor_of(DType dtype) {
  constexpr double of_sums = 64, of_short = 4, of_steps = 1;
  if (!Floats::set.contains(dtype)) return of_steps;
  return dtype == DType::float16 || dtype == DType::bfloat16 ? of_short : of_sums;
}

/// Of two types of numbers the one of fewer digits.
DType coarser(DType a, DType b) {
  if (!Floats::set.contains(b)) return a;
  return !Floats::set.contains(a) || unit_at(a, 1) < unit_at(b, 1) ? b : a;
}

/// dtype: of the coarser side; what is made of its numbers has no more digits.
Value moved(const Value& value, DType dtype, RandomBits& bits) {
  if (!value.is_tensor() || !Floats::set.contains(value.tensor().dtype())) return value;
  const Tensor& tensor = value.tensor();
  std::vector<double> elements = doubles_of(tensor);
  for (double& element : elements) {
    const double unit = unit_at(coarser(tensor.dtype(), dtype), element);
    if (element != 0 && std::isfinite(element)) element += bits.next() % 2 == 0 ? unit : -unit;
  }
  return dispatch(Floats{}, tensor.dtype(), [&]<typename T>() {
    std::vector<T> out;
    out.reserve(elements.size());
    const std::span<const T> before = tensor.span<T>();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const T next = static_cast<T>(elements[i]);
      out.push_back(std::isfinite(static_cast<double>(next)) ? next : before[i]);
    }
    return Value(Tensor::from(tensor.shape(), out));
  });
}

// What is made within it, gates near 1 for example, has that many digits however little is left of it.
bool makes_values_within(const onnx_io::Model& model) {
  return onnx_io::find_node(model, [](const onnx_io::Node& node) {
           return opset::find_layer_form(node.op_type, node.domain) != nullptr || onnx_io::has_body(node);
         }) != nullptr;
}

bool has_numbers(const Value& value) {
  return value.is_tensor() &&
         (Floats::set.contains(value.tensor().dtype()) || Integers::set.contains(value.tensor().dtype()));
}

/// The numbers of an output of a run on moved inputs; empty: it fails, or makes another shape.
std::vector<double> moved_numbers(const LoneRun& lone, DType dtype, RandomBits& bits, const Rerun& rerun) {
  const Shape& shape = lone.expected.tensor().shape();
  std::vector<Value> inputs;
  for (const Value& input : lone.inputs) inputs.push_back(moved(input, dtype, bits));
  // Weights: what a recurrent node multiplies with them is made within it.
  onnx_io::Model model = lone.model;
  for (onnx_io::Initializer& initializer : model.graph.initializers)
    if (initializer.tensor.rank() >= 2) initializer.tensor = moved(initializer.tensor, dtype, bits).tensor();
  try {
    const std::vector<Value> outputs = run_again(model, std::move(inputs), rerun);
    const Value value = lone.comparable(outputs.at(lone.output));
    if (!has_numbers(value) || value.tensor().shape() != shape) return {};
    return numbers_of(value.tensor());
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::limit || error.kind() == ErrorKind::internal) throw;
    return {};
  }
}

}  // namespace

double times_rounding(const LoneRun& lone, const Rerun& rerun) {
  const Value actual = lone.comparable(lone.made);
  if (!has_numbers(actual) || !has_numbers(lone.expected))
    return compare_values(actual, lone.expected, {{0.0, 0.0}, {}}).ok ? 0 : infinite;
  if (actual.tensor().shape() != lone.expected.tensor().shape()) return infinite;
  const DType dtype = coarser(actual.tensor().dtype(), lone.expected.tensor().dtype());
  const std::vector<double> made = numbers_of(actual.tensor()), wanted = numbers_of(lone.expected.tensor());
  std::vector<double> squares(made.size());  // of what each element moves by, added up
  RandomBits bits(0);
  const auto take_samples = [&](int count) {
    for (int sample = 0; sample < count; ++sample) {
      const std::vector<double> other = moved_numbers(lone, dtype, bits, rerun);
      for (std::size_t i = 0; i < other.size(); ++i) {
        const double by = other[i] - made[i];
        if (std::isfinite(by)) squares[i] += by * by;
      }
    }
  };
  const bool is_float = Floats::set.contains(dtype);
  const double least = is_float && makes_values_within(lone.model) ? unit_at(dtype, 1) : 0;
  const auto times_of = [&](int samples) {
    double times = 0;
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (made[i] == wanted[i] || (std::isnan(made[i]) && std::isnan(wanted[i]))) continue;
      // A step of an integer is taken in some samples only.
      const double moves = is_float
                               ? std::max({std::sqrt(squares[i] / samples), unit_at(dtype, wanted[i]), least})
                               : std::sqrt(squares[i]);
      const double far = std::fabs(made[i] - wanted[i]) / (factor_of(dtype) * moves);
      times = std::max(times, std::isfinite(far) ? far : infinite);
    }
    return times;
  };
  take_samples(few_samples);
  const double times = times_of(few_samples);
  if (times <= 1 || (is_float && times > beyond_chance)) return times;
  take_samples(many_samples - few_samples);
  return times_of(many_samples);
}

}  // namespace grurun::trial
