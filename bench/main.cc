// The benchmarks, preceded in the JSON output's context by what this machine reaches at best.
#include <benchmark/benchmark.h>

#include <string>

#include "bench/count.h"
#include "engine/kernels/machine/machine_speed.h"
#include "engine/kernels/machine/simd.h"

int main(int argc, char** argv) {
  using namespace grurun::kernels;
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("isa", simd_target());
  benchmark::AddCustomContext("peak FLOP/s", std::to_string(grurun::peak_flops()));
  for (const auto& [name, bytes] : {std::pair{"L1", 16 << 10}, {"L2", 512 << 10}, {"memory", 256 << 20}}) {
    benchmark::AddCustomContext(std::string(name) + " B/s", std::to_string(measured_read_bandwidth(bytes)));
  }
  benchmark::RunSpecifiedBenchmarks();
}
