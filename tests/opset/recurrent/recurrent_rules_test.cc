// Every rule of GRU, RNN and LSTM, in every version that has it, has a model that fails it and one that
// passes.
#include "opset/recurrent/recurrent_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/opset/check_models.h"
#include "tests/opset/recurrent_models.h"

namespace grurun::opset {
namespace {

using Change = std::function<void(OneLayer&)>;

struct RuleCase {
  int number;
  Change spoil;
  Change prepare = {};  // of the model that passes, too
};

std::string activations(const OneLayer& layer, const std::string& first) {
  std::vector<std::string> names(static_cast<std::size_t>(layer.form.functions), "\"Tanh\"");
  names[0] = "\"" + first + "\"";
  return fmt::format("[{}]", fmt::join(names, ", "));
}

Change attribute(const std::string& name, const std::string& value) {
  return [=](OneLayer& layer) { layer.attributes[name] = value; };
}

Change first_activation(const std::string& name) {
  return [=](OneLayer& layer) { layer.attributes["activations"] = activations(layer, name); };
}

Change type(const std::string& name, const std::string& of) {
  return [=](OneLayer& layer) { layer.set_type(name, of); };
}

Change output(std::size_t index, const std::string& of) {
  return [=](OneLayer& layer) { layer.outputs.at(index).second = of; };
}

Change lengths(const std::string& values) {
  return [=](OneLayer& layer) { layer.values["L"] = values; };
}

void all_int32(OneLayer& layer) {
  for (auto& [name, type] : layer.types) type = "int32" + type.substr(type.find('['));
  for (auto& [name, type] : layer.outputs) type = "int32" + type.substr(type.find('['));
}

void open_batch(OneLayer& layer) {
  layer.set_type("X", "float[5,n,2]");
  layer.set_type("L", "int32[n]");
  layer.set_type("C", "float[1,n,4]");
  for (auto& [name, type] : layer.outputs) type = name == "Y" ? "float[5,1,n,4]" : "float[1,n,4]";
}

void batch_first(OneLayer& layer) {
  layer.attributes["layout"] = "1";
  layer.set_type("X", "float[3,5,2]");
  layer.set_type("H", "float[3,1,4]");
  layer.set_type("C", "float[3,1,4]");
  for (auto& [name, type] : layer.outputs) type = name == "Y" ? "float[3,5,1,4]" : "float[3,1,4]";
}

void biased(OneLayer& layer) {
  layer.set_constant("B", "0.5", 8 * layer.form.gates);
  layer.attributes["linear_before_reset"] = "1";
}

std::vector<RuleCase> rule_cases() {
  return {
      {1, attribute("hiden_size", "4")},
      {2, attribute("clip", "1"), attribute("clip", "1.0")},
      {3, [](OneLayer& layer) { layer.more_attributes = {"hidden_size = 4"}; }},
      {4, attribute("direction", "\"backward\""), attribute("direction", "\"reverse\"")},
      {5, attribute("hidden_size", "5")},
      {6, attribute("activations", "[\"Tanh\", \"Tanh\", \"Tanh\", \"Tanh\"]"), first_activation("Relu")},
      {7, first_activation("Tahn"), first_activation("Softsign")},
      {8, [](OneLayer& layer) { layer.attributes.erase("activation_beta"); },
       [](OneLayer& layer) {
         first_activation("Affine")(layer);
         attribute("activation_alpha", "[2.0]")(layer);
         attribute("activation_beta", "[1.0]")(layer);
       }},
      {9, attribute("clip", "0.0"), attribute("clip", "0.5")},
      {10, attribute("layout", "2"), attribute("layout", "0")},
      {11, attribute("input_forget", "2"), attribute("input_forget", "1")},
      {12, attribute("linear_before_reset", "2"), attribute("linear_before_reset", "1")},
      {20, [](OneLayer& layer) { layer.inputs.resize(9, "H"); }},
      {21, [](OneLayer& layer) { layer.inputs[2] = ""; }},
      {22, type("X", "float[5,2]")},
      {23, [](OneLayer& layer) { layer.set_type("W", fmt::format("float[1,{},3]", 4 * layer.form.gates)); }},
      {24, [](OneLayer& layer) { layer.set_type("R", fmt::format("float[{},4]", 4 * layer.form.gates)); }},
      {25, [](OneLayer& layer) { layer.set_type("B", fmt::format("float[1,{}]", 4 * layer.form.gates)); }},
      {26, type("L", "int32[5]")},
      {27, lengths("5, 6, 1"), lengths("5, 4, 1")},
      {28, type("H", "float[1,4,4]")},
      {29, type("C", "float[2,3,4]")},
      {30, type("P", "float[1,8]")},
      {40, all_int32},
      {41, type("R", "double[1,b,4]")},
      {42, type("L", "int64[3]")},
      {50, [](OneLayer& layer) { layer.outputs.emplace_back("extra", "float[a]"); }},
      {51,
       [](OneLayer& layer) {
         layer.outputs[1] = {"", ""};
       }},
      {52, output(0, "float[5,3,1,4]")},
      {53, output(1, "double[1,3,4]")},
      {54, output(2, "float[3,4]")},
      {60, attribute("activation_alpha", "[1.0]")},
      {61, first_activation("sigmoid"), first_activation("Sigmoid")},
      {62, attribute("direction", "\"foward\""), attribute("direction", "\"forward\"")},
      {63, attribute("output_sequence", "0")},
      {64, attribute("activations", "[\"Tanh\", \"Tanh\"]"), attribute("activations", "[\"Tanh\"]")},
      {65, attribute("linear_before_reset", "0"), biased},
      {66,
       [](OneLayer& layer) {
         layer.set_type("H", "float[1,3,4]");
         layer.set_constant("H", "0", 12);
       },
       [](OneLayer& layer) {
         open_batch(layer);
         layer.set_type("H", "float[1,n,4]");
       }},
      {67, [](OneLayer& layer) { layer.inputs[6] = ""; }},
      {68,
       [](OneLayer& layer) {
         for (auto& [name, type] : layer.outputs) name.clear();
         layer.attributes.erase("output_sequence");
       }},
      {69, type("X", "float[batch,time,2]"),
       [](OneLayer& layer) {
         layer.inputs.resize(4);
         layer.set_type("X", "float[time,batch,2]");
         for (auto& [name, type] : layer.outputs) type = name == "Y" ? "float[a,b,c,d]" : "float[a,b,c]";
       }},
      {70, lengths("5, 0, 1"), lengths("5, 2, 1")},
      {71, [](OneLayer& layer) { layer.attributes.erase("hidden_size"); }},
      {72, batch_first},
  };
}

std::string codes_of(const CheckResult& result, Severity severity) {
  std::set<std::string> found;
  for (const Finding& finding : result.findings) {
    if (finding.severity == severity) found.insert(finding.code);
  }
  return fmt::format("{}", fmt::join(found, " "));
}

TEST(RecurrentRules, EachHasAModelThatFailsItAndOneThatPassesInEveryVersion) {
  std::map<std::string, const RuleCase*> by_number;
  const std::vector<RuleCase> cases = rule_cases();
  for (const RuleCase& c : cases) by_number[fmt::format("{:03}", c.number)] = &c;
  int judged = 0;
  for (const RuleInfo& rule : all_rules()) {
    if (rule.op_type.empty()) continue;
    const auto found = by_number.find(rule.code.substr(rule.op_type.size()));
    ASSERT_NE(found, by_number.end()) << rule.code << " has no case";
    ASSERT_FALSE(rule.versions.empty()) << rule.code;
    for (const int version : rule.versions) {
      SCOPED_TRACE(fmt::format("{} {}-{}", rule.code, rule.op_type, version));
      OneLayer layer(rule.op_type, version);
      if (found->second->prepare) found->second->prepare(layer);
      const CheckResult good = check_model(layer.model());
      EXPECT_EQ(listed(good), "") << layer.text();
      found->second->spoil(layer);
      const CheckResult bad = check_model(layer.model());
      EXPECT_EQ(codes_of(bad, rule.severity), rule.code) << listed(bad) << layer.text();
      EXPECT_EQ(bad.has_errors(), rule.severity == Severity::error) << listed(bad);
      ++judged;
    }
  }
  EXPECT_GT(judged, 400);
}

}  // namespace
}  // namespace grurun::opset
