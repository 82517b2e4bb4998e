// What the check says of GRU, RNN and LSTM, where, and what it infers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "onnx/shape_inference/implementation.h"
#include "onnx_io/models/proto_convert.h"
#include "opset/check/check_before_run.h"
#include "tests/opset/check_models.h"
#include "tests/opset/recurrent_models.h"

namespace grurun::opset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Change = std::function<void(OneLayer&)>;

struct LayerMessageCase {
  const char* what;
  Change change;
  const char* code;
  const char* section;
  const char* message;
  const char* op = "GRU";
  int opset = 14;
};

std::string described(const CheckResult& result) {
  std::string text;
  for (const Finding& finding : result.findings) {
    text += fmt::format("{} [{}] {}\n", finding.code, finding.section, finding.message);
  }
  return text;
}

TEST(RecurrentCheck, SaysWhatWasFoundAndWhatItWasMeantToBe) {
  const LayerMessageCase cases[] = {
      {"W without num_directions", [](OneLayer& l) { l.set_type("W", "float[12,2]"); }, "GRU023", "input W",
       "W is [12,2]; it must be [num_directions, 3*hidden_size, input_size], here [1,12,2]; the axis "
       "num_directions "
       "is missing: Unsqueeze it at 0"},
      {"W transposed", [](OneLayer& l) { l.set_type("W", "float[1,2,12]"); }, "GRU023", "input W",
       "here [1,12,2]; its last two axes are swapped: Transpose it"},
      {"weights of two directions", [](OneLayer& l) { l.set_type("R", "float[2,12,4]"); }, "GRU024",
       "input R", "it is that of 2 directions, but direction is forward"},
      {"one bias, as Keras has it", [](OneLayer& l) { l.set_type("B", "float[1,12]"); }, "GRU025", "input B",
       "it holds one of [Wb[zrh], Rb[zrh]]: append zeros for the other"},
      {"an LSTM with one bias", [](OneLayer& l) { l.set_type("B", "float[1,16]"); }, "LSTM025", "input B",
       "it must be [num_directions, 8*hidden_size], here [1,32]; it holds one of [Wb[iofc], Rb[iofc]]",
       "LSTM"},
      {"a state that is batch first", [](OneLayer& l) { l.set_type("H", "float[3,1,4]"); }, "GRU028",
       "input initial_h", "here [1,3,4]; it has the shape of layout 1"},
      {"the R of an LSTM with a projection", [](OneLayer& l) { l.set_type("R", "float[1,16,3]"); }, "LSTM024",
       "input R", "here [1,16,4]; an LSTM with a projection of its state (proj_size) has it so", "LSTM"},
      {"its cell", [](OneLayer& l) { l.set_type("C", "float[1,3,7]"); }, "LSTM029", "input initial_c",
       "here [1,3,4]; an LSTM with a projection of its state (proj_size) has it so", "LSTM"},
      {"an LSTM's B of three axes", [](OneLayer& l) { l.set_type("B", "float[1,32,1]"); }, "LSTM025",
       "input B", "B is [1,32,1]; it must be [num_directions, 8*hidden_size], here [1,32]", "LSTM"},
      {"a state without num_directions", [](OneLayer& l) { l.set_type("H", "float[3,4]"); }, "GRU028",
       "input initial_h", "the axis num_directions is missing: Unsqueeze it at 0"},
      {"an X that is batch first", [](OneLayer& l) { l.set_type("X", "float[3,5,2]"); }, "GRU028",
       "input initial_h", "its batch_size is X's seq_length: X may be batch first, Transpose it"},
      {"lengths of an X that is batch first", [](OneLayer& l) { l.set_type("X", "float[3,5,2]"); }, "GRU026",
       "input sequence_lens", "it has X's seq_length: X may be batch first, Transpose it"},
      {"a state in the place of sequence_lens", [](OneLayer& l) { l.set_type("L", "int32[1,3,4]"); },
       "GRU026", "input sequence_lens",
       "here [3]; a state is input 5 or 6: name \"\" in the place of sequence_lens"},
      {"hidden_size against everything else", [](OneLayer& l) { l.attributes["hidden_size"] = "8"; },
       "GRU005", "attribute hidden_size",
       "hidden_size is 8, but W [1,12,2], R [1,12,4], B [1,24], initial_h [1,3,4] have 4"},
      {"activations of one direction",
       [](OneLayer& l) {
         l.attributes["direction"] = "\"bidirectional\"";
         l.attributes["activations"] = "[\"Tanh\", \"Relu\"]";
       },
       "GRU006", "attribute activations",
       "GRU-14 with two directions needs 4: those of the forward direction, then those of the backward one"},
      {"a misspelt activation", [](OneLayer& l) { l.attributes["activations"] = "[\"Sigmiod\", \"Tanh\"]"; },
       "GRU007", "attribute activations", "did you mean 'Sigmoid'?"},
      {"Affine without beta",
       [](OneLayer& l) {
         l.attributes["activations"] = "[\"Affine\", \"Tanh\"]";
         l.attributes["activation_alpha"] = "[1.0]";
       },
       "GRU008", "attribute activation_beta", "Affine needs a value in activation_beta"},
      {"layout before its time", [](OneLayer& l) { l.attributes["layout"] = "1"; }, "GRU001", "Attributes",
       "GRU-7 has no attribute 'layout'; GRU-14 has it: import opset 14 or newer", "GRU", 13},
      {"output_sequence after its time", [](OneLayer& l) { l.attributes["output_sequence"] = "1"; }, "RNN001",
       "Attributes", "the last version that had it is RNN-1", "RNN"},
      {"linear_before_reset in GRU-1", [](OneLayer& l) { l.attributes["linear_before_reset"] = "1"; },
       "GRU001", "Attributes", "GRU-3 has it", "GRU", 1},
      {"bfloat16 before its time",
       [](OneLayer& l) {
         for (auto& [name, type] : l.types)
           if (name != "L") type = "bfloat16" + type.substr(5);
       },
       "GRU040", "type constraint T", "input X is tensor(bfloat16)"},
      {"Y_c alone is wrong", [](OneLayer& l) { l.outputs[2].second = "float[1,3,5]"; }, "LSTM054",
       "output Y_c", "'Y_c' is declared tensor(float) [1,3,5], but this node gives tensor(float) [1,3,4]",
       "LSTM"},
      {"Y_h left out of GRU-1", [](OneLayer& l) { l.outputs.resize(1); }, "GRU051", "output Y_h",
       "1 output; GRU-1 gives 2", "GRU", 1},
      {"an LSTM's W", [](OneLayer& l) { l.set_type("W", "float[1,16,2]"); }, "GRU023", "input W",
       "here [1,12,2]; it has the rows of an LSTM"},
      {"a GRU's B", [](OneLayer& l) { l.set_type("B", "float[1,24]"); }, "LSTM025", "input B",
       "here [1,32]; it has the rows of a GRU", "LSTM"},
      {"a B that is too long to be doubled",
       [](OneLayer& l) { l.set_type("B", "float[1,4611686018427387904]"); }, "GRU025", "input B",
       "B is [1,4611686018427387904]; it must be [num_directions, 6*hidden_size], here [1,24]"},
      {"a state too long for the rows of an LSTM",
       [](OneLayer& l) {
         l.attributes["hidden_size"] = "2305843009213693952";
         l.set_type("R", "float[1,6917529027641081856,2305843009213693952]");
       },
       "GRU023", "input W", "here [1,6917529027641081856,2]"},
      {"a state too long for peepholes of four gates",
       [](OneLayer& l) {
         l.attributes["hidden_size"] = "2305843009213693952";
         l.set_type("R", "float[1,rows,2305843009213693952]");
         for (const char* state : {"H", "C"}) l.set_type(state, "float[1,3,2305843009213693952]");
       },
       "LSTM030", "input P",
       "P is [1,12]; it must be [num_directions, 3*hidden_size], here [1,6917529027641081856]", "LSTM"},
      {"P of four gates", [](OneLayer& l) { l.set_type("P", "float[1,16]"); }, "LSTM030", "input P",
       "here [1,12]; it has one for each gate: the cell gate has none, P is P[iof]", "LSTM"},
      {"an X without batch", [](OneLayer& l) { l.set_type("X", "float[5,2]"); }, "GRU022", "input X",
       "here [?,3,2]; it has no batch_size, or no seq_length: Unsqueeze the axis that is missing"},
      {"an X of another input_size", [](OneLayer& l) { l.set_type("X", "float[5,3,7]"); }, "GRU023",
       "input W", "here [1,12,7]; X has input_size 7"},
      {"an X whose input_size stands in front", [](OneLayer& l) { l.set_type("X", "float[2,3,5]"); },
       "GRU023", "input W",
       "here [1,12,5]; X has input_size 5, and 2 where seq_length stands: Transpose X if that is its input"},
      {"lengths of int64", [](OneLayer& l) { l.set_type("L", "int64[3]"); }, "GRU042", "type constraint T1",
       "input sequence_lens is tensor(int64); GRU-14 admits tensor(int32); Cast it"},
      {"a state of another batch", [](OneLayer& l) { l.set_type("H", "float[1,1,4]"); }, "GRU028",
       "input initial_h",
       "here [1,3,4]; X has another batch_size: leave the state out if it is 0, or make it an input of that "
       "size"},
      {"backward for reverse", [](OneLayer& l) { l.attributes["direction"] = "\"backward\""; }, "GRU004",
       "attribute direction", "did you mean 'reverse'?"},
  };
  for (const LayerMessageCase& c : cases) {
    SCOPED_TRACE(c.what);
    OneLayer layer(c.op, c.opset);
    c.change(layer);
    const CheckResult result = check_model(layer.model());
    bool found = false;
    for (const Finding& finding : result.findings) {
      found = found || (finding.code == c.code && finding.section == c.section && finding.node == "graph/n" &&
                        finding.message.find(c.message) != std::string::npos);
    }
    EXPECT_TRUE(found) << described(result);
  }
}

TEST(RecurrentCheck, ListsEveryFaultOfANodeAtOnce) {
  OneLayer layer("GRU", 13);
  layer.attributes = {{"hidden_size", "4"}, {"layout", "1"}, {"clip", "-1.0"}, {"direction", "\"sideways\""}};
  layer.set_type("W", "float[12,2]");
  layer.set_type("L", "int64[4]");
  layer.set_type("H", "double[1,3,5]");
  EXPECT_EQ(
      codes(check_model(layer.model())),
      (std::set<std::string>{"GRU001", "GRU004", "GRU009", "GRU023", "GRU026", "GRU028", "GRU041", "GRU042"}))
      << described(check_model(layer.model()));
}

TEST(RecurrentCheck, OneOddSizeIsBlamedNotTheOthers) {
  for (const char* odd : {"W", "R", "B", "H", "C", "P"}) {
    OneLayer layer("LSTM", 14);
    std::string& type = layer.types.at(odd);
    const std::size_t end = type.find_last_of("0123456789");
    type = odd == std::string("W") ? "float[1,20,2]" : type.substr(0, type.rfind(',')) + ",40]";
    const CheckResult result = check_model(layer.model());
    ASSERT_EQ(codes(result).size(), 1u) << type << end << described(result);
  }
}

std::string shape_of(const CheckResult& result, const std::string& name) {
  const auto found = result.inferred.find(name);
  return found == result.inferred.end() || !found->second.shape ? "none" : to_string(*found->second.shape);
}

std::string head(int opset) {
  return fmt::format("<ir_version: 8, opset_import: [\"\" : {}]> g ", opset);
}

// A graph with these inputs, whose layers make values that nothing declares.
std::string undeclared(int opset, const std::string& inputs, const std::string& nodes) {
  return head(opset) + "(" + inputs + ", float[k] K) => (float[k] Z) <int64[1] axes = {1}> { " + nodes +
         " Z = Identity(K) }";
}

// What inference over the whole model finds, and what is known before a run: the same of a layer's outputs.
void expect_shapes(const std::string& text, const std::map<std::string, std::string>& shapes) {
  const onnx_io::Model model = model_from_text(text);
  const CheckResult whole = check_model(model);
  const CheckResult before = check_before_run(model, {});
  EXPECT_FALSE(whole.has_errors()) << described(whole);
  for (const auto& [name, shape] : shapes) {
    EXPECT_EQ(shape_of(whole, name), shape) << name << " in " << text;
    EXPECT_EQ(shape_of(before, name), shape) << name << " before the run of " << text;
  }
}

TEST(RecurrentInference, KeepsTheNamesOfDimensions) {
  // hidden_size is R's last dimension.
  expect_shapes(undeclared(14, "float[time,batch,8] X, float[2,64,8] W, float[2,64,16] R",
                           "Y, H, C = LSTM <direction = \"bidirectional\"> (X, W, R)"),
                {{"Y", "[time,2,batch,16]"}, {"H", "[2,batch,16]"}, {"C", "[2,batch,16]"}});
}

TEST(RecurrentInference, FollowsTheLayout) {
  expect_shapes(undeclared(22, "float[batch,time,8] X, float[1,48,8] W, float[1,48,16] R",
                           "Y, H = GRU <layout = 1, hidden_size = 16> (X, W, R)"),
                {{"Y", "[batch,time,1,16]"}, {"H", "[batch,1,16]"}});
}

TEST(RecurrentInference, TakesFromOtherInputsWhatXLeavesOpen) {
  expect_shapes(undeclared(14, "float[?,?,8] X, float[1,hidden,8] W, float[1,hidden,hidden] R, int32[6] L",
                           "Y, H = RNN (X, W, R, \"\", L)"),
                {{"Y", "[?,1,6,hidden]"}, {"H", "[1,6,hidden]"}});
}

TEST(RecurrentInference, IsThatOfLaterVersionsBeforeSeven) {
  for (const int opset : {1, 3, 6}) {
    expect_shapes(
        undeclared(opset, "float[5,3,8] X, float[1,48,8] W, float[1,48,16] R", "Y, H = GRU (X, W, R)"),
        {{"Y", "[5,1,3,16]"}, {"H", "[1,3,16]"}});
  }
}

TEST(RecurrentInference, GoesOnBehindALayer) {
  const CheckResult result = check_model(model_from_text(undeclared(
      14, "float[time,batch,8] X, float[1,48,8] W, float[1,48,16] R",
      "Y, H = GRU <hidden_size = 16> (X, W, R) S = Squeeze(Y, axes) Q = GRU <hidden_size = 16> (S, R, R)")));
  EXPECT_EQ(shape_of(result, "S"), "[time,batch,16]");
  EXPECT_EQ(shape_of(result, "Q"), "[time,1,batch,16]");
}

// ONNX's own inference of the same node, where it says anything: ours may know more, never something else.
TEST(RecurrentInference, AgreesWithOnnx) {
  int compared = 0;
  for (const char* op : {"GRU", "RNN", "LSTM"}) {
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      for (const int layout : {0, 1}) {
        OneLayer layer(op, 14);
        const int directions = direction == std::string("bidirectional") ? 2 : 1;
        layer.inputs = {"X", "W", "R"};
        layer.attributes["direction"] = fmt::format("\"{}\"", direction);
        layer.attributes["layout"] = std::to_string(layout);
        layer.set_type("X", "float[p,q,2]");
        layer.set_type("W", fmt::format("float[{},{},2]", directions, 4 * layer.form.gates));
        layer.set_type("R", fmt::format("float[{},{},4]", directions, 4 * layer.form.gates));
        layer.outputs.clear();
        std::string text = layer.text();
        const std::string made = layer.form.has_cell ? "Y, last, cell" : "Y, last";
        text.replace(text.find("[n]  ="), 6, "[n] " + made + " =");
        onnx::ModelProto proto = proto_from_text(text);
        const CheckResult ours = check_model(model_from_proto(proto));
        onnx::shape_inference::InferShapes(proto);
        for (const onnx::ValueInfoProto& value : proto.graph().value_info()) {
          const ValueType theirs = onnx_io::type_from_proto(value.type());
          EXPECT_EQ(shape_of(ours, value.name()), to_string(*theirs.shape)) << text;
          ++compared;
        }
      }
    }
  }
  EXPECT_EQ(compared, 3 * 3 * 2 * 2 + 6);
}

TEST(RecurrentCheck, ReadsTheNamesOfAxes) {
  struct Row {
    const char* axes;
    bool told;
  };
  const Row rows[] = {{"seq_len,batch", false},
                      {"N,T", false},
                      {"seq_len,num_sequences", false},
                      {"time,timeseries", false},
                      {"time_steps,sequences", false},
                      {"steps_per_batch,batch", false},
                      {"length,n_sequences", false},
                      {"N,len", true},
                      {"batch,time", true},
                      {"batch,N", true},
                      {"n,sequences", true},
                      {"batch_size,seq_of_batch", true}};
  for (const Row& row : rows) {
    const CheckResult result =
        check_model(model_from_text(head(14) + "(float[" + row.axes +
                                    ",2] X, float[1,12,2] W, float[1,12,4] R) => (float[a,b,c,d] Y) { "
                                    "Y = GRU <hidden_size = 4> (X, W, R) }"));
    const testing::Matcher<std::set<std::string>> has = testing::Contains("GRU069");
    EXPECT_THAT(codes(result), row.told ? has : testing::Not(has)) << row.axes;
  }
}

}  // namespace
}  // namespace grurun::opset
