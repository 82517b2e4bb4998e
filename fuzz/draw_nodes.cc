// Draws nodes from a seed, for as long as asked, and compares a check of each with a run: the fuzz target
// check_run without libFuzzer, built as what ships is. Each kind of difference is printed once, with how
// often it came; files of the first of each are written where a folder is given.
//
//   draw_nodes SEED COUNT [MINUTES [FOLDER]]      COUNT 0: as many as there is time for; 1 where something
//   differs
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <random>

#include "fuzz/check_run.h"
#include "tensor/memory/memory.h"

namespace {

volatile std::uint64_t current = 0;

extern "C" void say_which(int signal) {
  std::fprintf(stderr, "signal %d in draw %llu\n", signal, static_cast<unsigned long long>(current));
  std::_Exit(70);
}

// Numbers do not make another kind.
std::string kind_of(const grurun::fuzz::Difference& found) {
  std::string kind;
  for (const char c : found.operator_text + "\n  run:   " + found.run + "\n  check: " + found.check) {
    const bool digit = c >= '0' && c <= '9' && kind.find('\n') != std::string::npos;
    if (!digit || kind.back() != '#') kind += digit ? '#' : c;
  }
  return kind;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace grurun;
  const std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const std::uint64_t count = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000;
  const double seconds = argc > 3 ? 60 * std::strtod(argv[3], nullptr) : 0;
  const std::string folder = argc > 4 ? argv[4] : "";
  for (const int signal : {SIGSEGV, SIGFPE, SIGABRT, SIGILL, SIGBUS}) std::signal(signal, say_which);
  memory::set_limit(std::size_t{64} << 20);
  struct Found {
    std::uint64_t times = 0, first = 0;
  };
  std::map<std::string, Found> kinds;
  const std::clock_t begin = std::clock();
  const auto elapsed = [begin] { return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC; };
  std::uint64_t draw = 0;
  std::vector<std::uint8_t> bytes;
  for (; (count == 0 || draw < count) && (seconds == 0 || draw % 256 != 0 || elapsed() < seconds); ++draw) {
    current = draw;
    std::mt19937_64 random(seed + draw);
    bytes.resize(64 << (random() % 6));
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random() >> 32);
    fuzz::Drawn drawn(bytes.data(), bytes.size());
    std::string model;
    const auto found = fuzz::difference_in(drawn, &model);
    if (!found) continue;
    Found& entry = kinds[kind_of(*found)];
    if (entry.times++ > 0) continue;
    entry.first = draw;
    if (folder.empty()) continue;
    std::ofstream(folder + "/" + std::to_string(draw) + ".onnx", std::ios::binary) << model;
    std::ofstream(folder + "/" + std::to_string(draw) + ".bytes", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  for (const auto& [kind, found] : kinds)
    std::printf("%llu times, first in draw %llu: %s\n", static_cast<unsigned long long>(found.times),
                static_cast<unsigned long long>(found.first), kind.c_str());
  std::printf("%llu draws in %.1f s of one core, %zu kinds of difference\n",
              static_cast<unsigned long long>(draw), elapsed(), kinds.size());
  return kinds.empty() ? 0 : 1;
}
