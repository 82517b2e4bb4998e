#include "engine/graph/op_registry.h"

#include <map>
#include <tuple>

#include "tensor/error.h"

namespace grurun::engine {

namespace {

using Key = std::tuple<std::string_view, std::string_view, int>;

struct Table {
  std::vector<OpRow> rows = all_op_rows();
  std::map<Key, const OpRow*> by_version;

  Table() {
    for (const OpRow& row : rows) {
      for (const int version : row.since_versions) {
        const bool added = by_version.emplace(Key{row.domain, row.type, version}, &row).second;
        if (!added) fail_internal("{}-{} stands in two operator tables", row.type, version);
      }
    }
  }
};

const Table& table() {
  static const Table instance;
  return instance;
}

}  // namespace

const OpRow* find_op(std::string_view domain, std::string_view type, int since_version) {
  const auto& rows = table().by_version;
  const auto found = rows.find(Key{domain, type, since_version});
  return found == rows.end() ? nullptr : found->second;
}

int newest_op_version(std::string_view domain, std::string_view type, std::int64_t opset_version) {
  int newest = 0;
  for (const auto& [key, row] : table().by_version) {
    const auto& [row_domain, row_type, version] = key;
    if (row_domain == domain && row_type == type && version <= opset_version) newest = version;
  }
  return newest;
}

}  // namespace grurun::engine
