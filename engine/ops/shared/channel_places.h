// To which channels elements of a result belong.
#pragma once

#include <cstdint>

namespace grurun::engine {

/// Elements side by side: `places` of each channel, from channel `first` on. Where channels are the last
/// axis, places is 1, and the first comes again after the last.
struct ChannelPlaces {
  std::int64_t first = 0;
  std::int64_t places = 1;
};

}  // namespace grurun::engine
