// NegativeLogLikelihoodLoss (ai.onnx 12, 13, 22)
//
//   loss = -input[n][target[n][d]][d] * weight[target[n][d]]
//
// SoftmaxCrossEntropyLoss (ai.onnx 12, 13)
//
//   log_prob = LogSoftmax(scores) along axis 1, output = the loss above of log_prob, labels and weights
//
// input and scores [N, C, d_1 ... d_k], target and labels [N, d_1 ... d_k], weight [C]. A sample whose target
// is ignore_index counts for nothing. reduction: none gives the losses, sum theirs, mean their sum over that
// of the weights of the samples that count, 1 each without `weight`. 16-bit floats are computed in float.
#include "engine/ops/math/negative_log_likelihood.h"
#include "engine/ops/math/softmax.h"

namespace grurun::engine {

namespace {

RunFunction prepare_likelihood(PrepareContext& node) {
  return [rule = NegativeLogLikelihood::read(node)](RunContext& run) {
    run.set_output(0, rule.loss(run.tensor(0), run.tensor(1), run.optional_tensor(2)));
  };
}

RunFunction prepare_cross_entropy(PrepareContext& node) {
  return [rule = NegativeLogLikelihood::read(node)](RunContext& run) {
    const Tensor log_prob = log_softmax(run.tensor(0), 1);
    run.set_output(0, rule.loss(log_prob, run.tensor(1), run.optional_tensor(2)));
    if (run.has_output(1)) run.set_output(1, log_prob);
  };
}

}  // namespace

std::vector<OpRow> op_rows_loss() {
  return {{"", "NegativeLogLikelihoodLoss", {12, 13, 22}, prepare_likelihood},
          {"", "SoftmaxCrossEntropyLoss", {12, 13}, prepare_cross_entropy}};
}

}  // namespace grurun::engine
