// Every number of the kernels and of recurrent layers that was chosen by measuring, with its reason: from
// where on something pays, and how much is done at a time. Another number may change the last bits of a sum,
// whose terms are then added in another order, and nothing else. The end of this file has what tests
// override.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace grurun::kernels::tuning {

struct Ratio {
  std::int64_t part, whole;
};

// --- the machine

/// Bytes of a cache line.
inline constexpr std::int64_t cache_line = 64;
/// Bytes of a way of the first cache: rows that begin as far apart, or a multiple of it, share its few
/// places.
inline constexpr std::size_t cache_way = 4096;
/// A thread without work looks for some this long before it sleeps: steps of a model mostly follow each other
/// within it, and waking a thread takes nearly as long.
inline constexpr std::chrono::microseconds spin_time{200};
/// Looks for work between two looks at the clock, which takes longer.
inline constexpr int spins = 64;

// --- element-wise loops: elements of which a thread takes as many at least

/// Additions and the like, and conversions: memory is what they wait for.
inline constexpr std::int64_t cheap_elements_of_thread = 32768;
/// Exponentials and the like.
inline constexpr std::int64_t dear_elements_of_thread = 8192;

// --- gemm

/// Operations of which a thread takes as many at least.
inline constexpr std::int64_t gemm_operations_of_thread = 1 << 18;
/// The same of products without vectors, and of integers of 32 and 64 bits.
inline constexpr std::int64_t plain_operations_of_thread = 1 << 16;
/// A panel's rows that are multiplied at a time: they stay in the second cache.
inline constexpr std::int64_t gemm_block_K = 512;
/// Bytes of A's rows that stay in the second cache while the panels pass by.
inline constexpr std::int64_t gemm_block_bytes = 1 << 20;
/// Up to so many rows a row-major B is used where it lies: packing reads and writes it all.
inline constexpr std::int64_t gemm_direct_rows = 8;
/// Up to so many rows a transposed B is used where it lies, as dot products, if K is so large ...
inline constexpr std::int64_t dot_rows = 4, dot_K = 32;
/// ... and up to so many rows, block by block, where K is larger.
inline constexpr std::int64_t dot_block_rows = 64, dot_block_K = 256;
/// Rows that packing and gathering ask the memory for ahead of time: they do not lie side by side.
inline constexpr std::int64_t rows_ahead = 16;
/// Columns of A that are transposed at a time, and of weights that are packed at a time: what is written
/// meanwhile stays in the first cache.
inline constexpr std::int64_t strip_columns = 16;
/// A constant factor of more bytes is better multiplied where it lies: weights mapped from a file are then in
/// memory once, and are there as soon as they are used. What products lose by it, packing would take.
inline constexpr std::size_t most_packed_bytes = std::size_t{32} << 20;
/// Numbers of 8-bit factors that a thread packs at least: of weights, and of rows.
inline constexpr std::int64_t packed_integers_of_thread = 1 << 16, packed_rows_of_thread = 1 << 17;

// --- weights of recurrent layers

/// Weights that a thread packs at least.
inline constexpr std::int64_t packed_weights_of_thread = 1 << 15;
/// Vectors of units from which on panels of each half are chosen apart: halves of fewer would have panels of
/// two vectors.
inline constexpr std::int64_t least_halved_vectors = 12;
/// Bytes of float64 weights from which on they are kept in float32, too, if they are such numbers: fewer are
/// soon in the first cache.
inline constexpr std::int64_t least_narrowed_bytes = 64 * 1024;
/// Up to so many rows of a product gain by compact weights (28 bits each) that so come to stay in the second
/// cache, or are up to so many times as large; larger ones are read from memory and gain nothing.
inline constexpr std::int64_t most_compact_rows = 3, most_compact_second_caches = 8;
/// On processors of AMD one row gains where weights have so many bytes, though they are in the second cache
/// anyway; others have fewer units for the bits.
inline constexpr std::int64_t least_compact_bytes = 128 << 10;
/// Numbers that a thread makes compact at least.
inline constexpr std::int64_t compacted_numbers_of_thread = 1 << 16;
/// Rows, and terms and columns of weights, from which on products run on the tile registers: smaller ones
/// take longer to split than to multiply.
inline constexpr std::int64_t least_tiled_rows = 15, least_tiled_K = 128, least_tiled_columns = 256;
/// Bytes of rows that a projection splits at a time: they stay in the second cache.
inline constexpr std::size_t split_bytes = std::size_t{1} << 19;
/// W is packed once more as one gate where that leaves at most such a part of its columns, and K is so large:
/// there is less to multiply, but the products must be moved to where they belong.
inline constexpr Ratio dense_W_columns{4, 5};
inline constexpr std::int64_t dense_W_least_K = 64;

// --- steps of recurrent layers

/// Bytes of what is projected at a time, so that it is still in a core's cache when its steps run.
inline constexpr std::int64_t projected_bytes = 768 * 1024;
/// Bytes of the states of a layer that lie on the stack: taking memory for a small layer would be much of it.
inline constexpr std::size_t workspace_on_stack = 4096;
/// Operations of all steps of a direction, for each thread that takes some of its rows from beginning to end.
inline constexpr double direction_operations_of_thread = 1 << 17;
/// Operations of a direction from which on the other one runs beside it, ...
inline constexpr double direction_operations_alone = 1 << 18;
/// ... with up to so many threads; more of them do better by sharing the steps of one after the other.
inline constexpr int most_threads_for_directions = 3;
/// Operations of a thread in a step or a projection.
inline constexpr std::int64_t step_operations_of_thread = 1 << 15;
/// Terms of a sum up to which a projection takes less time to compute than to get from another thread, where
/// one thread takes all of its steps.
inline constexpr std::int64_t projection_few_terms = 32;
/// Elements of X that a thread brings into the order of steps.
inline constexpr std::int64_t gathered_elements_of_thread = 1 << 13;
/// Threads take rows rather than panels where weights are so few that reading all of them costs a thread less
/// than getting from others what they made of theirs: up to so many second caches, and to a part of one where
/// a thread has fewer than so many rows.
inline constexpr std::int64_t shared_weights_second_caches = 2, shared_weights_part_of_cache = 2,
                              shared_weights_many_rows = 16;
/// They take rows, too, where the largest share of the panels would be larger than an even one by more.
inline constexpr Ratio uneven_share{8, 7};
/// Operations of a piece of a thread's part, which another thread that is done may take, and the most pieces.
inline constexpr std::int64_t piece_operations = 1 << 21, most_pieces = 4;
/// Operations of a step that takes some microseconds at most: whether threads share it is found by trying.
inline constexpr std::int64_t operations_of_short_step = 1 << 20;
/// Steps that are tried shared, then alone, and steps from one trial to the next: what trying costs is small
/// beside them, and a process may be moved among the CPUs at any time.
inline constexpr std::uint32_t tried_steps = 5, steps_between_trials = 2048;
/// Numbers that a thread quantizes at least, and operations of 8-bit products.
inline constexpr std::int64_t quantized_numbers_of_thread = 1 << 16, quantized_operations_of_thread = 1 << 17;

// --- attention

/// Scores of a block of queries, about a megabyte; rows of a block at least, at most, and at most where
/// queries see different keys: of these a block computes all that any of its queries sees.
inline constexpr std::int64_t attention_block_scores = 1 << 18, attention_least_rows = 32,
                              attention_most_rows = 256, attention_most_unlike_rows = 64;
/// Blocks are made smaller until there are so many: enough for several threads.
inline constexpr std::int64_t attention_blocks = 16;
/// Operations of which a thread takes as many at least.
inline constexpr double attention_operations_of_thread = 200'000;

// --- overrides: what tests put in place of what is chosen by the processor, until they give nothing. Not to
// be called while kernels run; weights packed before stay as they are.

/// Rows of a product up to which weights of any size are compact.
void override_most_compact_rows(std::optional<std::int64_t> rows);
/// Whether the processor is taken to divide fast (divides_fast).
void override_divides_fast(std::optional<bool> fast);
/// Whether the processor is taken to multiply bytes (multiplies_bytes); it must be able to.
void override_multiplies_bytes(std::optional<bool> multiplies);

}  // namespace grurun::kernels::tuning
