// Why a model differs whose recurrent layers stand in bodies of Loop and Scan.
#pragma once

#include <vector>

#include "trial/diagnosis/budget.h"
#include "trial/diagnosis/diagnose.h"
#include "trial/diagnosis/explanation.h"

namespace grurun::trial::diagnosis {

/// Runs the model, whose calls and branches are written out, once for each known mistake of weights, biases,
/// directions, functions or initial states of each layer in a body, and then for each that all of them may
/// share, until the outputs that differ are as expected and no other one is spoilt. Empty where there is no
/// such layer. Ends when the budget's time is over; throws what the model's run throws.
std::vector<Explanation> judge_bodies(const onnx_io::Model& model, const DiagnosisQuestion& question,
                                      const Rerun& rerun, const Budget& budget);

}  // namespace grurun::trial::diagnosis
