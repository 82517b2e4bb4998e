#include "trial/diagnosis/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "tensor/error.h"
#include "trial/diagnosis/branches.h"
#include "trial/diagnosis/layer.h"
#include "trial/diagnosis/paths_to_output.h"
#include "trial/diagnosis/subject.h"

namespace grurun::trial {
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

/// Two nodes may have one name, or a node the name of another one's output: the later gets "#2" behind it.
std::vector<std::string> distinct_names(const std::vector<Subject>& subjects) {
  std::vector<std::string> names;
  std::unordered_set<std::string> taken;
  for (const Subject& subject : subjects) {
    names.push_back(taken.insert(subject.name).second ? subject.name : std::string());
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == subjects[i].name) continue;
    for (int number = 2; names[i].empty(); ++number) {
      std::string name = fmt::format("{}#{}", subjects[i].name, number);
      if (taken.insert(name).second) names[i] = std::move(name);
    }
  }
  return names;
}

}  // namespace
}  // namespace diagnosis

void require_traceable(const onnx_io::Model& model) {
  if (!diagnosis::has_recurrent_node(model)) fail_usage("the model has no GRU, LSTM or RNN to trace");
}

std::vector<onnx_io::NamedValue> trace_gates(const onnx_io::Model& model, const std::vector<Value>& inputs,
                                             const Rerun& rerun) {
  require_traceable(model);
  std::vector<onnx_io::NamedValue> traced;
  std::vector<diagnosis::Subject> subjects =
      diagnosis::find_subjects(diagnosis::written_out(model, inputs, rerun), inputs, rerun);
  std::erase_if(subjects,
                [](const diagnosis::Subject& subject) { return subject.other_direction != nullptr; });
  if (subjects.empty()) {
    fail_usage(
        "the model has no GRU, LSTM or RNN to trace in its main graph, functions of its opset or the "
        "branches of If "
        "that this run takes; bodies of Loop and Scan are not looked into");
  }
  const std::vector<std::string> names = diagnosis::distinct_names(subjects);
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    diagnosis::trace_layer(names[i], subjects[i].layer, traced);
  }
  return traced;
}

}  // namespace grurun::trial
