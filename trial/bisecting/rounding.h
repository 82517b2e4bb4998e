// How far rounding moves what a node makes.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/trial.h"

namespace grurun::trial {

/// A run of a few nodes, one of whose outputs is not what is expected.
struct LoneRun {
  const onnx_io::Model& model;
  const std::vector<Value>& inputs;  // by graph input
  std::size_t output;                // its place among the graph's outputs
  const Value& made;
  const Value& expected;
  std::function<Value(const Value&)> comparable;  // the output as numbers that expected's are compared with
};

/// How many times as far as rounding explains the value is from the expected one: 0 where they are equal, up
/// to 1 where rounding explains it, infinite where nothing does. The nodes run some times more, and more
/// often before they are blamed, on inputs and weights each of whose elements is moved by a unit in the last
/// place, up or down at random. What an element of the output moves by then, times a factor for the way that
/// sums are added up, rounding explains. An element that little is left of, of large ones that cancel, moves
/// far. Throws Error(limit) and (internal) of runs.
double times_rounding(const LoneRun& lone, const Rerun& rerun);

}  // namespace grurun::trial
