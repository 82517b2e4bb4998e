#include "engine/graph/op_registry.h"

#include <algorithm>
#include <span>

#include "tensor/error.h"

namespace grurun::engine {

namespace {

using Name = std::pair<std::string_view, std::string_view>;

Name name_of(const OpRow* row) {
  return {row->domain, row->type};
}

bool has_version(const OpRow* row, int version) {
  return std::ranges::find(row->since_versions, version) != row->since_versions.end();
}

class Table {
 public:
  Table() {
    for (const OpRow& row : rows_) by_name_.push_back(&row);
    std::ranges::sort(by_name_, {}, name_of);
    for (std::size_t i = 0; i < by_name_.size(); ++i) {
      for (std::size_t j = i + 1; j < by_name_.size() && name_of(by_name_[i]) == name_of(by_name_[j]); ++j)
        for (const int version : by_name_[j]->since_versions)
          if (has_version(by_name_[i], version))
            fail_internal("{}-{} stands in two operator tables", by_name_[j]->type, version);
    }
  }

  std::span<const OpRow* const> rows_of(Name name) const {
    return {std::ranges::lower_bound(by_name_, name, {}, name_of),
            std::ranges::upper_bound(by_name_, name, {}, name_of)};
  }

 private:
  std::vector<OpRow> rows_ = all_op_rows();
  std::vector<const OpRow*> by_name_;
};

std::span<const OpRow* const> rows_of(std::string_view domain, std::string_view type) {
  static const Table table;
  return table.rows_of({domain, type});
}

}  // namespace

const OpRow* find_op(std::string_view domain, std::string_view type, int since_version) {
  for (const OpRow* row : rows_of(domain, type))
    if (has_version(row, since_version)) return row;
  return nullptr;
}

int newest_op_version(std::string_view domain, std::string_view type, std::int64_t opset_version) {
  int newest = 0;
  for (const OpRow* row : rows_of(domain, type))
    for (const int version : row->since_versions)
      if (version <= opset_version) newest = std::max(newest, version);
  return newest;
}

}  // namespace grurun::engine
