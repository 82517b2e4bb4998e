// Bytes as a file of --policy or of --expectations; the first byte chooses.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "conformance/expectations.h"
#include "conformance/policy.h"
#include "fuzz/fuzzed.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  grurun::conformance::Case test;
  test.name = "test_gru";
  test.kind = "node";
  test.path = "suite/node/test_gru";
  grurun::fuzz::must_not_fail_inside([&] {
    if (data[0] % 2 == 0)
      grurun::conformance::Policy::parse(text, "policy.toml")
          .find(test, {"GRU"}, "Y", grurun::DType::float32);
    else
      grurun::conformance::Expectations::parse(text, "expectations.txt").find(test);
  });
  return 0;
}
