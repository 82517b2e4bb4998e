#include "opset/schema_store.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "opset/experimental.h"
#include "opset/registry.h"

namespace grurun::opset {

namespace {

const std::string& canonical(const std::string& domain) {
  static const std::string default_domain;
  return domain == "ai.onnx" ? default_domain : domain;
}

const std::unordered_map<std::string, std::pair<int, int>>& version_ranges() {
  register_experimental_operators();
  return onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
}

OperatorVersions collect(const std::string& op_type, const std::string& domain, int newest) {
  OperatorVersions found;
  found.newest_opset = newest;
  for (int version = newest; version >= 1; --version) {
    const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(op_type, version, domain);
    if (schema == nullptr) break;
    version = schema->since_version();
    if (found.since.empty() && is_experimental_addition(*schema))
      found.newest_opset = static_cast<int>(last_experimental_opset);
    found.since.push_back(version);
  }
  std::reverse(found.since.begin(), found.since.end());
  return found;
}

// Names the registry does not know are not kept: a hostile model could fill the memory with them.
class VersionCache {
 public:
  const OperatorVersions& find(const std::string& op_type, const std::string& domain) {
    {
      std::shared_lock lock(mutex_);
      const auto in_domain = domains_.find(domain);
      if (in_domain != domains_.end()) {
        const auto entry = in_domain->second.find(op_type);
        if (entry != in_domain->second.end()) return entry->second;
      }
    }
    static const OperatorVersions none;
    const auto range = version_ranges().find(domain);
    if (range == version_ranges().end()) return none;
    OperatorVersions versions = collect(op_type, domain, range->second.second);
    if (versions.since.empty()) return none;
    std::unique_lock lock(mutex_);
    return domains_[domain].try_emplace(op_type, std::move(versions)).first->second;
  }

 private:
  std::shared_mutex mutex_;
  std::unordered_map<std::string, std::unordered_map<std::string, OperatorVersions>> domains_;
};

}  // namespace

const OperatorVersions& operator_versions(const std::string& op_type, const std::string& domain) {
  static VersionCache cache;
  return cache.find(op_type, canonical(domain));
}

std::optional<int> since_version(const std::string& op_type, const std::string& domain,
                                 std::int64_t opset_version) {
  const OperatorVersions& versions = operator_versions(op_type, domain);
  if (opset_version > versions.newest_opset) return std::nullopt;
  const auto after = std::upper_bound(versions.since.begin(), versions.since.end(), opset_version);
  if (after == versions.since.begin()) return std::nullopt;
  return *std::prev(after);
}

std::vector<std::string> known_domains() {
  std::vector<std::string> domains;
  for (const auto& [domain, range] : version_ranges()) domains.push_back(domain);
  std::sort(domains.begin(), domains.end());
  return domains;
}

std::optional<std::int64_t> newest_opset(const std::string& domain) {
  const auto range = version_ranges().find(canonical(domain));
  if (range == version_ranges().end()) return std::nullopt;
  return range->second.second;
}

const onnx::OpSchema* find_onnx_schema(const std::string& op_type, const std::string& domain,
                                       std::int64_t opset_version) {
  const std::optional<int> version = since_version(op_type, domain, opset_version);
  if (!version) return nullptr;
  return onnx::OpSchemaRegistry::Schema(op_type, *version, canonical(domain));
}

const std::vector<OperatorName>& operator_names() {
  static const std::vector<OperatorName> names = [] {
    std::vector<OperatorName> found;
    register_experimental_operators();
    for (const onnx::OpSchema& schema : onnx::OpSchemaRegistry::get_all_schemas()) {
      if (is_experimental_addition(schema)) continue;  // get_all_schemas gives the newest of each name
      found.push_back({schema.domain(), schema.Name()});
    }
    std::sort(found.begin(), found.end(), [](const OperatorName& a, const OperatorName& b) {
      return std::tie(a.domain, a.op_type) < std::tie(b.domain, b.op_type);
    });
    return found;
  }();
  return names;
}

}  // namespace grurun::opset
