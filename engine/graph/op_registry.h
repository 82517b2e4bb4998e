// The table of operators: exact (domain, type, since_version) to the function that prepares one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/dtype.h"

namespace grurun::engine {

class PrepareContext;
class RunContext;
struct ChainPart;  // engine/ops/shared/chain_step.h

/// An operator prepared for one node: what it read of attributes and constant inputs, and the run step. It
/// may be called again and again, from several threads at once, too: what it keeps from run to run it guards.
class RunFunction {
 public:
  RunFunction() = default;
  template <typename F>
  requires std::is_invocable_v<F&, RunContext&> RunFunction(F run) : run_(std::move(run)) {}
  /// A step that may become part of a chain.
  RunFunction(RunFunction run, std::shared_ptr<const ChainPart> part)
      : run_(std::move(run.run_)), part_(std::move(part)) {}

  void operator()(RunContext& run) const { run_(run); }

  /// What fusion (fusion.h) needs to make this step part of a chain; nullptr: it cannot be one.
  const ChainPart* chain_part() const { return part_.get(); }

 private:
  std::function<void(RunContext&)> run_;
  std::shared_ptr<const ChainPart> part_;
};

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
