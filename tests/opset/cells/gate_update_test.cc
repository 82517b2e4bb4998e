// How a GRU's new state may be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "opset/cells/cell_pattern.h"
#include "tests/opset/cell_graphs.h"

namespace grurun::opset {
namespace {

using testing::IsEmpty;

TEST(GateUpdate, IsKnownHoweverItIsWritten) {
  struct Case {
    const char* what;
    std::function<std::string(Builder&, const std::string& z, const std::string& n, const std::string& H)>
        update;
    bool complement;
  };
  const auto one_minus = [](Builder& b, const std::string& z) {
    return b.one("Sub", {b.number("one", 1), z});
  };
  const Case cases[] = {
      {"(H - n) z + n",
       [](Builder& b, const auto& z, const auto& n, const auto& H) {
         return b.add(b.mul(b.one("Sub", {H, n}), z), n);
       },
       false},
      {"n + z (H - n)",
       [](Builder& b, const auto& z, const auto& n, const auto& H) {
         return b.add(n, b.mul(z, b.one("Sub", {H, n})));
       },
       false},
      {"(1 - z) n + z H",
       [&](Builder& b, const auto& z, const auto& n, const auto& H) {
         return b.add(b.mul(one_minus(b, z), n), b.mul(z, H));
       },
       false},
      {"H z + n (1 - z)",
       [&](Builder& b, const auto& z, const auto& n, const auto& H) {
         return b.add(b.mul(H, z), b.mul(n, one_minus(b, z)));
       },
       false},
      {"(1 - z) H + z n",
       [&](Builder& b, const auto& z, const auto& n, const auto& H) {
         return b.add(b.mul(one_minus(b, z), H), b.mul(z, n));
       },
       true},
      {"H + z (n - H)",
       [](Builder& b, const auto& z, const auto& n, const auto& H) {
         return b.add(H, b.mul(z, b.one("Sub", {n, H})));
       },
       true},
      {"n - z (n - H)",
       [](Builder& b, const auto& z, const auto& n, const auto& H) {
         return b.one("Sub", {n, b.mul(z, b.one("Sub", {n, H}))});
       },
       false},
      {"(n - z n) + z H",
       [](Builder& b, const auto& z, const auto& n, const auto& H) {
         return b.add(b.one("Sub", {n, b.mul(z, n)}), b.mul(z, H));
       },
       false},
      {"n + z H - z n",
       [](Builder& b, const auto& z, const auto& n, const auto& H) {
         return b.one("Sub", {b.add(n, b.mul(z, H)), b.mul(n, z)});
       },
       false},
      {"H - z (H - n)",
       [](Builder& b, const auto& z, const auto& n, const auto& H) {
         return b.one("Sub", {H, b.mul(z, b.one("Sub", {H, n}))});
       },
       true},
      {"(ones - z) n + z H",
       [](Builder& b, const auto& z, const auto& n, const auto& H) {
         const std::string ones =
             b.constant("ones", Tensor::from<float>({hidden_size}, std::vector<float>(hidden_size, 1)));
         return b.add(b.mul(b.one("Sub", {ones, z}), n), b.mul(z, H));
       },
       false},
      {"(expanded 1 - z) n + z H",
       [](Builder& b, const auto& z, const auto& n, const auto& H) {
         const std::string ones = b.one("Expand", {b.number("one", 1), b.one("Shape", {z})});
         return b.add(b.mul(b.one("Sub", {ones, z}), n), b.mul(z, H));
       },
       false},
      {"(1 - z) n + z H in 16 bits",
       [](Builder& b, const auto& z, const auto& n, const auto& H) {
         const std::string one = b.constant("one", Tensor::from<Float16>({}, {Float16(1.0f)}));
         return b.add(b.mul(b.one("Sub", {one, z}), n), b.mul(z, H));
       },
       false},
      {"(1 - z) n + z H in bfloat16",
       [](Builder& b, const auto& z, const auto& n, const auto& H) {
         const std::string one = b.constant("one", Tensor::from<BFloat16>({}, {BFloat16(1.0f)}));
         return b.add(b.mul(b.one("Sub", {one, z}), n), b.mul(z, H));
       },
       false},
      {"(-z + 1) n + z H",
       [](Builder& b, const auto& z, const auto& n, const auto& H) {
         return b.add(b.mul(b.add(b.one("Neg", {z}), b.number("one", 1)), n), b.mul(z, H));
       },
       false},
      {"-(z - 1) n + z H",
       [](Builder& b, const auto& z, const auto& n, const auto& H) {
         const std::string less = b.one("Sub", {z, b.number("one", 1)});
         return b.add(b.mul(b.one("Neg", {less}), n), b.mul(z, H));
       },
       false},
      {"lerp(n, H, z) as PyTorch exports it",
       [&](Builder& b, const auto& z, const auto& n, const auto& H) {
         const std::string difference = b.one("Sub", {H, n});
         const std::string below = b.add(n, b.mul(z, difference));
         const std::string above = b.one("Sub", {H, b.mul(difference, one_minus(b, z))});
         return b.one("Where", {b.one("Less", {z, b.number("half", 0.5f)}), below, above});
       },
       false},
      {"z n + (H - z H)",
       [](Builder& b, const auto& z, const auto& n, const auto& H) {
         return b.add(b.mul(z, n), b.one("Sub", {H, b.mul(H, z)}));
       },
       true},
  };
  for (const Case& c : cases) {
    Builder b;
    const auto x = b.op("Split", {b.one("MatMul", {"X", b.weight("W", {input_size, 3 * hidden_size})})}, 3);
    const auto h = b.op("Split", {b.one("MatMul", {"H", b.weight("R", {hidden_size, 3 * hidden_size})})}, 3);
    const std::string z = b.one("Sigmoid", {b.add(x[0], h[0])});
    const std::string r = b.one("Sigmoid", {b.add(x[1], h[1])});
    const std::string n = b.one("Tanh", {b.add(x[2], b.mul(r, h[2]))});
    const std::string next = c.update(b, z, n, "H");
    const std::vector<CellStep> steps = match_cells(GraphView(b.graph), next);
    ASSERT_EQ(steps.size(), 1u) << c.what;
    EXPECT_EQ(steps[0].h_previous, "H") << c.what;
    EXPECT_EQ(steps[0].complement, c.complement) << c.what;
    EXPECT_EQ(steps[0].gate_order, "zrh") << c.what;
    EXPECT_EQ(steps[0].linear_before_reset, true) << c.what;
  }
}

TEST(GateUpdate, IsNotWhatComesToSomethingElse) {
  struct Case {
    const char* what;
    std::function<std::string(Builder&, const std::string& z, const std::string& n)> update;
  };
  const Case cases[] = {
      {"n + z (n - H)",
       [](Builder& b, const auto& z, const auto& n) {
         return b.add(n, b.mul(z, b.one("Sub", {n, "H"})));
       }},
      {"n - z n - z H",
       [](Builder& b, const auto& z, const auto& n) {
         return b.one("Sub", {b.one("Sub", {n, b.mul(z, n)}), b.mul(z, "H")});
       }},
      {"(2 - z) n + z H",
       [](Builder& b, const auto& z, const auto& n) {
         return b.add(b.mul(b.one("Sub", {b.number("two", 2), z}), n), b.mul(z, "H"));
       }},
      {"Where(c, n + z (H - n), n + z (n - H))",
       [](Builder& b, const auto& z, const auto& n) {
         return b.one("Where", {"c", b.add(n, b.mul(z, b.one("Sub", {"H", n}))),
                                b.add(n, b.mul(z, b.one("Sub", {n, "H"})))});
       }},
      {"(1 - z) n + z n",
       [](Builder& b, const auto& z, const auto& n) {
         return b.add(b.mul(b.one("Sub", {b.number("one", 1), z}), n), b.mul(z, n));
       }},
  };
  for (const Case& c : cases) {
    Builder b;
    const auto x = b.op("Split", {b.one("MatMul", {"X", b.weight("W", {input_size, 3 * hidden_size})})}, 3);
    const auto h = b.op("Split", {b.one("MatMul", {"H", b.weight("R", {hidden_size, 3 * hidden_size})})}, 3);
    const std::string z = b.one("Sigmoid", {b.add(x[0], h[0])});
    const std::string r = b.one("Sigmoid", {b.add(x[1], h[1])});
    const std::string n = b.one("Tanh", {b.add(x[2], b.mul(r, h[2]))});
    const std::string next = c.update(b, z, n);
    EXPECT_THAT(match_cells(GraphView(b.graph), next), IsEmpty()) << c.what;
  }
}

}  // namespace
}  // namespace grurun::opset
