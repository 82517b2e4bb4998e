// A run that is repeated for its reasons: computed in double, or with the values inside it looked at.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"

namespace grurun::trial {

/// What a repeated run takes from the one it explains.
struct Rerun {
  std::uint64_t seed = 0;  // that of the run, or random operators draw other values
  std::optional<std::chrono::steady_clock::time_point> deadline{};  // Error(limit) beyond
};

/// The model's outputs. An empty Value leaves an input to its initializer. Throws what planning and running
/// throw.
std::vector<Value> run_again(const onnx_io::Model& model, std::vector<Value> inputs, const Rerun& rerun);

}  // namespace grurun::trial
