#include "opset/schema/schema_store.h"

#include <algorithm>
#include <tuple>

#include "onnx_io/models/model.h"
#include "opset/schema/added/added_schemas.h"
#include "opset/schema/added/experimental.h"
#include "opset/schema/added/registered_schema.h"
#include "opset/schema/registry.h"

namespace grurun::opset {

namespace {

const DomainRow* find_domain(const std::string& domain) {
  const std::string wanted = onnx_io::canonical_domain(domain);
  const auto rows = domain_table();
  const auto found = std::ranges::find(rows, std::string_view(wanted), &DomainRow::domain);
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

const Signatures& signatures(const std::string& op_type, const std::string& domain) {
  static constexpr Signatures none;
  const auto key = [](const Signatures& row) { return std::tuple(row.domain, row.op_type); };
  const std::string canonical = onnx_io::canonical_domain(domain);
  const std::tuple wanted{std::string_view(canonical), std::string_view(op_type)};
  const auto table = signature_table();
  const auto found = std::ranges::lower_bound(table, wanted, {}, key);
  return found == table.end() || key(*found) != wanted ? none : *found;
}

const Signature* find_signature(const std::string& op_type, const std::string& domain,
                                std::int64_t opset_version) {
  const Signatures& known = signatures(op_type, domain);
  if (opset_version > known.newest_opset) return nullptr;
  const auto after = std::ranges::upper_bound(known.versions, opset_version, {}, &Signature::since_version);
  return after == known.versions.begin() ? nullptr : &*std::prev(after);
}

std::optional<int> since_version(const std::string& op_type, const std::string& domain,
                                 std::int64_t opset_version) {
  const Signature* found = find_signature(op_type, domain, opset_version);
  if (found == nullptr) return std::nullopt;
  return found->since_version;
}

std::vector<std::string> known_domains() {
  std::vector<std::string> domains;
  for (const DomainRow& row : domain_table()) domains.emplace_back(row.domain);
  return domains;
}

std::optional<std::int64_t> newest_opset(const std::string& domain) {
  const DomainRow* row = find_domain(domain);
  if (row == nullptr) return std::nullopt;
  return row->newest_opset;
}

const onnx::OpSchema* find_onnx_schema(const std::string& op_type, const std::string& domain,
                                       std::int64_t opset_version) {
  const std::optional<int> version = since_version(op_type, domain, opset_version);
  if (!version) return nullptr;
  if (find_domain(domain) != nullptr) {
    register_experimental_operators();
    return &registered_schema(op_type, *version, onnx_io::canonical_domain(domain));
  }
  for (const onnx::OpSchema& schema : added_schemas_of(domain)) {
    if (schema.Name() == op_type && schema.since_version() == *version) return &schema;
  }
  return nullptr;
}

const std::vector<OperatorName>& operator_names() {
  static const std::vector<OperatorName> names = [] {
    std::vector<OperatorName> found;
    for (const Signatures& row : signature_table()) {
      const bool of_standard = find_domain(std::string(row.domain)) != nullptr;
      if (of_standard && !row.experimental)
        found.push_back({std::string(row.domain), std::string(row.op_type)});
    }
    return found;
  }();
  return names;
}

}  // namespace grurun::opset
