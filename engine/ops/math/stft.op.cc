// STFT (ai.onnx 17).
//
//   output[b, f, k] = sum_n signal[b, f * frame_step + n] window[n] exp(-2 pi i k n / frame_length)
//
// signal [batch_size, signal_length, 1] (real) or [..., 2] (complex), or, as in ONNX Runtime and models made
// for it, [batch_size, signal_length] (real); window [frame_length], default all ones. frame_length defaults
// to window's length, else to signal_length. frames = floor((signal_length - frame_length) / frame_step) + 1.
// output [batch_size, frames, bins, 2] with bins = frame_length, or with onesided, the default, frame_length
// / 2 + 1; a complex signal cannot be onesided. Precision as in DFT.
#include "engine/graph/op_context.h"
#include "engine/ops/math/fft.h"
#include "engine/ops/shared/integer_list.h"
#include "tensor/dispatch.h"

namespace grurun::engine {

namespace {

struct Frames {
  std::int64_t step;
  std::int64_t length;
  std::int64_t count;
  std::int64_t bins;
};

/// Numbers that make up one element of the signal: 1 real, 2 complex.
std::int64_t parts_of(const Tensor& signal) {
  return signal.rank() == 2 ? 1 : signal.dim(2);
}

template <typename T, typename Real>
void transform_frames(const Frames& frames, const Fft<Real>& fft, const Tensor& signal, const Tensor* window,
                      Tensor& output) {
  const std::int64_t parts = parts_of(signal);
  const T* weights = window != nullptr ? window->data<T>() : nullptr;
  const auto read = [&](std::int64_t i, std::complex<Real>* x) {
    const std::int64_t start = i / frames.count * signal.dim(1) + i % frames.count * frames.step;
    const T* from = signal.data<T>() + start * parts;
    for (std::int64_t n = 0; n < frames.length; ++n) {
      const Real weight = weights != nullptr ? static_cast<Real>(weights[n]) : Real(1);
      const Real imaginary = parts == 2 ? static_cast<Real>(from[n * parts + 1]) : Real(0);
      x[n] = {static_cast<Real>(from[n * parts]) * weight, imaginary * weight};
    }
  };
  T* made = output.mutable_data<T>();
  const auto write = [&](std::int64_t i, std::complex<Real>* x) {
    if (parts == 1) make_symmetric(x, frames.length);
    T* to = made + i * frames.bins * 2;
    for (std::int64_t k = 0; k < frames.bins; ++k) {
      to[2 * k] = static_cast<T>(x[k].real());
      to[2 * k + 1] = static_cast<T>(x[k].imag());
    }
  };
  fft.transform_all(signal.dim(0) * frames.count, false, read, write);
}

Frames read_frames(RunContext& run, const Tensor& signal, const Tensor* window, bool onesided) {
  Frames frames{};
  frames.step = integer_scalar(run.tensor(1));
  if (run.tensor(1).rank() != 0 || frames.step < 1) refuse();
  frames.length = signal.dim(1);
  if (window != nullptr) {
    if (window->rank() != 1) refuse();
    frames.length = window->dim(0);
  }
  if (const Tensor* length = run.optional_tensor(3)) {
    frames.length = integer_scalar(*length);
    if (length->rank() != 0 || (window != nullptr && frames.length != window->dim(0))) refuse();
  }
  if (frames.length < 1) refuse();
  const std::int64_t room = signal.dim(1) - frames.length;
  // floor(room / step) + 1, which is 0 for a signal less than a step too short.
  if (room < 0 && -frames.step > room) refuse();
  frames.count = room < 0 ? 0 : room / frames.step + 1;
  frames.bins = onesided ? frames.length / 2 + 1 : frames.length;
  return frames;
}

RunFunction prepare_stft(PrepareContext& node) {
  const bool onesided = node.flag_attribute("onesided", true);
  return [onesided](RunContext& run) {
    const Tensor& signal = run.tensor(0);
    if (signal.rank() != 2 && signal.rank() != 3) refuse();
    const std::int64_t parts = parts_of(signal);
    if ((parts != 1 && parts != 2) || (onesided && parts == 2)) refuse();
    const Tensor* window = run.optional_tensor(2);
    const Frames frames = read_frames(run, signal, window, onesided);
    Tensor& output = run.output(0, signal.dtype(), {signal.dim(0), frames.count, frames.bins, 2});
    if (output.size() == 0) return;
    dispatch(Floats{}, signal.dtype(), [&]<typename T>() {
      with_fft<T>(frames.length,
                  [&](const auto& fft) { transform_frames<T>(frames, fft, signal, window, output); });
    });
  };
}

}  // namespace

std::vector<OpRow> op_rows_stft() {
  return {{"", "STFT", {17}, prepare_stft}};
}

}  // namespace grurun::engine
