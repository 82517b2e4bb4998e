#include "engine/ops/nn/attention_block.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/machine/prefetch.h"
#include "engine/kernels/machine/tuning.h"
#include "engine/kernels/vec/vec_arith.h"
#include "engine/kernels/vec/vec_math.h"
#include "engine/kernels/vec/vec_reduce.h"
#include "engine/ops/math/softmax.h"
#include "engine/ops/shared/float_rows.h"
#include "tensor/memory/scratch.h"

namespace grurun::engine {

namespace {

/// The queries [begin, end) of a batch entry and a head of K and V, counted through the heads of the group.
template <typename C>
class Block {
 public:
  Block(const Attention<C>& run, std::int64_t batch, std::int64_t kv_head, std::int64_t begin,
        std::int64_t end)
      : run_(run), batch_(batch), kv_head_(kv_head), begin_(begin), rows_(end - begin) {
    find_columns();
  }

  void compute() {
    S_ = Tensor(dtype_of<C>, Shape{rows_, columns()});
    ask_for(run_.K);
    multiply_scores();
    ask_for(run_.V);
    weigh();
    multiply_values();
  }

 private:
  std::int64_t head(std::int64_t r) const {
    return kv_head_ * run_.sizes.group() + (begin_ + r) / run_.sizes.q_length;
  }
  std::int64_t query(std::int64_t r) const { return (begin_ + r) % run_.sizes.q_length; }
  std::int64_t columns() const { return last_ - first_; }

  /// Keys that a query sees, and those that any does; all if the scores are wanted.
  void find_columns() {
    first_ = run_.sizes.keys(), last_ = 0;
    for (std::int64_t r = 0; r < rows_; ++r) {
      seen_.push_back(run_.visible.of(batch_, query(r)));
      if (seen_.back().first == seen_.back().second) continue;
      first_ = std::min(first_, seen_.back().first);
      last_ = std::max(last_, seen_.back().second);
    }
    if (run_.scores != nullptr || first_ > last_)
      first_ = 0, last_ = run_.scores == nullptr ? 0 : run_.sizes.keys();
    seen_alike_ = std::ranges::all_of(seen_, [&](const auto& seen) {
      return seen == std::pair{first_, last_};
    });
  }

  /// For rows [first_, last_) of K or V, where other heads' lie between them and the cache has room.
  void ask_for(const Heads& heads) const {
    constexpr std::int64_t room = 1 << 17;
    const auto bytes = static_cast<std::int64_t>(dtype_size(heads.tensor->dtype()));
    if (heads.layout.row_step == heads.size || columns() == 0 || columns() > room / (heads.size * bytes + 1))
      return;
    kernels::ask_for_rows(heads.row(batch_, kv_head_, first_), heads.layout.row_step * bytes, columns(),
                          heads.size * bytes);
  }

  /// Rows [first_, last_) of K or V as C: where they lie, or a copy kept in `copy`, times `factor` and
  /// rounded to the inputs' type if that is not C.
  kernels::Matrix<C> rows_of(const Heads& heads, C factor, Tensor& copy) const {
    const std::int64_t size = heads.size;
    const DType from = heads.tensor->dtype();
    if (from == dtype_of<C>) {
      return {reinterpret_cast<const C*>(heads.row(batch_, kv_head_, first_)), heads.layout.row_step};
    }
    copy = Tensor(dtype_of<C>, Shape{columns(), size});
    C* to = copy.mutable_data<C>();
    for (std::int64_t j = 0; j < columns(); ++j) {
      convert_floats(from, heads.row(batch_, kv_head_, first_ + j), dtype_of<C>, to + j * size, size);
    }
    if (factor != C(1)) {
      kernels::vec_mul(to, factor, to, copy.size());
      round_floats(from, to, copy.size());
    }
    return {to, size};
  }

  void multiply_scores() {
    const std::int64_t size = run_.sizes.head_size;
    const DType type = run_.type();
    const auto [root, sign] = scale_root();
    Tensor scaled(dtype_of<C>, Shape{rows_, size});
    C* q = scaled.mutable_data<C>();
    const auto row_bytes = size * static_cast<std::int64_t>(dtype_size(type));
    for (std::int64_t r = 0; r < rows_; ++r) {
      const std::int64_t later = std::min(r + kernels::tuning::rows_ahead, rows_ - 1);
      kernels::ask_for_rows(run_.Q.row(batch_, head(later), query(later)), 0, 1, row_bytes);
      const std::byte* row = run_.Q.row(batch_, head(r), query(r));
      C* to = q + r * size;
      if (type != dtype_of<C>) convert_floats(type, row, dtype_of<C>, to, size);
      kernels::vec_mul(type == dtype_of<C> ? reinterpret_cast<const C*>(row) : to, root * sign, to, size);
    }
    round_floats(type, q, scaled.size());
    Tensor copy;
    kernels::Matrix<C> k = rows_of(run_.K, root, copy);
    k.transposed = true;
    const C alpha = copy.defined() ? C(1) : root;  // a copy has the factor already
    C* s = S_.mutable_data<C>();
    kernels::gemm<C>(rows_, columns(), size, alpha, {q, size}, k, C(0), s, columns());
    round_floats(type, s, S_.size());
    if (run_.attributes.score_output == ScoreOutput::scores) store_scores();
    cap(s);
    if (run_.attributes.score_output == ScoreOutput::capped) store_scores();
  }

  /// sqrt(|scale|) as an element of the inputs' type, and scale's sign.
  std::pair<C, C> scale_root() const {
    const auto& scale = run_.attributes.scale;
    const C sign = scale && *scale < 0 ? C(-1) : C(1);
    if (run_.type() == DType::float64) {
      const double value = scale ? std::fabs(static_cast<double>(*scale))
                                 : 1 / std::sqrt(static_cast<double>(run_.sizes.head_size));
      return {static_cast<C>(std::sqrt(value)), sign};
    }
    const float value = scale ? std::fabs(*scale) : 1 / std::sqrt(static_cast<float>(run_.sizes.head_size));
    C root = std::sqrt(value);
    round_floats(run_.type(), &root, 1);
    return {root, sign};
  }

  void cap(C* s) const {
    C limit = static_cast<C>(run_.attributes.softcap);
    if (limit == C(0)) return;
    const DType type = run_.type();
    round_floats(type, &limit, 1);
    kernels::vec_div(s, limit, s, S_.size());
    round_floats(type, s, S_.size());
    kernels::vec_tanh(s, s, S_.size());
    round_floats(type, s, S_.size());
    kernels::vec_mul(s, limit, s, S_.size());
    round_floats(type, s, S_.size());
  }

  /// From capped scores to probabilities.
  void weigh() {
    C* s = S_.mutable_data<C>();
    if (seen_alike_ && columns() > 0 && run_.scores == nullptr) return weigh_together(s);
    Tensor scratch(dtype_of<C>, Shape{run_.sizes.keys()});
    for (std::int64_t r = 0; r < rows_; ++r) weigh(r, s + r * columns(), scratch.mutable_data<C>());
  }

  /// All rows at once, where every query sees all columns but for what the mask hides.
  void weigh_together(C* s) const {
    const ScratchVector<std::int64_t> blind =
        run_.mask.present() ? add_mask(s) : ScratchVector<std::int64_t>();
    softmax_rows(precision(), s, rows_, columns());
    round_floats(run_.type(), s, rows_ * columns());
    for (const std::int64_t r : blind) std::fill_n(s + r * columns(), columns(), C(0));
  }

  /// Adds the mask to all rows of s; those of which it hides every key.
  ScratchVector<std::int64_t> add_mask(C* s) const {
    ScratchVector<std::int64_t> blind;
    Tensor scratch(dtype_of<C>, Shape{columns()});
    C* bias = scratch.mutable_data<C>();
    for (std::int64_t r = 0; r < rows_; ++r) {
      C* x = s + r * columns();
      if (!run_.mask.add(batch_, head(r), query(r), first_, columns(), x, bias)) blind.push_back(r);
    }
    round_floats(run_.type(), s, rows_ * columns());
    return blind;
  }

  DType precision() const { return run_.attributes.softmax_precision.value_or(run_.type()); }

  /// The scores x [columns] of row r.
  void weigh(std::int64_t r, C* x, C* scratch) {
    const auto [first, last] = seen_[static_cast<std::size_t>(r)];
    const std::int64_t n = last - first;
    C* inside = x + (n == 0 ? 0 : first - first_);
    if (run_.scores != nullptr && run_.attributes.score_output == ScoreOutput::biased)
      store_biased(r, x, scratch);
    bool attends = n > 0;
    if (attends && run_.mask.present()) {
      attends = run_.mask.add(batch_, head(r), query(r), first, n, inside, scratch);
      round_floats(run_.type(), inside, n);
    }
    std::fill(x, inside, C(0));
    std::fill(inside + n, x + columns(), C(0));
    if (attends) {
      softmax_rows(precision(), inside, 1, n);
      round_floats(run_.type(), inside, n);
    } else {
      std::fill_n(inside, n, C(0));
    }
    if (run_.attributes.score_output == ScoreOutput::probabilities) store_row(r, x);
  }

  /// x + bias for every key, hidden ones included; all keys are columns then.
  void store_biased(std::int64_t r, const C* x, C* scratch) const {
    const std::int64_t keys = run_.sizes.keys();
    const auto [first, last] = seen_[static_cast<std::size_t>(r)];
    Tensor biased(dtype_of<C>, Shape{keys});
    C* b = biased.mutable_data<C>();
    std::copy_n(x, keys, b);
    if (run_.mask.present()) run_.mask.add(batch_, head(r), query(r), 0, run_.mask.length(), b, scratch);
    constexpr C none = -std::numeric_limits<C>::infinity();
    kernels::vec_add(b, none, b, first);
    kernels::vec_add(b + last, none, b + last, keys - last);
    store_row(r, b);
  }

  void store_row(std::int64_t r, const C* x) const {
    if (run_.scores == nullptr) return;
    const std::int64_t keys = run_.sizes.keys();
    const std::int64_t at = ((batch_ * run_.sizes.q_heads + head(r)) * run_.sizes.q_length + query(r)) * keys;
    convert_floats(dtype_of<C>, x, run_.type(),
                   run_.scores + at * static_cast<std::int64_t>(dtype_size(run_.type())), keys);
  }
  void store_scores() const {
    for (std::int64_t r = 0; r < rows_; ++r) store_row(r, S_.data<C>() + r * columns());
  }

  void multiply_values() {
    const std::int64_t size = run_.sizes.v_head_size;
    const auto& layout = run_.Y.layout;
    const auto place = [&](std::int64_t r) {
      return run_.y +
             layout.at(batch_, head(r), query(r)) * static_cast<std::int64_t>(dtype_size(run_.type()));
    };
    const bool in_place = run_.type() == dtype_of<C> && head(0) == head(rows_ - 1);
    Tensor copy, result(dtype_of<C>, in_place ? Shape{0} : Shape{rows_, size});
    const kernels::Matrix<C> v = rows_of(run_.V, C(1), copy);
    C* out = in_place ? reinterpret_cast<C*>(place(0)) : result.mutable_data<C>();
    const std::int64_t step = in_place ? layout.row_step : size;
    if (seen_alike_ || finite(v)) {
      kernels::gemm<C>(rows_, size, columns(), C(1), {S_.data<C>(), columns()}, v, C(0), out, step);
    } else {
      multiply_seen_values(v, out, step);
    }
    if (in_place) return;
    for (std::int64_t r = 0; r < rows_; ++r)
      convert_floats(dtype_of<C>, out + r * size, run_.type(), place(r), size);
  }

  /// Row by row, so that 0 does not meet infinity or NaN in the values of hidden keys.
  void multiply_seen_values(const kernels::Matrix<C>& v, C* out, std::int64_t step) const {
    const std::int64_t size = run_.sizes.v_head_size;
    for (std::int64_t r = 0; r < rows_; ++r) {
      const auto [first, last] = seen_[static_cast<std::size_t>(r)];
      const std::int64_t skipped = first == last ? 0 : first - first_;
      kernels::gemm<C>(1, size, last - first, C(1), {S_.data<C>() + r * columns() + skipped, columns()},
                       {v.data + skipped * v.ld, v.ld}, C(0), out + r * step, step);
    }
  }

  bool finite(const kernels::Matrix<C>& v) const {
    for (std::int64_t j = 0; j < columns(); ++j) {
      // The sum may overflow without an infinite element; the slower way is right then too.
      if (!std::isfinite(kernels::reduce_sum_squares(v.data + j * v.ld, run_.sizes.v_head_size)))
        return false;
    }
    return true;
  }

  const Attention<C>& run_;
  std::int64_t batch_, kv_head_, begin_, rows_;
  std::int64_t first_ = 0, last_ = 0;  // keys that are columns of S_
  ScratchVector<std::pair<std::int64_t, std::int64_t>> seen_;
  bool seen_alike_ = false;
  Tensor S_;
};

}  // namespace

template <typename C>
void attend_block(const Attention<C>& run, std::int64_t batch, std::int64_t kv_head, std::int64_t begin,
                  std::int64_t end) {
  Block<C>(run, batch, kv_head, begin, end).compute();
}

template void attend_block(const Attention<float>&, std::int64_t, std::int64_t, std::int64_t, std::int64_t);
template void attend_block(const Attention<double>&, std::int64_t, std::int64_t, std::int64_t, std::int64_t);

}  // namespace grurun::engine
