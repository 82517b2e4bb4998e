#include <gtest/gtest.h>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

using List = std::vector<std::int64_t>;

TEST(Pooling, PadsAndAutoPadExcludeEachOther) {
  const Tensor x = make<float>({1, 1, 3}, {1, 2, 3}), w = make<float>({1, 1, 3}, {1, 1, 1});
  const auto pads = attr("pads", List{1, 1}), kernel = attr("kernel_shape", List{3});
  std::vector<OpErrorCase> refused;
  for (const char* mode : {"VALID", "SAME_UPPER", "SAME_LOWER"}) {
    for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) {
      refused.push_back({std::string(op) + " " + mode,
                         op,
                         22,
                         {x},
                         {attr("auto_pad", mode), pads, kernel},
                         ErrorKind::invalid_model,
                         "pads cannot be used with auto_pad"});
    }
    for (const char* op : {"Conv", "ConvTranspose"}) {
      refused.push_back({std::string(op) + " " + mode,
                         op,
                         1,
                         {x, w},
                         {attr("auto_pad", mode), pads},
                         ErrorKind::invalid_model,
                         "pads cannot be used with auto_pad"});
    }
  }
  check_errors(refused);
  check_rows({{"NOTSET",
               "Conv",
               22,
               {x, w},
               {attr("auto_pad", "NOTSET"), pads},
               {make<float>({1, 1, 3}, {3, 6, 5})}}});
}

}  // namespace
}  // namespace grurun::engine::testing
