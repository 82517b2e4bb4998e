#include "opset/pages/page_rules.h"
#include "tensor/error.h"

namespace grurun::opset {

// The last axis holds real numbers or real and imaginary parts.
void check_dft(const NodeFacts& facts) {
  const SymbolicShape* input = facts.shape(0);
  const bool inverse = facts.int_attribute("inverse", 0) != 0;
  const bool onesided = facts.int_attribute("onesided", 0) != 0;
  const std::int64_t rank = input == nullptr ? 0 : rank_of(*input);
  const Size parts = size_of(input, static_cast<int>(rank) - 1);
  if (onesided && parts && *parts != (inverse ? 2 : 1))
    fail_invalid("onesided with inverse {} takes {} input, but its last size is {}", inverse ? 1 : 0,
                 inverse ? "complex" : "real", *parts);
  const Size length = number_in(facts, 1);
  if (length && *length < 0) fail_invalid("input dft_length is {}, but must not be negative", *length);
  const bool as_input = facts.since_version() >= 20;
  const Size axis = !as_input            ? Size(facts.int_attribute("axis", 1))
                    : facts.has_input(2) ? number_in(facts, 2)
                                         : Size(-2);
  if (input == nullptr || !axis) return;
  const std::int64_t counted = *axis < 0 ? *axis + rank : *axis;
  if (counted < 0 || counted >= rank - 1)
    fail_invalid("axis is {}, but must lie in [-r, -2] or [0, r - 2] of the input {}, whose rank r is {}",
                 *axis, to_string(*input), rank);
  const Size size = size_of(input, static_cast<int>(counted));
  if (onesided && inverse && !facts.has_input(1) && size == 0)
    fail_invalid("the input {} has no element along axis {}, whose inverse is wanted", to_string(*input),
                 *axis);
}

void check_frames(const NodeFacts& facts) {
  const SymbolicShape *signal = facts.shape(0), *window = facts.shape(2);
  if (facts.int_attribute("onesided", 1) != 0 && size_of(signal, 2) == 2) {
    fail_invalid("signal is {}: a complex signal has no onesided output, set onesided to 0",
                 to_string(*signal));
  }
  const Size room = size_of(signal, 1), step = number_in(facts, 1), width = size_of(window, 0);
  const Size length = facts.has_input(3) ? number_in(facts, 3) : facts.has_input(2) ? width : room;
  if (step && *step < 1) fail_invalid("frame_step is {}, but must be positive", *step);
  if (length && *length < 1) fail_invalid("frame_length is {}, but must be positive", *length);
  if (length && width && *length != *width)
    fail_invalid("frame_length is {}, but window has {} elements", *length, *width);
  // floor((room - length) / step) + 1 frames
  if (room && length && step && *room < *length && *step < *length - *room)
    fail_invalid("a frame of {} does not fit in a signal of {}", *length, *room);
}

void check_mel_scale(const NodeFacts& facts) {
  const auto lower = numbers_in(facts, 3), upper = numbers_in(facts, 4);
  if (lower && upper && lower->size() == 1 && upper->size() == 1 && upper->front() < lower->front())
    fail_invalid("upper_edge_hertz is {}, below lower_edge_hertz, which is {}", upper->front(),
                 lower->front());
}

}  // namespace grurun::opset
