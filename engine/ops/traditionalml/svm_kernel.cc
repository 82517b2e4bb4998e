#include "engine/ops/traditionalml/svm_kernel.h"

#include <cmath>

#include "engine/graph/op_context.h"

namespace grurun::engine {

namespace {

double dot(std::span<const double> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * static_cast<double>(b[i]);
  return sum;
}

double squared_distance(std::span<const double> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = a[i] - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return sum;
}

SvmKernel::Kind parse_kind(const std::string& name) {
  if (name == "LINEAR") return SvmKernel::Kind::linear;
  if (name == "POLY") return SvmKernel::Kind::poly;
  if (name == "RBF") return SvmKernel::Kind::rbf;
  if (name == "SIGMOID") return SvmKernel::Kind::sigmoid;
  fail_invalid("kernel_type is '{}', but must be LINEAR, POLY, RBF or SIGMOID", name);
}

}  // namespace

double SvmKernel::operator()(std::span<const double> a, std::span<const float> b) const {
  switch (kind) {
    case Kind::linear:
      return dot(a, b);
    case Kind::poly:
      return std::pow(gamma * dot(a, b) + coef0, degree);
    case Kind::rbf:
      return std::exp(-gamma * squared_distance(a, b));
    case Kind::sigmoid:
      break;
  }
  return std::tanh(gamma * dot(a, b) + coef0);
}

SvmKernel svm_kernel_attributes(PrepareContext& node) {
  SvmKernel kernel;
  kernel.kind = parse_kind(node.string_attribute("kernel_type", "LINEAR"));
  const std::vector<float> parameters = node.floats_attribute("kernel_params");
  if (parameters.empty()) return kernel;
  if (parameters.size() != 3) {
    fail_invalid("kernel_params has {} values, but must be [gamma, coef0, degree]", parameters.size());
  }
  kernel.gamma = static_cast<double>(parameters[0]);
  kernel.coef0 = static_cast<double>(parameters[1]);
  kernel.degree = static_cast<double>(parameters[2]);
  return kernel;
}

SvmVectors svm_vectors(std::vector<float> values, std::int64_t count, const char* what) {
  if (values.empty() || values.size() % static_cast<std::size_t>(count) != 0) {
    fail_invalid("{} has {} values, which are not those of {} vectors of one length", what, values.size(),
                 count);
  }
  return {std::move(values), count};
}

}  // namespace grurun::engine
