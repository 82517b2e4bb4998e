#include "report/schema/schema_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "onnx_io/models/model.h"
#include "opset/schema/near_match.h"
#include "tensor/error.h"

namespace grurun::report {

using opset::SchemaInfo;

namespace {

// "ai.onnx.ml.Scaler" and "ai.onnx.ml:Scaler": no operator's own name has a dot or colon.
std::pair<std::string, std::optional<std::string>> split_name(const std::string& name,
                                                              const std::optional<std::string>& domain) {
  const std::size_t end = name.find_last_of(".:");
  if (end == name.npos || end == 0) return {name, domain};
  const std::string before = name.substr(0, end);
  if (domain && onnx_io::canonical_domain(*domain) != onnx_io::canonical_domain(before))
    fail_usage("'{}' names a domain, and --domain another, {}", name, *domain);
  return {name.substr(end + 1), before};
}

}  // namespace

std::string require_domain(const std::string& domain) {
  const std::string canonical = onnx_io::canonical_domain(domain);
  if (opset::newest_opset(canonical)) return canonical;
  std::vector<std::string> known;
  for (const std::string& name : opset::known_domains()) known.push_back(onnx_io::shown_domain(name));
  fail_usage("no standard domain '{}'; there are {}", domain, fmt::join(known, ", "));
}

SchemaView select_schema(const std::string& name, const std::optional<std::string>& of_domain,
                         std::optional<std::int64_t> opset_version) {
  const auto [op_type, domain] = split_name(name, of_domain);
  std::optional<std::string> wanted;
  if (domain) wanted = onnx_io::canonical_domain(*domain);
  std::vector<const SchemaInfo*> versions = opset::schema_versions(op_type, wanted ? &*wanted : nullptr);
  if (versions.empty()) {
    if (domain) require_domain(*domain);
    fail_usage("no operator '{}'{}{}", op_type,
               wanted ? fmt::format(" in domain {}", onnx_io::shown_domain(*wanted)) : "",
               opset::did_you_mean(opset::near_operators(op_type)));
  }
  const std::string found = versions.front()->domain;  // ai.onnx before the others
  std::erase_if(versions, [&](const SchemaInfo* schema) { return schema->domain != found; });
  if (!opset_version) return {versions.front(), std::move(versions)};
  const std::optional<std::int64_t> newest = opset::newest_opset(found);
  const int oldest = versions.back()->since_version;
  if (newest && (*opset_version < 1 || *opset_version > *newest)) {
    fail_usage("opset {}: {} has opsets 1 to {}", *opset_version, onnx_io::shown_domain(found), *newest);
  }
  if (!newest && *opset_version < oldest)
    fail_usage("opset {}: {} has {} from opset {} on", *opset_version, found, op_type, oldest);
  const SchemaInfo* schema = opset::find_schema(op_type, found, *opset_version);
  if (schema == nullptr) {
    fail_usage("no operator '{}' in opset {} of {}; it exists from opset {} on", op_type, *opset_version,
               onnx_io::shown_domain(found), oldest);
  }
  return {schema, std::move(versions)};
}

DiffView select_diff(const std::string& name, const std::optional<std::string>& of_domain, std::int64_t from,
                     std::int64_t to) {
  const SchemaView first = select_schema(name, of_domain, from);
  const SchemaView second = select_schema(name, of_domain, to);
  DiffView view{opset::diff_schemas(*first.schema, *second.schema), from, to, {}};
  const auto [low, high] = std::minmax(first.schema->since_version, second.schema->since_version);
  for (const SchemaInfo* version : first.versions) {
    if (version->since_version > low && version->since_version < high)
      view.between.insert(view.between.begin(), version->since_version);
  }
  return view;
}

OpsetDiffView select_opset_diff(const std::string& domain, std::int64_t from, std::int64_t to) {
  const std::string canonical = require_domain(domain);
  const std::int64_t newest = *opset::newest_opset(canonical);
  for (const std::int64_t opset_version : {from, to}) {
    if (opset_version >= 1 && opset_version <= newest) continue;
    fail_usage("opset {}: {} has opsets 1 to {}", opset_version, onnx_io::shown_domain(canonical), newest);
  }
  return {canonical, from, to, opset::diff_opsets(canonical, from, to)};
}

}  // namespace grurun::report
