// Models of one node that differ from an official one by a fault or two, drawn by a seed.
#pragma once

#include <onnx/onnx_pb.h>

#include <random>
#include <string>
#include <vector>

#include "tensor/value.h"

namespace grurun::trial::testing {

/// A model of one node with a value for each of its inputs.
struct OneNodeCase {
  std::string name;
  onnx::ModelProto model;  // no initializers; inputs of the node are inputs of the graph, once each
  std::vector<Value> inputs;
};

/// Cases of a suite's folder that are models of one node without bodies; sorted by name.
std::vector<OneNodeCase> one_node_cases(const std::string& folder);

struct Mutant {
  std::string what;           // "attribute axis = -7, input 1 to int32"
  onnx::ModelProto model;     // inputs that are tensors are initializers where all_known, else some of them
  std::vector<Value> inputs;  // of the graph, in its order
  bool all_known = false;     // the file holds every value
};

Mutant mutate(const OneNodeCase& from, std::mt19937& random);

}  // namespace grurun::trial::testing
