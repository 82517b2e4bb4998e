// Element-wise float32 operations one after the other, block by block, so that what lies between them stays
// in the cache. Each block passes through the very loops that the operators' own steps run: every bit is the
// same.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/ops/shared/elementwise.h"

namespace grurun::engine {

/// What an operation of a chain reads.
struct ChainOperand {
  enum class Kind { constant, made, outside };
  Kind kind = Kind::constant;
  std::size_t index = 0;  // of the operation that made it, or of the value from outside
  float constant = 0;

  bool operator==(const ChainOperand&) const = default;
};

struct ChainOperation {
  UnaryRun unary = nullptr;    // or
  BinaryRun binary = nullptr;  // or, if neither: (a - b) * c + d, all but a from outside
  OperationState op;
  ChainOperand a, b;
  UnaryRun gated = nullptr;  // of a unary operation, and
  bool is_product = false;   // of a binary one, as their tables say
  ChainOperand c = {}, d = {};
};

/// A value from outside as the elements of the result read it: element i is data[i / inner % extent].
struct ChainSource {
  const float* data = nullptr;
  std::int64_t inner = 1;
  std::int64_t extent = 1;
};

class ElementwiseChain {
 public:
  static constexpr std::size_t most_operations = 8;
  static constexpr std::size_t most_outside = 6;

  ElementwiseChain() = default;
  /// 1 to most_operations operations, each on what those before it made or on values from outside, of which
  /// there are at most most_outside. All but the last are read by one after it.
  explicit ElementwiseChain(std::vector<ChainOperation> operations);

  const std::vector<ChainOperation>& operations() const { return operations_; }

  /// y[i] for i in [begin, end): what the last operation makes. A source that has element i at data[i] may
  /// lie in y. Runs on the calling thread.
  void run(std::span<const ChainSource> outside, float* y, std::int64_t begin, std::int64_t end) const;

 private:
  static constexpr std::int64_t block = 1024;

  void join_gates();

  std::vector<ChainOperation> operations_;
  std::vector<std::size_t> buffers_;  // that each operation writes, but the last
};

}  // namespace grurun::engine
