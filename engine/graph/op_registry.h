// The table of operators: exact (domain, type, since_version) to the function that prepares one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dtype.h"

namespace grurun::engine {

class PrepareContext;
class RunContext;

/// An operator prepared for one node: what it read of attributes and constant inputs, and the run step. It
/// may be called again and again, from several threads at once, too: what it keeps from run to run it guards.
using RunFunction = std::function<void(RunContext&)>;

/// Reads the node's attributes once and packs what is constant; returns the run step.
using PrepareFunction = RunFunction (*)(PrepareContext&);

/// Element types that the kernel takes for a type constraint (or, by "input:NAME", for one parameter) of the
/// schema.
struct TypeRule {
  const char* constraint;
  DTypeSet types;
};

/// Versions that mean the same to the kernel share one row. since_versions are those of the schema registry,
/// each listed; a version in no row is unsupported. A constraint without a rule is supported for every type
/// its schema admits; the executor refuses a type that a rule leaves out, before the kernel runs.
struct OpRow {
  const char* domain;
  const char* type;
  std::vector<int> since_versions;
  PrepareFunction prepare;
  std::vector<TypeRule> rules = {};
};

/// The rows of every engine/ops/**/*.op.cc. CMake writes this function from the file names: <stem>.op.cc
/// defines std::vector<OpRow> op_rows_<stem>().
std::vector<OpRow> all_op_rows();

/// The row for an exact version, or nullptr.
const OpRow* find_op(std::string_view domain, std::string_view type, int since_version);

/// For domains that ONNX's schema registry does not define: the newest version in the tables that is not
/// newer than opset_version, 0 when there is none.
int newest_op_version(std::string_view domain, std::string_view type, std::int64_t opset_version);

}  // namespace grurun::engine
