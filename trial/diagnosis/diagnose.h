// Why the outputs of a recurrent node differ from the expected ones.
#pragma once

#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/diagnosis/explanation.h"
#include "trial/trial.h"

namespace grurun::trial {

struct DiagnosisQuestion {
  const onnx_io::Model& model;
  const std::vector<Value>& inputs;    // of the graph, as the run had them; empty: left to the initializer
  const std::vector<Value>& expected;  // of the graph; empty: nothing is expected there
  const std::vector<Value>& actual;    // what the run gave, by graph output
  const std::vector<bool>& differs;    // by graph output
  /// Its deadline is that of the whole run. Diagnosis itself takes at most some 3 s of processor
  /// time beside the model's runs.
  Rerun rerun;
};

/// True when the model has a recurrent node anywhere, of which diagnose says something.
bool can_be_diagnosed(const onnx_io::Model& model);

/// One finding for each recurrent node of the main graph, a function that it calls or a branch that it takes,
/// one of whose outputs is a graph output that differs, directly or through Identity, Reshape, Squeeze,
/// Unsqueeze, Flatten, Transpose, Slice, Gather, Split and Concat. The model is taken to carry a mistake, the
/// expected values to be the truth: the node is recomputed in double precision under each known mistake, then
/// under what an export may have lost, then under each two mistakes. Where there is none, the model runs with
/// each known mistake taken back in nodes in bodies of Loop and Scan. Never throws for what a model or the
/// values hold; what cannot be diagnosed has no finding, but where that is all that differs one says what
/// lies between node and output.
std::vector<Explanation> diagnose(const DiagnosisQuestion& question);

}  // namespace grurun::trial
