// What operators make of constants while a plan is made: once for all of its nodes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <typeindex>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace grurun::engine {

/// Nodes that ask for the same kind of thing, made of the same buffers by the same numbers, share one. An
/// unrolled decoder multiplies by one matrix at each of its steps.
class Arrangements {
 public:
  /// make() -> std::shared_ptr<A>, or what this gave before for these tensors (nullptr: an omitted one) and
  /// numbers, which stand for all else that it depends on.
  template <typename A, typename Make>
  std::shared_ptr<A> get(const std::vector<const Tensor*>& tensors, const std::vector<std::int64_t>& numbers,
                         Make make) {
    Key key{typeid(A), numbers};
    for (const Tensor* tensor : tensors) describe(tensor, key.second);
    Entry& entry = entries_[std::move(key)];
    if (entry.made == nullptr) {
      entry.made = make();
      for (const Tensor* tensor : tensors) {
        if (tensor != nullptr) entry.of.push_back(*tensor);
      }
    }
    return std::static_pointer_cast<A>(entry.made);
  }

 private:
  using Key = std::pair<std::type_index, std::vector<std::int64_t>>;
  struct Entry {
    std::shared_ptr<void> made;
    std::vector<Tensor> of;  // holds the buffers, whose addresses are in the key
  };

  static void describe(const Tensor* tensor, std::vector<std::int64_t>& key);

  std::map<Key, Entry> entries_;
};

}  // namespace grurun::engine
