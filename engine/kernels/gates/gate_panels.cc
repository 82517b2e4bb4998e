#include "engine/kernels/gates/gate_panels.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>

#include "engine/kernels/gemm/tile_range.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/simd.h"
#include "engine/kernels/machine/tuning.h"

namespace grurun::kernels {
namespace {

/// Up to `columns` units of a gate: out[k * columns + unit] = rows[unit * K + k], zeros beyond `valid` units.
template <class T>
void pack_columns(const T* rows, int64_t K, int64_t valid, int64_t columns, T* out) {
  for (int64_t k0 = 0; k0 < K; k0 += tuning::strip_columns) {
    const int64_t k1 = std::min(K, k0 + tuning::strip_columns);
    for (int64_t unit = 0; unit < valid; ++unit) {
      for (int64_t k = k0; k < k1; ++k) out[k * columns + unit] = rows[unit * K + k];
    }
    for (int64_t k = k0; k < k1; ++k) std::fill(out + k * columns + valid, out + (k + 1) * columns, T(0));
  }
}

/// One gate of one panel, zeros beyond `valid` units.
template <class T>
void pack_gate(const T* rows, int64_t K, int64_t valid, int64_t units, bool whole, T* out) {
  const int64_t columns = whole ? units : gate_lanes<T>;
  for (int64_t first = 0; first < units; first += columns) {
    pack_columns(rows + first * K, K, std::clamp<int64_t>(valid - first, 0, columns), columns,
                 out + first * K);
  }
}

bool suit_tiles(const float* weights, int64_t count) {
  uint32_t outside = 0;
  for (int64_t i = 0; i < count; ++i) {
    const uint32_t magnitude = std::bit_cast<uint32_t>(weights[i]) & 0x7fffffff;
    outside |= magnitude - range_of_tiles.least > range_of_tiles.most - range_of_tiles.least ? magnitude : 0;
  }
  return outside == 0;
}
bool suit_tiles(const double*, int64_t) {
  return false;
}

template <class T>
bool all_finite(const T* weights, int64_t count) {
  return std::all_of(weights, weights + count, [](T weight) { return std::isfinite(weight); });
}

bool are_narrow(const double* weights, int64_t count) {
  if (!want_narrow_panels() || count * static_cast<int64_t>(sizeof(double)) < tuning::least_narrowed_bytes)
    return false;
  return std::all_of(weights, weights + count,
                     [](double weight) { return static_cast<double>(static_cast<float>(weight)) == weight; });
}
bool are_narrow(const float*, int64_t) {
  return false;
}

/// Appends where panels end among `vectors` vectors that follow those before.
void append_panels(int64_t vectors, std::vector<int64_t>& bounds) {
  const int64_t wide = 4 * (vectors % 3) <= vectors ? vectors % 3 : 0;
  const int64_t end = bounds.back() + vectors;
  for (int64_t i = 0; bounds.back() < end; ++i) {
    bounds.push_back(std::min(end, bounds.back() + (i < wide ? 4 : 3)));
  }
}

/// Where panels begin among `vectors` vectors, and where the last one ends.
std::vector<int64_t> panel_bounds(int64_t vectors) {
  std::vector<int64_t> bounds{0};
  const int64_t second_half = vectors >= tuning::least_halved_vectors ? vectors / 2 : 0;
  append_panels(vectors - second_half, bounds);
  append_panels(second_half, bounds);
  return bounds;
}

std::optional<int64_t> compact_rows_of_any_size;

/// The most rows that want compact weights, where these take so many bytes as float32.
int64_t most_compact_rows(int64_t bytes) {
  if (!want_compact_panels()) return 0;
  if (compact_rows_of_any_size) return *compact_rows_of_any_size;
  if (halves_widest_vectors()) return 0;  // they take two turns for the bits
  const int64_t second_cache = second_cache_bytes();
  if (bytes > tuning::most_compact_second_caches * second_cache) return 0;
  if (bytes >= second_cache) return tuning::most_compact_rows;
  return made_by_amd() && bytes >= tuning::least_compact_bytes ? 1 : 0;
}

}  // namespace

void tuning::override_most_compact_rows(std::optional<int64_t> rows) {
  compact_rows_of_any_size = rows;
}

template <class T>
GatePanels<T> pack_gates(int64_t gates, int64_t hidden_size, int64_t K, const T* rows, const T* bias) {
  GatePanels<T> packed;
  packed.K_ = K;
  packed.gates_ = gates;
  packed.hidden_size_ = hidden_size;
  packed.whole_ = want_whole_gates();
  packed.first_units_ = panel_bounds((hidden_size + gate_lanes<T> - 1) / gate_lanes<T>);
  for (int64_t& bound : packed.first_units_) bound *= gate_lanes<T>;
  const int64_t weights = K * packed.width();
  const int64_t elements = weights + (bias ? packed.width() : 0);
  const int64_t narrow_elements = are_narrow(rows, gates * hidden_size * K) ? weights : 0;
  auto block = std::make_unique<memory::Block>(static_cast<size_t>(elements) * sizeof(T) +
                                               static_cast<size_t>(narrow_elements) * sizeof(float));
  T* data = static_cast<T*>(block->data());
  float* const narrow = narrow_elements > 0 ? reinterpret_cast<float*>(data + elements) : nullptr;
  std::atomic<bool> suits_tiles{true}, finite{true};
  const auto pack_panels = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = packed.first_unit(i), units = packed.units(i);
      const int64_t valid = std::min(units, hidden_size - first);
      for (int64_t gate = 0; gate < gates; ++gate) {
        const int64_t row = gate * hidden_size + first, column = packed.first_column(i) + gate * units;
        pack_gate(rows + row * K, K, valid, units, packed.whole_, data + column * K);
        if (bias == nullptr) continue;
        T* out = data + weights + column;
        std::fill(std::copy_n(bias + row, valid, out), out + units, T(0));
      }
      const T* panel = data + packed.first_column(i) * K;
      const int64_t count = gates * units * K;
      if (narrow != nullptr) {
        std::transform(panel, panel + count, narrow + packed.first_column(i) * K,
                       [](T weight) { return static_cast<float>(weight); });
      }
      if (suit_tiles(panel, count)) continue;
      suits_tiles = false;
      if (!all_finite(panel, count)) finite = false;
    }
  };
  const int64_t a_panel = weights / std::max<int64_t>(1, packed.panels());
  parallel_for(packed.panels(), tuning::packed_weights_of_thread / std::max<int64_t>(1, a_panel) + 1,
               pack_panels);
  packed.data_ = data;
  packed.narrow_ = narrow;
  packed.suits_tiles_ = suits_tiles;
  packed.finite_ = finite;
  packed.bias_ = bias ? data + weights : nullptr;
  if (std::is_same_v<T, float>)
    packed.most_compact_rows_ = most_compact_rows(weights * static_cast<int64_t>(sizeof(T)));
  packed.block_ = std::move(block);
  return packed;
}

template <class T>
void GatePanels<T>::arrange(int64_t rows) {
  if constexpr (std::is_same_v<T, float>) {
    if (rows <= most_compact_rows_) {
      if (compact_ != nullptr) return;
      DenseMatrices gate_by_gate{data_, K_, {}};
      for (int64_t i = 0; i < panels(); ++i) {
        gate_by_gate.columns.insert(gate_by_gate.columns.end(), static_cast<size_t>(gates_), units(i));
      }
      compact_ = CompactPanels::pack(std::move(gate_by_gate));
      if (compact_ != nullptr) return;
    } else if (compact_ != nullptr) {
      compact_->unpack();
      compact_.reset();
    }
  }
  most_compact_rows_ = 0;
}

template class GatePanels<float>;
template class GatePanels<double>;
template GatePanels<float> pack_gates(int64_t, int64_t, int64_t, const float*, const float*);
template GatePanels<double> pack_gates(int64_t, int64_t, int64_t, const double*, const double*);

}  // namespace grurun::kernels
