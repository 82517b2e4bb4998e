// Bytes as a JSON report of a suite that is read back, and as a file of expectations.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "report/suite/read_suite.h"
#include "report/suite/suite_format.h"
#include "tensor/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto suite =
        grurun::report::parse_suite({reinterpret_cast<const char*>(data), size}, "report.json");
    grurun::report::console_report(suite);
    grurun::report::junit_report(suite);
    grurun::report::json_report(suite);
  } catch (const grurun::Error& error) {
    if (error.kind() == grurun::ErrorKind::internal) __builtin_trap();
  }
  return 0;
}
