#include "opset/schema/near_match.h"

#include <fmt/format.h>

#include <algorithm>

#include "onnx_io/models/model.h"
#include "opset/schema/registry.h"
#include "opset/schema/schema_store.h"
#include "opset/schema/signature.h"

namespace grurun::opset {

namespace {

std::string other_domain_with(const std::string& op_type, const std::string& domain) {
  for (const std::string& other : known_domains()) {
    if (other != domain && !signatures(op_type, other).versions.empty()) return other;
  }
  return domain;
}

struct OpsetOperators {
  std::string domain;
  std::int64_t opset_version = 0;
  std::vector<std::string> names;
};

// Of an opset that many nodes in a row may ask for.
const std::vector<std::string>& operators_of_opset(const std::string& domain, std::int64_t opset_version) {
  thread_local OpsetOperators last;
  if (last.domain == domain && last.opset_version == opset_version) return last.names;
  last = {domain, opset_version, {}};
  for (const OperatorName& name : operator_names()) {
    if (name.domain != domain) continue;
    const onnx::OpSchema* schema = find_onnx_schema(name.op_type, domain, opset_version);
    if (schema != nullptr && !schema->deprecated()) last.names.push_back(name.op_type);
  }
  return last.names;
}

}  // namespace

std::vector<std::string> near_operators(const std::string& op_type, const std::string& domain,
                                        std::int64_t opset_version) {
  return near_matches(op_type, operators_of_opset(domain, opset_version));
}

std::vector<std::string> near_operators(const std::string& op_type) {
  std::vector<std::string> candidates;
  for (const OperatorName& name : operator_names()) candidates.push_back(name.op_type);
  return near_matches(op_type, candidates);
}

std::string describe_unknown_operator(const std::string& op_type, const std::string& domain,
                                      std::int64_t opset_version) {
  const Signatures& known = signatures(op_type, domain);
  std::string hint;
  if (!known.versions.empty()) {
    const int first = known.versions.front().since_version;
    hint = opset_version < first
               ? fmt::format("; it exists from opset {} on; import that or a newer one", first)
               : fmt::format("; it exists up to opset {}", known.newest_opset);
  } else if (const std::string other = other_domain_with(op_type, domain); other != domain) {
    hint = fmt::format("; it belongs to domain '{}'", onnx_io::shown_domain(other));
  } else {
    hint = did_you_mean(near_operators(op_type, domain, opset_version));
  }
  return fmt::format("no operator '{}' in opset {} of {}{}", op_type, opset_version,
                     onnx_io::shown_domain(domain), hint);
}

}  // namespace grurun::opset
