#include "onnx_io/models/model.h"

#include <gtest/gtest.h>

#include "onnx/onnx_pb.h"
#include "onnx_io/bytes.h"
#include "tensor/error.h"
#include "tests/places/scratch.h"

namespace grurun::onnx_io {
namespace {

using ::onnx::AttributeProto;
using ::onnx::TensorProto;

::onnx::ModelProto small_model() {
  ::onnx::ModelProto model;
  model.set_ir_version(10);
  model.set_producer_name("test");
  auto* const import = model.add_opset_import();
  import->set_domain("ai.onnx");
  import->set_version(22);
  auto* const graph = model.mutable_graph();
  graph->set_name("g");
  auto* const input = graph->add_input();
  input->set_name("X");
  auto* const type = input->mutable_type()->mutable_tensor_type();
  type->set_elem_type(TensorProto::FLOAT);
  type->mutable_shape()->add_dim()->set_dim_param("batch");
  type->mutable_shape()->add_dim()->set_dim_value(3);
  type->mutable_shape()->add_dim()->set_dim_value(-1);
  type->mutable_shape()->add_dim()->set_dim_param("?");
  graph->add_output()->set_name("Y");
  auto* const weight = graph->add_initializer();
  weight->set_name("W");
  weight->set_data_type(TensorProto::FLOAT);
  weight->add_dims(100);
  weight->set_raw_data(std::string(400, '\0'));
  auto* const node = graph->add_node();
  node->set_name("gemm");
  node->set_op_type("Gemm");
  node->add_input("X");
  node->add_input("W");
  node->add_output("Y");
  auto* const alpha = node->add_attribute();
  alpha->set_name("alpha");
  alpha->set_type(AttributeProto::FLOAT);
  alpha->set_f(0.5f);
  return model;
}

Model parse(const ::onnx::ModelProto& proto, const std::string& folder = {}) {
  const std::string bytes = proto.SerializeAsString();
  return parse_model(bytes.data(), bytes.size(), folder);
}

std::string error_of(const ::onnx::ModelProto& proto) {
  try {
    parse(proto);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Model, PlainTypesSayWhatTheMessageSays) {
  const Model model = parse(small_model());
  EXPECT_EQ(model.ir_version, 10);
  EXPECT_EQ(model.producer_name, "test");
  EXPECT_EQ(model.opset_imports, (OpsetImports{{"", 22}}));
  ASSERT_EQ(model.graph.inputs.size(), 1u);
  EXPECT_EQ(model.graph.inputs[0].type.to_string(), "tensor(float)");
  EXPECT_EQ(to_string(*model.graph.inputs[0].type.shape), "[batch,3,?,?]");
  EXPECT_EQ(model.graph.outputs[0].type.kind, ValueType::Kind::unknown);
  ASSERT_NE(index_initializers(model.graph)["W"], nullptr);
  EXPECT_EQ(index_initializers(model.graph)["W"]->shape(), Shape({100}));
  const Node& node = model.graph.nodes.at(0);
  EXPECT_EQ(node.inputs, (std::vector<std::string>{"X", "W"}));
  ASSERT_NE(node.find_attribute("alpha"), nullptr);
  EXPECT_EQ(node.find_attribute("alpha")->f, 0.5f);
  EXPECT_EQ(node.find_attribute("beta"), nullptr);
  EXPECT_EQ(model.proto->graph().node_size(), 1);
}

TEST(Model, LargeInitializersLieInTheMessage) {
  const Model model = parse(small_model());
  EXPECT_EQ(model.graph.initializers[0].tensor.raw(), model.proto->graph().initializer(0).raw_data().data());
}

TEST(Model, FileAndBytesGiveTheSame) {
  const tests::Scratch scratch;
  const std::string path = scratch.file("m.onnx", small_model().SerializeAsString());
  const Model model = load_model(path);
  EXPECT_EQ(model.path, path);
  EXPECT_EQ(model.graph.nodes.size(), 1u);
  EXPECT_EQ(model.graph.initializers.size(), 1u);
}

struct BadModel {
  const char* name;
  void (*spoil)(::onnx::ModelProto&);
  const char* message;
};

const BadModel bad_models[] = {
    {"no graph", [](auto& m) { m.clear_graph(); },
     "invalid: no ONNX model: it is a protobuf message without a graph"},
    {"no ir_version", [](auto& m) { m.clear_ir_version(); }, "invalid: no ONNX model: it has no ir_version"},
    {"ir_version 0", [](auto& m) { m.set_ir_version(0); }, "invalid: ir_version 0 is no IR version"},
    {"ir_version huge", [](auto& m) { m.set_ir_version(1LL << 62); },
     "invalid: ir_version 4611686018427387904 is no IR version"},
    {"ir_version new", [](auto& m) { m.set_ir_version(99); },
     "unsupported: ir_version 99 is newer than the newest known here, 14"},
    {"opset huge", [](auto& m) { m.mutable_opset_import(0)->set_version(1LL << 62); },
     "invalid: opset_import: 4611686018427387904 is no opset version (domain ai.onnx)"},
    {"opset 0", [](auto& m) { m.mutable_opset_import(0)->set_version(0); },
     "invalid: opset_import: 0 is no opset version (domain ai.onnx)"},
    {"no opset", [](auto& m) { m.clear_opset_import(); },
     "invalid: it has no opset_import, which IR version 3 and later need"},
    {"negative dim", [](auto& m) { m.mutable_graph()->mutable_initializer(0)->set_dims(0, -100); },
     "invalid: initializer 'W': dimension -100 is negative"},
    {"dims wrap",
     [](auto& m) {
       auto* const weight = m.mutable_graph()->mutable_initializer(0);
       weight->set_dims(0, 1LL << 32);
       weight->add_dims(1LL << 32);
     },
     "invalid: initializer 'W': shape [4294967296,4294967296] has more elements than any memory holds"},
    {"too few bytes", [](auto& m) { m.mutable_graph()->mutable_initializer(0)->set_dims(0, 101); },
     "invalid: initializer 'W': raw_data holds 400 bytes, but float [101] takes 404"},
    {"nameless initializer", [](auto& m) { m.mutable_graph()->mutable_initializer(0)->clear_name(); },
     "invalid: an initializer has no name"},
    {"attribute of two values",
     [](auto& m) { m.mutable_graph()->mutable_node(0)->mutable_attribute(0)->set_i(1); },
     "invalid: node 'gemm' (Gemm): attribute 'alpha': it has a value as FLOAT and one as INT"},
    {"attribute of another type",
     [](auto& m) {
       m.mutable_graph()->mutable_node(0)->mutable_attribute(0)->set_type(AttributeProto::INTS);
     },
     "invalid: node 'gemm' (Gemm): attribute 'alpha': its type is INTS, but its value is given as FLOAT"},
    {"attribute without value",
     [](auto& m) {
       auto* const alpha = m.mutable_graph()->mutable_node(0)->mutable_attribute(0);
       alpha->clear_f();
       alpha->set_type(AttributeProto::TENSOR);
     },
     "invalid: node 'gemm' (Gemm): attribute 'alpha': it is of type TENSOR but has no value"},
    {"element type unknown",
     [](auto& m) {
       m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(77);
     },
     "invalid: value 'X': 77 is the number of no element type"},
};

TEST(Model, EachBrokenModelGivesItsOneLine) {
  for (const BadModel& row : bad_models) {
    ::onnx::ModelProto model = small_model();
    row.spoil(model);
    EXPECT_EQ(error_of(model), row.message) << row.name;
  }
}

// proto3, in which onnx.proto3 is written, leaves out what is 0.
TEST(Model, AnAttributeThatIsLeftOutAsZeroIsZero) {
  ::onnx::ModelProto proto = small_model();
  proto.mutable_graph()->mutable_node(0)->mutable_attribute(0)->clear_f();
  const Model model = parse(proto);
  EXPECT_EQ(model.graph.nodes[0].find_attribute("alpha")->type, AttributeType::float_);
  EXPECT_EQ(model.graph.nodes[0].find_attribute("alpha")->f, 0);
}

TEST(Model, BeforeIrVersion3TheOpsetIsOne) {
  ::onnx::ModelProto model = small_model();
  model.clear_opset_import();
  model.set_ir_version(2);
  EXPECT_EQ(parse(model).opset_imports, (OpsetImports{{"", 1}}));
}

TEST(Model, OfSeveralImportsOfADomainTheHighestCounts) {
  ::onnx::ModelProto model = small_model();  // imports ai.onnx at 22
  for (const auto& [domain, version] : std::vector<std::pair<const char*, int>>{
           {"", 7}, {"ai.onnx.ml", 3}, {"", 23}, {"ai.onnx.ml", 2}, {"ns", 1}, {"ns", 1}}) {
    auto* const import = model.add_opset_import();
    import->set_domain(domain);
    import->set_version(version);
  }
  const Model read = parse(model);
  EXPECT_EQ(read.opset_imports, (OpsetImports{{"", 23}, {"ai.onnx.ml", 3}, {"ns", 1}}));
  EXPECT_EQ(read.proto->opset_import_size(), 3) << "ONNX's inference takes the last";
}

TEST(Model, AttributeWithoutTypeHasTheTypeOfItsField) {
  ::onnx::ModelProto model = small_model();
  model.mutable_graph()->mutable_node(0)->mutable_attribute(0)->clear_type();
  EXPECT_EQ(parse(model).graph.nodes[0].attributes[0].type, AttributeType::float_);
}

struct NoModel {
  const char* content;
  const char* message;
};

TEST(Model, WhatIsNoModelIsToldApart) {
  const tests::Scratch scratch;
  const NoModel rows[] = {
      {"", "it is empty"},
      {"version https://git-lfs.github.com/spec/v1\noid", "a Git LFS pointer"},
      {"PK\x03\x04zip", "a zip archive"},
      {"{\"irVersion\": 3}", "without a graph"},
      {"<?xml version='1.0'?>", "no OpenVINO IR"},
      {"hello, world", "no protobuf message at all"},
  };
  for (const NoModel& row : rows) {
    const std::string path = scratch.file("m.onnx", row.content);
    try {
      load_model(path);
      ADD_FAILURE() << row.message << ": was read as a model";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_model) << row.message;
      EXPECT_NE(error.message().find(row.message), std::string::npos) << error.what();
      EXPECT_EQ(error.context(), std::vector<std::string>{path});
    }
  }
}

TEST(Model, WhatCannotBeOpenedIsAUsageError) {
  const tests::Scratch scratch;
  scratch.fifo("fifo");
  for (const std::string& path : {scratch.path("missing.onnx"), scratch.path(""), scratch.path("fifo")}) {
    try {
      load_model(path);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << error.what();
    }
  }
}

TEST(Model, EveryTruncationIsRefusedOrRead) {
  const std::string whole = small_model().SerializeAsString();
  int refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    try {
      parse_model(whole.data(), size, "");
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_model) << "at " << size;
      ++refused;
    }
  }
  // A cut between two top-level fields leaves a message that is whole: of those, one has a graph.
  EXPECT_GE(refused, static_cast<int>(whole.size()) - 2);
}

TEST(Model, EveryFlippedByteIsRefusedOrRead) {
  const std::string whole = small_model().SerializeAsString();
  int refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {0x01, 0x08, 0x80, 0xff}) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
      try {
        parse_model(bytes.data(), bytes.size(), "");
      } catch (const Error& error) {
        EXPECT_NE(error.kind(), ErrorKind::internal) << error.what() << " at " << at;
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 0);
}

TEST(Model, NestingBeyondProtobufsLimitIsRefused) {
  ::onnx::GraphProto graph;
  for (int depth = 0; depth < 40; ++depth) {
    ::onnx::GraphProto outer;
    auto* const node = outer.add_node();
    node->set_op_type("If");
    auto* const body = node->add_attribute();
    body->set_name("then_branch");
    body->set_type(AttributeProto::GRAPH);
    body->mutable_g()->Swap(&graph);
    graph.Swap(&outer);
  }
  ::onnx::ModelProto model = small_model();
  model.mutable_graph()->Swap(&graph);
  EXPECT_EQ(error_of(model),
            "invalid: no ONNX model: it is truncated, damaged, or no protobuf message at all");
}

}  // namespace
}  // namespace grurun::onnx_io
