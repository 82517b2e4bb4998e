#include "conformance/shard.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <optional>

#include "tensor/error.h"

namespace grurun::conformance {

namespace {

/// Variables by which a system tells a process its part. GRURUN_SHARDS says how many there are where the
/// system does not.
struct ShardSystem {
  const char* name;
  const char* index;
  const char* count;
  const char* first;  // the least index: a number, or the variable that holds it
  const char* step;   // variable, or nullptr
};
constexpr std::array<ShardSystem, 5> shard_systems = {{
    {"GRURUN_SHARD", "GRURUN_SHARD", "GRURUN_SHARDS", "1", nullptr},
    {"Slurm", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
     "SLURM_ARRAY_TASK_STEP"},
    {"Kubernetes", "JOB_COMPLETION_INDEX", "GRURUN_SHARDS", "0", nullptr},
    {"GitLab", "CI_NODE_INDEX", "CI_NODE_TOTAL", "1", nullptr},
    {"Buildkite", "BUILDKITE_PARALLEL_JOB", "BUILDKITE_PARALLEL_JOB_COUNT", "0", nullptr},
}};

std::optional<std::size_t> shard_number(std::string_view text) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::size_t number_of(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) fail_usage("--shard auto: {} is not set", variable);
  const auto number = shard_number(text);
  if (!number) fail_usage("--shard auto: {} is '{}', which is no whole number", variable, text);
  return *number;
}

Shard shard_of_system(const ShardSystem& system) {
  const std::size_t index = number_of(system.index);
  const std::size_t first = shard_number(system.first).value_or(0);
  const std::size_t least = shard_number(system.first) ? first : number_of(system.first);
  const std::size_t step = system.step != nullptr ? std::max<std::size_t>(number_of(system.step), 1) : 1;
  if (std::getenv(system.count) == nullptr)
    fail_usage("--shard auto: {} is set, but not {}, the number of shards", system.index, system.count);
  const Shard shard{(index - least) / step + 1, number_of(system.count)};
  if (index < least || shard.number > shard.count)
    fail_usage("--shard auto: {}={} is none of {} shards from {} on", system.index, index, shard.count,
               least);
  return shard;
}

Shard shard_of_environment() {
  for (const ShardSystem& system : shard_systems)
    if (std::getenv(system.index) != nullptr) return shard_of_system(system);
  std::string names;
  for (const ShardSystem& system : shard_systems)
    names += (names.empty() ? "" : ", ") + std::string(system.index);
  fail_usage("--shard auto: none of {} is set; give --shard K/N", names);
}

/// FNV-1a, the same on every machine; the last bits are mixed, since a remainder is taken of them.
std::uint64_t hash_of(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::uint64_t mixed(std::uint64_t hash) {
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccd;
  return hash ^ (hash >> 33);
}

struct Load {
  double seconds;
  std::string key;
  std::size_t place;
};

/// The part, from 0, of each case.
std::vector<std::size_t> parts_by_time(const std::vector<Case>& cases, std::size_t count,
                                       const CaseTimes& times) {
  std::vector<Load> loads;
  double known = 0;
  std::size_t with_time = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Load& load = loads.emplace_back(Load{-1, path_key(cases[i]), i});
    auto found = times.find(load.key);
    if (found == times.end()) found = times.find(cases[i].full_name());
    if (found == times.end()) continue;
    load.seconds = found->second;
    known += load.seconds;
    ++with_time;
  }
  const double mean = with_time > 0 ? known / static_cast<double>(with_time) : 1;
  for (Load& load : loads)
    if (load.seconds < 0) load.seconds = mean;
  std::ranges::sort(loads, [](const Load& a, const Load& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.key < b.key;
  });
  std::vector<double> sums(count);
  std::vector<std::size_t> parts(cases.size());
  for (const Load& load : loads) {
    const auto least = std::ranges::min_element(sums);
    *least += load.seconds;
    parts[load.place] = static_cast<std::size_t>(least - sums.begin());
  }
  return parts;
}

}  // namespace

Shard parse_shard(const std::string& text) {
  if (text == "auto") return shard_of_environment();
  const std::size_t slash = text.find('/');
  if (slash != text.npos) {
    const auto number = shard_number(std::string_view(text).substr(0, slash));
    const auto count = shard_number(std::string_view(text).substr(slash + 1));
    if (number && count && *number >= 1 && *number <= *count && *count <= 1'000'000) return {*number, *count};
  }
  fail_usage("--shard takes K/N with K from 1 to N, as in 2/8, or auto; got '{}'", text);
}

std::string path_key(const Case& test) {
  std::string key = std::filesystem::path(test.path).lexically_normal().string();
  while (key.size() > 1 && key.ends_with('/')) key.pop_back();
  return key;
}

SuitePart take_shard(std::vector<Case>& cases, const Shard& shard, const CaseTimes& times,
                     std::string_view policy) {
  std::uint64_t suite = hash_of(policy);
  std::vector<std::size_t> parts(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i].place = i;
    const std::string key = path_key(cases[i]);
    suite = hash_of(key + '\n', suite);
    parts[i] = mixed(hash_of(key)) % shard.count;
  }
  SuitePart part{shard, cases.size(), fmt::format("{:016x}", suite)};
  if (!times.empty()) parts = parts_by_time(cases, shard.count, times);
  std::erase_if(cases, [&](const Case& test) { return parts[test.place] + 1 != shard.number; });
  return part;
}

}  // namespace grurun::conformance
