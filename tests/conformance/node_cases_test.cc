// `grurun node` for every operator that has a page: it makes a case that passes, or says in a sentence why
// not.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "conformance/reduce/failure.h"
#include "opset/pages/page.h"
#include "opset/schema/registry.h"
#include "tensor/error.h"
#include "tests/places/scratch.h"
#include "tests/sample.h"
#include "trial/node_case.h"

namespace grurun::conformance {
namespace {

/// The last opset that has the operator; 0: none.
std::int64_t last_opset_with(const std::string& op_type, const std::string& domain) {
  for (std::int64_t opset = opset::newest_opset(domain).value_or(1); opset > 0; --opset) {
    const opset::SchemaInfo* const schema = opset::find_schema(op_type, domain, opset);
    if (schema != nullptr && !schema->deprecated) return opset;
  }
  return 0;
}

/// Why there is no case; empty: it was made and passes.
std::string made_case_of(const opset::PageOfDomain& each, Judge& judge) {
  trial::NodeRequest request;
  request.op_type = each.page->op_type;
  request.domain = each.domain;
  request.opset = last_opset_with(request.op_type, request.domain);
  request.random.names = {"--value", "--val-range", "--input-shapes", "--set"};
  try {
    const trial::NodeCase made = trial::make_node_case(request);
    const std::optional<Failure> failure = judge(made.part);
    return failure ? "it fails: " + failure->message : "";
  } catch (const Error& error) {
    const bool is_refusal = error.kind() == ErrorKind::usage || error.kind() == ErrorKind::unsupported;
    return (is_refusal ? "" : "it fails: ") + std::string(error.what());
  }
}

TEST(NodeCases, EveryOperatorWithAPage) {
  // What no flag can give: bodies, maps.
  const std::set<std::string> refused{"CastMap", "DictVectorizer", "Gradient",   "If",
                                      "Loop",    "Scan",           "SequenceMap"};
  // Which tensors are optimized, flags must tell.
  const std::set<std::string> told{"Adagrad", "Adam", "Momentum"};
  const tests::Scratch scratch;
  CaseOptions options;
  options.diagnose = false;
  Judge judge(options, scratch.folder());
  Sample sample(7);
  int made = 0;
  for (const opset::PageOfDomain& each : opset::all_pages()) {
    if (!sample.takes_next()) continue;
    const std::string name(each.page->op_type), why = made_case_of(each, judge);
    made += why.empty() ? 1 : 0;
    EXPECT_EQ(why.find("it fails"), why.npos) << each.domain << "." << name << ": " << why;
    // Of other domains a page and a schema alone may be too little; what is lacking is told then.
    const bool is_standard =
        opset::newest_opset(std::string(each.domain)).has_value() && !told.contains(name);
    const bool is_as_it_must =
        is_standard ? why.empty() != refused.contains(name)
                    : why.empty() || why.starts_with("usage: ") || why.starts_with("unsupported: ");
    EXPECT_TRUE(is_as_it_must) << each.domain << "." << name << ": " << why;
  }
  EXPECT_GT(made, slow_build ? 20 : 200);
}

}  // namespace
}  // namespace grurun::conformance
