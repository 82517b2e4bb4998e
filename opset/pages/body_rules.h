// What If, Loop, Scan and SequenceMap want of the types that their bodies take and return. Inference judges
// the types that it finds by them, a run those of its values. All throw Error(invalid_model).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tensor/value_type.h"

namespace grurun::opset {

struct BodyCounts {
  std::size_t inputs;
  std::size_t outputs;
};

/// The counts of the body against those that its node asks for.
void require_counts(const std::string& body, const char* op_type, BodyCounts wanted, BodyCounts has);

/// What a body is given for an input, against what it declares of it. Shapes are compared where they may not
/// change from one iteration to the next, which is so but for Loop.
void require_declared(const std::string& input, const ValueType& declared, const ValueType& given,
                      bool with_shapes);

/// The output of an If, by both branches: of one type, in version 1 of one shape, too.
struct BranchOutput {
  const std::string& name;  // in the branch
  const ValueType& type;
};
void require_alike_branches(std::size_t output, int since_version, const BranchOutput& then_output,
                            const BranchOutput& else_output);

/// What a Loop's body returns for whether to go on.
void require_condition(const ValueType& type);

/// The input of a body that holds a state, and what the body returns for it.
struct StateStep {
  const std::string& name;
  const ValueType& before;
  const std::string& returned_name;
  const ValueType& after;
};
/// A Loop keeps the type of its states, a Scan the shape, too.
void require_state_kept(const StateStep& step, bool with_shapes);

/// A scan output of iteration 0 and of a later one; name: as the node's, and the body's, are to be told.
struct ScanOutput {
  const std::string& name;
  const ValueType& first;
  std::int64_t iteration;
  const ValueType& later;
};
void require_scan_output_kept(const ScanOutput& output);

/// What SequenceMap's body returns for an item, against what it returned for those before; nullptr: none.
void require_same_element(const std::string& output, const ValueType* before, const ValueType& made);

/// A scan output is a tensor.
void require_tensor_output(const std::string& name, const ValueType& type);

}  // namespace grurun::opset
