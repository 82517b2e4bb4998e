// Files that fuzzing came to, testdata/fuzz/TARGET/*, given to the same targets again: what broke one stays
// mended. A target that finds a fault ends the program.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/places/in_tree.h"

#define GRURUN_REPLAY
#define LLVMFuzzerTestOneInput fuzz_gate
#include "fuzz/gate_fuzz.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_image
#include "fuzz/image_fuzz.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_model
#include "fuzz/model_fuzz.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_openvino
#include "fuzz/openvino_fuzz.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_run
#include "fuzz/run_fuzz.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_suite_report
#include "fuzz/suite_report_fuzz.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_values
#include "fuzz/values_fuzz.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_wire
#include "fuzz/wire_fuzz.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_operator
#include "fuzz/operator_fuzz.cc"
#undef LLVMFuzzerTestOneInput
#define LLVMFuzzerTestOneInput fuzz_check_run
#include "fuzz/check_run_fuzz.cc"
#undef LLVMFuzzerTestOneInput

namespace grurun::fuzz {
namespace {

using Target = int (*)(const std::uint8_t*, std::size_t);

void replay(const std::string& name, Target target) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(tests::in_tree("testdata/fuzz/" + name))) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    SCOPED_TRACE(entry.path().string());
    EXPECT_EQ(target(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
    ++files;
  }
  memory::set_limit(0);
  EXPECT_GT(files, 0U) << name;
}

TEST(Replay, EveryTarget) {
  replay("check_run", fuzz_check_run);
  replay("gate", fuzz_gate);
  replay("image", fuzz_image);
  replay("model", fuzz_model);
  replay("openvino", fuzz_openvino);
  replay("operator", fuzz_operator);
  replay("run", fuzz_run);
  replay("suite_report", fuzz_suite_report);
  replay("values", fuzz_values);
  replay("wire", fuzz_wire);
}

}  // namespace
}  // namespace grurun::fuzz
