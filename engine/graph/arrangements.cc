#include "engine/graph/arrangements.h"

namespace grurun::engine {

void Arrangements::describe(const Tensor* tensor, std::vector<std::int64_t>& key) {
  if (tensor == nullptr) {
    key.push_back(-1);
    return;
  }
  key.push_back(static_cast<std::int64_t>(tensor->rank()));
  for (std::size_t i = 0; i < tensor->rank(); ++i) key.push_back(tensor->dim(i));
  key.push_back(static_cast<std::int64_t>(tensor->dtype()));
  key.push_back(static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(tensor->raw())));
}

}  // namespace grurun::engine
