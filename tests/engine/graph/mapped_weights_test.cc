// Weights that lie in files are used where they lie.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "engine/graph/executor.h"
#include "engine/graph/plan.h"
#include "onnx/onnx_pb.h"
#include "onnx_io/models/model.h"
#include "tensor/memory/memory.h"
#include "tests/places/scratch.h"

namespace grurun::engine {
namespace {

constexpr std::int64_t size = 3000;  // a matrix of 36 MB

// A file of zeros that takes no place on disk, but for one value on the diagonal.
std::string weights_file(const tests::Scratch& scratch) {
  const std::string path = scratch.file("weights.bin", "");
  EXPECT_EQ(::truncate(path.c_str(), size * size * 4), 0);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const float value = 3;
  file.seekp((size + 1) * 4);
  file.write(reinterpret_cast<const char*>(&value), sizeof value);
  return path;
}

// Y = Gemm(MatMul(X, W), W)
onnx::ModelProto two_products() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  onnx::GraphProto& graph = *model.mutable_graph();
  onnx::TensorProto& weight = *graph.add_initializer();
  weight.set_name("W");
  weight.set_data_type(onnx::TensorProto::FLOAT);
  weight.add_dims(size);
  weight.add_dims(size);
  const auto node = [&](const char* op, const char* from, const char* to) {
    onnx::NodeProto& made = *graph.add_node();
    made.set_op_type(op);
    made.add_input(from);
    made.add_input("W");
    made.add_output(to);
  };
  node("MatMul", "X", "H");
  node("Gemm", "H", "Y");
  for (const char* name : {"X", "Y"}) {
    onnx::ValueInfoProto& value = *(*name == 'X' ? graph.add_input() : graph.add_output());
    value.set_name(name);
    value.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  }
  return model;
}

// Whether the memory at `data` is mapped from the file of that name.
bool is_mapped_from(const void* data, const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) != 2) continue;
    const auto at = reinterpret_cast<std::uintptr_t>(data);
    if (at >= begin && at < end) return line.ends_with(path);
  }
  return false;
}

// Plans and runs the model; its weights must lie in the file, and not be taken into memory a second time.
void expect_used_where_it_lies(const std::string& model_path, const std::string& weights_path) {
  const onnx_io::Model model = onnx_io::load_model(model_path);
  EXPECT_TRUE(is_mapped_from(model.graph.initializers.at(0).tensor.raw(), weights_path));
  const std::size_t before = memory::in_use();
  const auto plan = make_plan(model);
  EXPECT_LT(memory::in_use() - before, std::size_t{1} << 20);
  for (const std::int64_t rows : {1, 3, 20}) {
    Tensor X = Tensor::zeros(DType::float32, {rows, size});
    X.mutable_data<float>()[1] = 2;
    const Tensor Y = run_plan(*plan, {X})[0].tensor();
    EXPECT_EQ(Y.data<float>()[1], 18);
    EXPECT_EQ(Y.data<float>()[2], 0);
  }
  EXPECT_LT(memory::in_use() - before, std::size_t{1} << 20);
}

TEST(MappedWeights, ExternalDataIsNotCopied) {
  const tests::Scratch scratch;
  const std::string weights = weights_file(scratch);
  onnx::ModelProto model = two_products();
  onnx::TensorProto& weight = *model.mutable_graph()->mutable_initializer(0);
  weight.set_data_location(onnx::TensorProto::EXTERNAL);
  onnx::StringStringEntryProto& entry = *weight.add_external_data();
  entry.set_key("location");
  entry.set_value("weights.bin");
  expect_used_where_it_lies(scratch.file("model.onnx", model.SerializeAsString()), weights);
}

}  // namespace
}  // namespace grurun::engine
