// A model computed in double precision throughout: the judge that says which side of a mismatch is wrong.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/value.h"
#include "trial/trial.h"

namespace grurun::trial {

/// The model with double in the place of float, float16 and bfloat16: in what it declares, its initializers,
/// attributes that hold tensors or name a type, bodies and functions. An operator whose version admits no
/// double computes in float, between Casts (with_casts). Numbers in float attributes stay as they are.
onnx_io::Model widened(const onnx_io::Model& model);

/// The same for a value; others are handed back.
Value widened(const Value& value);

std::vector<Value> widened(const std::vector<Value>& values);

/// Runs what runs a widened model. Where some operator does not take double, throws Error(unsupported) that
/// says so.
void in_double(const std::function<void()>& run);

/// The elements of a float, double, float16 or bfloat16 tensor. Throws Error(unsupported) for other types.
std::vector<double> doubles_of(const Tensor& tensor);

/// One unit in the last place of a floating type at a value, subnormal ones included.
double unit_at(DType dtype, double value);

/// The outputs of the widened model for the widened inputs. Throws Error(unsupported) naming an operator that
/// does not take double, and what a run throws.
std::vector<Value> run_in_double(const onnx_io::Model& model, const std::vector<Value>& inputs,
                                 const Rerun& rerun);

/// "in double precision: actual is the nearer side, within 0.5 ULP of the truth; expected is off by up to
/// 1.2e+04 ULP". Units are those of the output's own type. expected may be empty: then only the actual side
/// is judged. Empty when the values are no floating tensors of one shape, or double already.
std::string judge_by_truth(const Value& truth, const Value& actual, const Value& expected);

}  // namespace grurun::trial
