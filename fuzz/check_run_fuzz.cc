// Bytes as one node, valid or broken: a check and a run agree about it (check_run.h).
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include "fuzz/check_run.h"
#include "tensor/memory/memory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace grurun;
  memory::set_limit(std::size_t{64} << 20);
  fuzz::Drawn drawn(data, size);
  if (const auto found = fuzz::difference_in(drawn)) {
    std::fprintf(stderr, "%s\n  run:   %s\n  check: %s\n", found->operator_text.c_str(), found->run.c_str(),
                 found->check.c_str());
    __builtin_trap();
  }
  return 0;
}
