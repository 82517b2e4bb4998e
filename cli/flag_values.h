// The small languages of flag values. Every function throws Error(usage) naming the flag and what it takes.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensor/shape.h"
#include "trial/random_values.h"

namespace grurun::cli {

/// "X:[5,2,3]" or "X:5,2,3": a value's name (which may hold colons) and a shape; "X:[]" is a scalar's. The
/// name is empty for "[5,2,3]", the shape of the only one.
std::pair<std::string, Shape> parse_named_shape(const std::string& flag, const std::string& text);

/// Sizes of dimensions by name, from values like "batch=4" and "batch=4,frames=20"; a name may hold commas.
/// A name that is set twice is an error.
std::map<std::string, std::int64_t> parse_dimensions(const std::string& flag,
                                                     const std::vector<std::string>& texts);

/// The same with lists of sizes, "batch=1,3" and "batch=1,3,frames=20".
std::map<std::string, std::vector<std::int64_t>> parse_size_lists(const std::string& flag,
                                                                  const std::vector<std::string>& texts);

/// "7": a whole number from 0 to 2^64 - 1.
std::uint64_t parse_whole(const std::string& flag, const std::string& text);

/// "-1:1" or "X:-1:1"; the ends must be finite and in order.
trial::NamedRange parse_range(const std::string& flag, const std::string& text);

/// A number >= 0 for one name or, with an empty one, for all: "1e-3" or "Y:1e-3".
std::pair<std::string, double> parse_named_number(const std::string& flag, const std::string& text);

/// "512M": bytes, with K, M, G or T for powers of 1024.
std::size_t parse_bytes(const std::string& flag, const std::string& text);

/// "60" or "0.5": the seconds that something may take, less than 1e9; nullopt for 0, no limit.
std::optional<std::chrono::duration<double>> parse_time_limit(const std::string& flag,
                                                              const std::string& text);

}  // namespace grurun::cli
