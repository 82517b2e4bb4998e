#include "opset/pages/attribute_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <type_traits>

namespace grurun::opset {

namespace {

using onnx_io::Attribute;
using onnx_io::AttributeType;
using onnx_io::Node;

// Lists that several pages state.
struct NamedList {
  std::string_view name, list;
};

constexpr NamedList named_lists[] = {
    {"$branches", "BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ, LEAF"},
    {"$kernels", "LINEAR, POLY, RBF, SIGMOID"},
    {"$losses", "none, sum, mean"},
    {"$paddings", "NOTSET, SAME_UPPER, SAME_LOWER, VALID"},
    {"$transforms", "NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO, PROBIT"},
};

int number_of(std::string_view digits) {
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

// "mode@19: a, b", "strides >= 1".
StatedValues parsed(std::string_view entry) {
  const std::size_t end = entry.find_first_of(":@ ");
  StatedValues stated{entry.substr(0, end), 1, ""};
  entry.remove_prefix(end);
  if (entry.starts_with('@')) stated.since = number_of(entry.substr(1));
  entry.remove_prefix(entry.find_first_of(": "));
  constexpr std::string_view at_least = " >= ", above = " > ";
  stated.above = entry.starts_with(above);
  if (stated.above || entry.starts_with(at_least)) {
    stated.least = number_of(entry.substr((stated.above ? above : at_least).size()));
    return stated;
  }
  stated.list = entry.substr(2);
  const auto named = std::ranges::find(named_lists, stated.list, &NamedList::name);
  if (named != std::end(named_lists)) stated.list = named->list;
  return stated;
}

bool lists(std::string_view list, std::string_view value) {
  const std::vector<std::string_view> values = split_words(list, ", ");
  return std::ranges::find(values, value) != values.end();
}

std::optional<std::string> unlisted(const std::vector<StatedValues>& page, const Node& node,
                                    const Attribute& attribute, const std::string& value, int since_version) {
  const StatedValues* now = nullptr;
  const StatedValues* later = nullptr;  // the first that lists the value
  for (const StatedValues& stated : page) {
    if (stated.attribute != attribute.name || stated.list.empty()) continue;
    if (stated.since <= since_version)
      now = &stated;
    else if (later == nullptr && lists(stated.list, value))
      later = &stated;
  }
  if (now == nullptr || lists(now->list, value)) return std::nullopt;
  if (value.empty() && attribute.name == "auto_pad") return std::nullopt;
  std::string hint;
  if (later != nullptr)
    hint = fmt::format("; {0}-{1} has it: import opset {1} or newer", node.op_type, later->since);
  const bool number = attribute.type == AttributeType::int_ || attribute.type == AttributeType::ints;
  return fmt::format("{} is {}, but {}-{} knows {}{}", attribute.name, number ? value : "'" + value + "'",
                     node.op_type, since_version, now->list, hint);
}

std::vector<std::string> values_of(const Attribute& attribute) {
  if (attribute.type == AttributeType::string) return {attribute.s};
  if (attribute.type == AttributeType::int_) return {std::to_string(attribute.i)};
  std::vector<std::string> values;
  for (const std::int64_t value : attribute.ints) values.push_back(std::to_string(value));
  return values;
}

// Of lists that are long, as of trees, each value is judged once.
std::optional<std::string> unlisted(const std::vector<StatedValues>& page, const Node& node,
                                    const Attribute& attribute, int since_version) {
  const auto is_of_it = [&](const StatedValues& stated) {
    return stated.attribute == attribute.name && stated.since <= since_version && !stated.list.empty();
  };
  if (std::ranges::none_of(page, is_of_it)) return std::nullopt;
  const std::vector<std::string> others = values_of(attribute);
  std::vector<std::string_view> judged;
  for (const std::string& value : attribute.type == AttributeType::strings ? attribute.strings : others) {
    if (std::ranges::find(judged, value) != judged.end()) continue;
    if (auto fault = unlisted(page, node, attribute, value, since_version)) return fault;
    judged.push_back(value);
  }
  return std::nullopt;
}

// The first number that is below, or no number; "" where there is none.
std::string first_below(const Attribute& attribute, int least, bool above) {
  const auto fits = [=](const auto number) {
    const auto bound = static_cast<std::remove_const_t<decltype(number)>>(least);
    return above ? number > bound : number >= bound;
  };
  const auto in_list = [&](const auto& list) {
    for (const auto number : list) {
      if (!fits(number))
        return fmt::format("holds {}, but must hold numbers {} {}{}", number, above ? "above" : "from", least,
                           above ? "" : " on");
    }
    return std::string();
  };
  const auto alone = [&](const auto number) {
    return fits(number)
               ? std::string()
               : fmt::format("is {}, but must be {} {}", number, above ? "above" : "at least", least);
  };
  switch (attribute.type) {
    case AttributeType::int_:
      return alone(attribute.i);
    case AttributeType::float_:
      return alone(attribute.f);
    case AttributeType::ints:
      return in_list(attribute.ints);
    case AttributeType::floats:
      return in_list(attribute.floats);
    default:
      return "";
  }
}

// Of any operator. 0 says that the type is not stated, which output_dtype may.
bool names_no_type(const Attribute& attribute) {
  static constexpr std::string_view names[] = {"to", "dtype", "output_dtype", "output_datatype"};
  return attribute.type == AttributeType::int_ && attribute.ref_attr_name.empty() &&
         !is_valid_dtype(attribute.i) && std::ranges::find(names, attribute.name) != std::end(names) &&
         !(attribute.i == 0 && attribute.name == "output_dtype");
}

}  // namespace

std::vector<StatedValues> stated_values(const Page& page) {
  std::vector<StatedValues> all;
  for (const std::string_view entry : split_words(page.attributes, "; ")) all.push_back(parsed(entry));
  return all;
}

std::vector<std::string> listed_values(std::string_view domain, std::string_view op_type,
                                       std::string_view attribute, int since_version) {
  const Page* page = find_page(domain, op_type);
  std::string_view list;
  for (const StatedValues& stated : page == nullptr ? std::vector<StatedValues>() : stated_values(*page)) {
    if (stated.attribute == attribute && stated.since <= since_version && !stated.list.empty())
      list = stated.list;
  }
  const std::vector<std::string_view> values = split_words(list, ", ");
  return {values.begin(), values.end()};
}

std::optional<std::string> attribute_value_fault(const Page& page, const Node& node, int since_version) {
  for (const Attribute& attribute : node.attributes)
    if (names_no_type(attribute))
      return fmt::format("{} is {}, which is no element type", attribute.name, attribute.i);
  if (page.attributes.empty() || node.attributes.empty()) return std::nullopt;
  const std::vector<StatedValues> all = stated_values(page);
  for (const Attribute& attribute : node.attributes) {
    if (!attribute.ref_attr_name.empty()) continue;
    if (auto fault = unlisted(all, node, attribute, since_version)) return fault;
  }
  for (const StatedValues& stated : all) {
    if (!stated.list.empty() || stated.since > since_version) continue;
    for (const Attribute& attribute : node.attributes) {
      if (attribute.name != stated.attribute || !attribute.ref_attr_name.empty()) continue;
      const std::string fault = first_below(attribute, stated.least, stated.above);
      if (!fault.empty()) return fmt::format("{} {}", attribute.name, fault);
    }
  }
  return std::nullopt;
}

}  // namespace grurun::opset
