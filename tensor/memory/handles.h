// The handles of blocks of tensors, in programs whose operator new counts nothing.
#pragma once

namespace grurun::memory {

/// From now on what lies on the heap for each block is counted with it, where the heap is counted: in the
/// Python package a Loop that collects millions of numbers takes most of its memory there.
void begin_counting_handles();

}  // namespace grurun::memory
