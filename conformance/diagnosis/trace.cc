#include "conformance/diagnosis/trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/diagnosis/layer.h"
#include "conformance/diagnosis/subject.h"
#include "tensor/error.h"

namespace grurun::conformance {
namespace diagnosis {
namespace {

void trace_layer(const std::string& name, const Layer& layer, std::vector<onnx_io::NamedValue>& into) {
  const Shape shape{layer.seq_length, layer.num_directions, layer.batch_size, layer.hidden_size};
  const std::int64_t gates = layer.gates();
  std::vector<Tensor> tensors;
  for (std::int64_t i = 0; i < gates + (layer.op == Op::lstm ? 2 : 1); ++i) {
    tensors.push_back(Tensor::zeros(DType::float64, shape));
  }
  for (std::int64_t d = 0; d < layer.num_directions; ++d) {
    for (std::int64_t n = 0; n < layer.batch_size; ++n) {
      run_row(layer, d, n, [&](const Step& step) {
        const std::int64_t at =
            ((step.time * layer.num_directions + d) * layer.batch_size + n) * layer.hidden_size;
        const auto put = [&](std::int64_t index, const double* from) {
          std::copy_n(from, layer.hidden_size,
                      tensors[static_cast<std::size_t>(index)].mutable_data<double>() + at);
        };
        for (std::int64_t gate = 0; gate < gates; ++gate) put(gate, step.gates + gate * layer.hidden_size);
        put(gates, step.H);
        if (layer.op == Op::lstm) put(gates + 1, step.C);
        return true;
      });
    }
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    const std::string part = index < gates ? gate_name(layer.op, index) : index == gates ? "H" : "C";
    into.push_back({fmt::format("{}.{}", name, part), std::move(tensors[i])});
  }
}

}  // namespace
}  // namespace diagnosis

std::vector<onnx_io::NamedValue> trace_gates(const onnx_io::Model& model, const std::vector<Value>& inputs) {
  if (!diagnosis::has_recurrent_node(model))
    fail_usage("the model's main graph has no GRU, LSTM or RNN to trace");
  std::vector<onnx_io::NamedValue> traced;
  for (const diagnosis::Subject& subject : diagnosis::find_subjects(model, inputs, std::nullopt)) {
    diagnosis::trace_layer(subject.name, subject.layer, traced);
  }
  return traced;
}

}  // namespace grurun::conformance
