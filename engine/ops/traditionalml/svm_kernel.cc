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
  return SvmKernel::Kind::sigmoid;
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
  kernel.gamma = static_cast<double>(parameters[0]);
  kernel.coef0 = static_cast<double>(parameters[1]);
  kernel.degree = static_cast<double>(parameters[2]);
  return kernel;
}

}  // namespace grurun::engine
