// Bytes as a JSON report of a suite that is read back and written in other formats.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/fuzzed.h"
#include "report/suite/read_suite.h"
#include "report/suite/suite_format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  grurun::fuzz::must_not_fail_inside([&] {
    const auto suite =
        grurun::report::parse_suite({reinterpret_cast<const char*>(data), size}, "report.json");
    grurun::report::console_report(suite);
    grurun::report::junit_report(suite);
    grurun::report::json_report(suite);
  });
  return 0;
}
