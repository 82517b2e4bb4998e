// The parts that check_model puts together, in their order.
#pragma once

#include "onnx/onnx_pb.h"
#include "onnx_io/models/model.h"
#include "opset/check/check.h"
#include "opset/findings/check_report.h"
#include "opset/inference/infer.h"
#include "opset/schema/function_calls.h"

namespace grurun::opset {

/// Names and nodes of every graph, subgraph and function body. Nesting must be bounded (check_limits).
void check_graphs(const onnx_io::Model& model, const FunctionIndex& functions, CheckReport& report);

/// Judges nodes of functions whose attributes refer to those of a call, for every call that gives other
/// values, and tells what the nodes as they are written do not have wrong already. Calls must be bounded
/// (Limits::safe_to_infer).
void check_call_values(const onnx_io::Model& model, const FunctionIndex& functions, CheckReport& report);

/// What a model declares of its values, against what inference finds without looking at it: `inferred` was
/// made without the declared types. Reports each value whose declared type or shape differs, in every graph;
/// symbolic dimensions agree with anything. Returns those values.
WrongDeclarations check_declared(const onnx::ModelProto& original, const Inference& inferred,
                                 CheckReport& report);

struct KnownValues {
  const ComputedValues& computed;
  const std::map<std::string, ValueType>& inferred;  // of the main graph
};

/// What the kernel of a node finds in its attributes and constants. Of nodes that are right by themselves, in
/// subgraphs and functions too. What was told already is not told again.
void check_preparation(const onnx_io::Model& model, const FunctionIndex& functions, const KnownValues& known,
                       const NodeFaults& faults_of, CheckReport& report);

/// Numbers of attributes that no version's text forbids and no run reads; inferred: types of the main graph.
void check_surplus(const onnx_io::Model& model, const std::map<std::string, ValueType>& inferred,
                   CheckReport& report);

/// NaN in weights and constants, and infinities where they are no mask and no bound.
void check_numbers(const onnx_io::Model& model, CheckReport& report);

/// Forms that are taken all the same (pages/forms.h), those that a node shows whatever its inputs are, in
/// subgraphs and functions too.
void check_forms_of_nodes(const onnx_io::Model& model, const FunctionIndex& functions, CheckReport& report);

/// Those that types and constants of inputs show, in the main graph.
void check_forms_of_inputs(const onnx_io::Model& model, const FunctionIndex& functions,
                           const KnownValues& known, CheckReport& report);

/// ONNX's own checker, on a model whose nesting and calls are bounded. It stops at the first fault, and
/// touches no files: external data is the reader's business. What it finds is an error when the report has
/// neither an error nor a form that is taken all the same, else a note.
void run_onnx_checker(const onnx::ModelProto& proto, CheckReport& report);

}  // namespace grurun::opset
