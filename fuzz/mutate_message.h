// Changes a model as a message, not as bytes: what it becomes still parses, and reaches what lies behind the
// reader.
#pragma once

#include <cstddef>
#include <cstdint>

namespace grurun::fuzz {

/// As LLVMFuzzerCustomMutator. Bytes that are no ModelProto are changed as bytes.
std::size_t mutate_model(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed);

}  // namespace grurun::fuzz
