// What a check refuses, a run refuses; what a run calls invalid though the file holds all values, a check
// refuses; and both in the same words: over official models of one node, each changed by a fault or two.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "engine/graph/computed_values.h"
#include "engine/graph/executor.h"
#include "engine/graph/plan.h"
#include "opset/check/check.h"
#include "opset/check/check_before_run.h"
#include "tensor/error.h"
#include "tests/places/in_tree.h"
#include "tests/sample.h"
#include "tests/trial/judges/mutant.h"
#include "trial/preparation_fault.h"

namespace grurun::trial {
namespace {

using testing::Mutant;

struct Verdict {
  enum Kind { passed, invalid, other } kind = passed;
  std::vector<std::string> said;  // sentence and code
};

Verdict checked(const onnx_io::Model& model) {
  Verdict verdict;
  const opset::CheckResult result =
      opset::check_model(model, engine::computed_values(model), preparation_fault);
  for (const opset::Finding& finding : result.findings) {
    // The models leave the types of outputs open, which ONNX's checker does not allow.
    if (finding.severity != opset::Severity::error || finding.code == "ONNX001") continue;
    verdict.kind = finding.code == "MODEL003" ? Verdict::other : Verdict::invalid;
    verdict.said.push_back(fmt::format("{} [{}]", finding.message, finding.code));
  }
  return verdict;
}

Verdict run(const onnx_io::Model& model, const std::vector<Value>& inputs) {
  try {
    engine::PlanOptions options;
    options.fed = engine::fed_names(model.graph, inputs);
    opset::require_no_errors(opset::check_before_run(model, options.fed, engine::computed_values(model)));
    engine::RunOptions limits;
    limits.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    limits.max_iterations = 100'000;
    engine::run_plan(*engine::make_plan(model, options), inputs, limits);
    return {};
  } catch (const Error& error) {
    // Where a kernel refuses what no rule forbids, a page lacks one.
    const bool judged = error.kind() == ErrorKind::invalid_model || error.kind() == ErrorKind::internal;
    return {judged ? Verdict::invalid : Verdict::other, {error.message()}};
  }
}

// Exporters write them: parts that come out even are what they mean, a deprecated operator is what it was,
// and LayerNormalization before opset 17 what ONNX Runtime has.
bool is_left_to_the_run(const std::string& sentence) {
  return sentence.starts_with("deprecated since opset ") || sentence.starts_with("no operator of opset ") ||
         sentence.starts_with("neither of the input split and the attribute num_outputs");
}

std::string disagreement(const Mutant& mutant) {
  const std::string bytes = mutant.model.SerializeAsString();
  std::optional<onnx_io::Model> model;
  try {
    model = onnx_io::parse_model(bytes.data(), bytes.size(), "");
  } catch (const Error&) {
    return "";  // no model at all
  }
  const Verdict check = checked(*model), ran = run(*model, mutant.inputs);
  if (check.kind == Verdict::other || ran.kind == Verdict::other) return "";
  if (check.kind == Verdict::invalid && is_left_to_the_run(check.said.front())) return "";
  if (check.kind == Verdict::invalid && ran.kind == Verdict::passed)
    return "run passes: " + check.said.front();
  if (check.kind == Verdict::passed && ran.kind == Verdict::invalid)
    return mutant.all_known ? "check passes: " + ran.said.front() : "";
  // Before a run of a layer, its node and the number of further errors stand around the sentence.
  const auto is_said = [&](const std::string& sentence) {
    return ran.said.front().find(sentence) != std::string::npos;
  };
  if (check.kind == Verdict::passed || std::ranges::any_of(check.said, is_said)) return "";
  return fmt::format("words: check: {} | run: {}", check.said.front(), ran.said.front());
}

TEST(OneJudge, CheckAndRunSayTheSame) {
  const std::string data = tests::in_tree("testdata/");
  std::vector<testing::OneNodeCase> cases;
  if (std::filesystem::exists(data + "official"))
    for (const auto& release : std::filesystem::directory_iterator(data + "official")) {
      // Of the release that `make data` obtains, whatever others are there: the counts below are of it.
      const std::string name = release.path().filename().string();
      if (!std::filesystem::exists(data + "expectations/" + name + ".size")) continue;
      for (auto& one : testing::one_node_cases(release.path().string() + "/node"))
        cases.push_back(std::move(one));
    }
  if (cases.empty())
    for (auto& one : testing::one_node_cases(data + "operator-pages")) cases.push_back(std::move(one));
  ASSERT_FALSE(cases.empty());
  const char* text = std::getenv("GRURUN_MUTANTS");
  const int count = text != nullptr ? std::atoi(text) : slow_build ? 1'000 : 20'000;
  const char* only = std::getenv("GRURUN_MUTANTS_OF");
  std::mt19937 random(20'260'101);
  int verdicts = 0, words = 0;
  for (int i = 0; i < count; ++i) {
    const testing::OneNodeCase& one = cases[static_cast<std::size_t>(i) % cases.size()];
    const Mutant mutant = testing::mutate(one, random);
    if (only != nullptr && one.model.graph().node(0).op_type() != only) continue;
    const std::string what = disagreement(mutant);
    if (what.empty()) continue;
    ++(what.starts_with("words") ? words : verdicts);
    fmt::print("{} ({}: {}): {}\n", one.model.graph().node(0).op_type(), one.name, mutant.what, what);
  }
  EXPECT_EQ(verdicts, 0) << "of " << count << " mutants of " << cases.size() << " models";
  EXPECT_EQ(words, 0) << "of " << count << " mutants of " << cases.size() << " models";
}

}  // namespace
}  // namespace grurun::trial
