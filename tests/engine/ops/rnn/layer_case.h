// Between the oracle's layers and nodes that the engine runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/dtype.h"
#include "tests/engine/one_node.h"
#include "tests/engine/ops/rnn/oracle.h"

namespace grurun::engine::testing {

/// Element types of the recurrent operators with the tolerance |a-b| <= atol + rtol*|expected|: sums are
/// computed in double for double, else in float, and a 16-bit result is rounded once more.
struct Precision {
  DType dtype;
  double rtol, atol;
};
const Precision& precision_of(DType dtype);

/// Fills the layer's parameters with reproducible values that the type represents exactly; which optional
/// inputs are there the flags say. Sizes and direction must be set.
struct Present {
  bool B = true, initial_h = true, initial_c = true, P = false;
};
void fill_layer(oracle::Layer& layer, DType dtype, Present present, std::uint64_t seed);

/// Where no activations are given, none are written; layout is written only when it is 1.
OneNode node_of(const oracle::Layer& layer, std::int64_t opset, DType dtype);

/// A small forward layer without sequence_lens and P.
oracle::Layer plain_layer(const std::string& op, std::uint64_t seed);

/// What the operator of version 22 makes of a layer of float32.
std::vector<std::vector<double>> results(const oracle::Layer& layer);

Tensor tensor_of(const std::vector<double>& values, const Shape& shape, DType dtype);
std::vector<double> doubles_of(const Tensor& tensor);

/// The shapes that the operators' pages state for these.
Shape shape_of_X(const oracle::Layer& layer);
Shape shape_of_Y(const oracle::Layer& layer);
Shape shape_of_state(const oracle::Layer& layer);

/// "" when every element is near enough and NaN only where NaN is expected; else what differs first, with
/// index and both values.
std::string difference(const char* name, const Tensor& actual, const std::vector<double>& expected,
                       const Shape& expected_shape);

}  // namespace grurun::engine::testing
