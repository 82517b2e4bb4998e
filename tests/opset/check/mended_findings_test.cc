#include "opset/check/mended_findings.h"

#include <gmock/gmock.h>

#include "onnx_io/models/mend_model.h"
#include "opset/schema/registry.h"

namespace grurun::opset {
namespace {

TEST(MendedFindings, AreWarningsByTheRulesThatAreBroken) {
  using What = onnx_io::Mended::What;
  const std::vector<Finding> found =
      mended_findings({{What::order, "sorted"}, {What::import_missing, "imported"}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].code, "GRAPH002");
  EXPECT_EQ(found[0].message, "sorted");
  EXPECT_EQ(found[1].code, "MODEL002");
  for (const Finding& finding : found) EXPECT_EQ(finding.severity, Severity::warning);
}

TEST(MendedFindings, WhatIsImportedIsTheNewestVersionKnown) {
  // The domain of operators that are not ONNX's has one version.
  for (const auto& [domain, version] : onnx_io::assumed_imports())
    EXPECT_EQ(newest_opset(domain).value_or(1), version) << domain;
}

}  // namespace
}  // namespace grurun::opset
