#include "conformance/wire.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tensor/error.h"

namespace grurun::conformance {
namespace {

CaseResult full() {
  CaseResult out;
  out.verdict = Verdict::differs;
  out.message = std::string("with\0nul", 8);
  out.seconds = 1.5;
  out.operators = {"Abs", ""};
  OutputResult output;
  output.data_set = "set";
  output.name = "Y";
  output.comparison =
      trial::compare_values(Tensor::from(Shape{2}, std::vector<float>{1, 2}),
                            Tensor::from(Shape{2}, std::vector<float>{1, 3}), {{0.5, {}}, {}});
  out.outputs.push_back(output);
  output.random = true;
  output.comparison = trial::compare_types(Tensor::scalar(1.0f), Tensor::scalar(1.0));
  out.outputs.push_back(output);
  out.findings.push_back({"reproduced", "set", "node 'g'", {"gate-order", ""}, 7, "text"});
  out.findings.push_back({"unexplained", "", "", {}, std::nullopt, ""});
  out.warnings.push_back(
      {"set", {"GRU065", opset::Severity::warning, "graph/gru", "GRU-14", "text", "input B"}});
  return out;
}

TEST(Wire, WhatGoesInComesOut) {
  const CaseResult in = full();
  const CaseResult out = decode(encode(in));
  EXPECT_EQ(encode(out), encode(in));
  EXPECT_EQ(out.verdict, in.verdict);
  EXPECT_EQ(out.message, in.message);
  EXPECT_EQ(out.operators, in.operators);
  ASSERT_EQ(out.outputs.size(), 2u);
  EXPECT_EQ(describe(out.outputs[0].comparison), describe(in.outputs[0].comparison));
  EXPECT_EQ(out.outputs[0].comparison.tolerance.rtol, 0.5);
  EXPECT_TRUE(out.outputs[1].random);
  ASSERT_EQ(out.findings.size(), 2u);
  EXPECT_EQ(out.findings[0].hypotheses, in.findings[0].hypotheses);
  EXPECT_EQ(out.findings[0].max_ulp, 7u);
  EXPECT_EQ(describe(out.findings[0]), "node 'g': text");
  EXPECT_EQ(out.findings[1].max_ulp, std::nullopt);
  ASSERT_EQ(out.warnings.size(), 1u);
  const opset::Finding& finding = out.warnings[0].finding;
  EXPECT_EQ(finding.severity, opset::Severity::warning);
  EXPECT_EQ(
      out.warnings[0].data_set + finding.code + finding.node + finding.op + finding.message + finding.section,
      "setGRU065graph/gruGRU-14textinput B");
  EXPECT_EQ(describe(out.outputs[1].comparison), "element type float, expected double");
}

/// Bytes that nothing set would be of the process's memory, and make equal results differ.
TEST(Wire, EqualResultsHaveEqualBytes) {
  CaseResult results[2] = {full(), full()};
  for (int i = 0; i < 2; ++i) {
    std::memset(static_cast<void*>(&results[i].outputs[0].comparison.errors), 0x11 * i,
                sizeof(trial::ElementErrors));
    results[i].outputs[0].comparison.errors = {};
    results[i].outputs[0].comparison.errors.max_ulp = 1;
  }
  EXPECT_EQ(encode(results[0]), encode(results[1]));
}

TEST(Wire, EveryTruncationIsRefused) {
  const std::string bytes = encode(full());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(decode(std::string_view(bytes).substr(0, size)), Error) << size;
  EXPECT_THROW(decode(bytes + "x"), Error);
  std::string no_verdict = bytes;
  no_verdict[0] = static_cast<char>(verdict_count);
  EXPECT_THROW(decode(no_verdict), Error);
}

}  // namespace
}  // namespace grurun::conformance
