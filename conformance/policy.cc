#include "conformance/policy.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "conformance/expectations.h"
#include "conformance/toml_keys.h"
#include "onnx_io/text_file.h"
#include "tensor/error.h"

namespace grurun::conformance {
namespace {

struct ParserIsLost : std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void parser_is_lost(const char* condition) {
  throw ParserIsLost(condition);
}

}  // namespace
}  // namespace grurun::conformance

// "[&" and "[[[" break what toml++ takes for granted (its issue 294 and change 301): it would abort, or go on
// into undefined behaviour where NDEBUG is defined. So do letters from U+00A1 to U+0499 where a blank may
// stand: they are said to be unreachable among the blanks.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(condition) \
  (static_cast<bool>(condition) ? void() : grurun::conformance::parser_is_lost(#condition))
// clang-format off
#include <toml++/impl/preprocessor.h>
#include <toml++/impl/forward_declarations.h>
#pragma push_macro("TOML_UNREACHABLE")
#undef TOML_UNREACHABLE
#define TOML_UNREACHABLE return false
#include <toml++/impl/unicode.h>
#pragma pop_macro("TOML_UNREACHABLE")
#include <toml++/toml.h>
// clang-format on
#pragma pop_macro("NDEBUG")

namespace grurun::conformance {

namespace {

/// One [[rule]] being read.
class RuleReader {
 public:
  RuleReader(const toml::table& table, const std::string& file)
      : table_(table), place_(fmt::format("{}:{}", file, table.source().begin.line)) {}

  PolicyRule read() {
    PolicyRule rule;
    trial::AccuracyRule& accuracy = rule.accuracy;
    accuracy.place = place_;
    for (const auto& [key, node] : table_) read_key(std::string(key.str()), node, rule);
    if (accuracy.reason.empty()) fail_usage("{}: the rule has no reason; add reason = \"...\"", place_);
    if (!accuracy.has_tolerance() && !accuracy.max_ulp && !accuracy.differing && !accuracy.cosine &&
        !accuracy.snr)
      fail_usage("{}: the rule asks nothing; add one of rtol, atol, max_ulp, differing, cosine and snr",
                 place_);
    if (accuracy.ulp_floor > 0 && !accuracy.max_ulp)
      fail_usage("{}: ulp_floor says where the steps of max_ulp end; there is no max_ulp", place_);
    return rule;
  }

 private:
  void read_key(const std::string& key, const toml::node& node, PolicyRule& rule) {
    trial::AccuracyRule& accuracy = rule.accuracy;
    constexpr double most = std::numeric_limits<double>::max();
    if (key == "case") {
      rule.cases = texts(key, node);
    } else if (key == "operator") {
      rule.operators = texts(key, node);
    } else if (key == "type") {
      rule.types = texts(key, node);
      for (const std::string& type : rule.types) require_type(type, node);
    } else if (key == "output") {
      rule.outputs = texts(key, node);
    } else if (key == "reason") {
      accuracy.reason = texts(key, node).front();
    } else if (key == "rtol") {
      accuracy.tolerance.rtol = number(key, node, 0, most);
    } else if (key == "atol") {
      accuracy.tolerance.atol = number(key, node, 0, most);
    } else if (key == "max_ulp") {
      const auto whole = node.value_exact<std::int64_t>();
      if (!whole || *whole < 0) fail_at(node, "max_ulp is a whole number from 0");
      accuracy.max_ulp = static_cast<std::uint64_t>(*whole);
    } else if (key == "ulp_floor") {
      accuracy.ulp_floor = number(key, node, 0, most);
    } else if (key == "differing") {
      accuracy.differing = number(key, node, 0, 1);
    } else if (key == "cosine") {
      accuracy.cosine = number(key, node, -1, 1);
    } else if (key == "snr") {
      accuracy.snr = number(key, node, -most, most);
    } else {
      fail_at(node,
              fmt::format("a rule has no '{}'; it has case, operator, type, output, rtol, atol, max_ulp, "
                          "ulp_floor, differing, cosine, snr and reason",
                          key));
    }
  }

  [[noreturn]] void fail_at(const toml::node& node, const std::string& text) const {
    const std::string file = place_.substr(0, place_.rfind(':'));
    fail_usage("{}:{}: {}", file, node.source().begin.line, text);
  }

  std::vector<std::string> texts(const std::string& key, const toml::node& node) const {
    std::vector<std::string> out;
    const auto add = [&](const toml::node& text) {
      const auto value = text.value_exact<std::string>();
      if (!value || value->empty()) fail_at(node, fmt::format("{} is a text, or a list of texts", key));
      out.push_back(*value);
    };
    if (const toml::array* list = node.as_array(); list != nullptr && !list->empty() && key != "reason")
      for (const toml::node& text : *list) add(text);
    else
      add(node);
    return out;
  }

  double number(const std::string& key, const toml::node& node, double least, double most) const {
    const auto value = node.is_number() ? node.value<double>() : std::nullopt;
    if (!value || !(*value >= least && *value <= most)) {
      if (most > 1) fail_at(node, fmt::format("{} is a number{}", key, least == 0 ? " from 0" : ""));
      fail_at(node, fmt::format("{} is a number from {:g} to {:g}", key, least, most));
    }
    return *value;
  }

  void require_type(const std::string& type, const toml::node& node) const {
    if (parse_dtype(type) != DType::undefined) return;
    fail_at(node, fmt::format("'{}' is no element type; float16, float, double and int8 are some", type));
  }

  const toml::table& table_;
  const std::string place_;
};

template <typename Matches>
bool any_of_listed(const std::vector<std::string>& listed, const Matches& matches) {
  return listed.empty() || std::ranges::any_of(listed, matches);
}

/// The line up to which the parser does not lose its way in the text, from 1; that it does so is known.
std::size_t line_of_loss(std::string_view text) {
  std::vector<std::size_t> ends;  // of the lines, behind their line breaks
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    at = end == text.npos ? text.size() : end + 1;
    ends.push_back(at);
  }
  const auto is_well_until = [&](std::size_t end) {
    try {
      static_cast<void>(toml::parse(text.substr(0, end)));
    } catch (const toml::parse_error&) {
    } catch (const ParserIsLost&) {
      return false;
    }
    return true;
  };
  return static_cast<std::size_t>(std::ranges::partition_point(ends, is_well_until) - ends.begin()) + 1;
}

}  // namespace

Policy Policy::parse(std::string_view text, const std::string& file) {
  Policy out;
  out.file_ = file;
  out.text_ = text;
  constexpr std::size_t most_dots = 16;  // a policy's keys have none
  if (const auto line = line_of_long_key(text, most_dots))
    fail_usage("{}:{}: the key has more than {} dots; a policy is a list of [[rule]] tables", file, *line,
               most_dots);
  try {
    const toml::table table = toml::parse(text);
    for (const auto& [key, node] : table)
      if (key.str() != "rule" || !node.is_array_of_tables())
        fail_usage("{}:{}: '{}' is not known here; a policy is a list of [[rule]] tables", file,
                   node.source().begin.line, std::string(key.str()));
    if (const toml::array* rules = table["rule"].as_array(); rules != nullptr)
      for (const toml::node& rule : *rules) out.rules_.push_back(RuleReader(*rule.as_table(), file).read());
  } catch (const toml::parse_error& error) {
    fail_usage("{}:{}: {}", file, error.source().begin.line, error.description());
  } catch (const ParserIsLost&) {
    fail_usage("{}:{}: this is no name of a table; a policy is a list of [[rule]] tables", file,
               line_of_loss(text));
  }
  if (out.rules_.empty()) fail_usage("{}: no [[rule]] is in it", file);
  return out;
}

std::shared_ptr<const Policy> Policy::load(const std::string& file) {
  return std::make_shared<const Policy>(parse(onnx_io::read_text_file(file, largest, "a policy"), file));
}

const trial::AccuracyRule* Policy::find(const Case& test, const std::vector<std::string>& operators,
                                        const std::string& output, DType type) const {
  for (const PolicyRule& rule : rules_) {
    const bool decides =
        any_of_listed(rule.cases,
                      [&](const std::string& pattern) { return matches_pattern(test, pattern); }) &&
        any_of_listed(rule.operators,
                      [&](const std::string& name) { return std::ranges::count(operators, name) > 0; }) &&
        any_of_listed(rule.types, [&](const std::string& name) { return parse_dtype(name) == type; }) &&
        any_of_listed(rule.outputs, [&](const std::string& pattern) {
          return fnmatch(pattern.c_str(), output.c_str(), 0) == 0;
        });
    if (decides) return &rule.accuracy;
  }
  return nullptr;
}

void add_used_rules(const CaseResult& result, std::set<std::string>& places) {
  for (const OutputResult& output : result.outputs)
    if (output.comparison.rule) places.insert(output.comparison.rule->place);
}

std::vector<std::string> unused_rules(const Policy& policy, const std::set<std::string>& used) {
  std::vector<std::string> out;
  for (const PolicyRule& rule : policy.rules())
    if (!used.contains(rule.accuracy.place))
      out.push_back(
          fmt::format("{}: the rule decided for no output ({})", rule.accuracy.place, rule.accuracy.reason));
  return out;
}

std::vector<std::string> rules_without_case(const Policy& policy, const std::vector<Case>& cases) {
  std::vector<std::string> out;
  for (const PolicyRule& rule : policy.rules()) {
    const auto is_for = [&](const Case& test) {
      return any_of_listed(rule.cases,
                           [&](const std::string& pattern) { return matches_pattern(test, pattern); });
    };
    if (std::ranges::none_of(cases, is_for))
      out.push_back(
          fmt::format("{}: the rule matches no case ({})", rule.accuracy.place, rule.accuracy.reason));
  }
  return out;
}

}  // namespace grurun::conformance
