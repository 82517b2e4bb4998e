#include <gtest/gtest.h>

#include "tests/engine/ops/math/op_table.h"

namespace grurun::engine::testing {
namespace {

Tensor strings(Shape shape, const std::vector<std::string>& values) {
  return Tensor::from<std::string>(std::move(shape), values);
}
Tensor strings(const std::vector<std::string>& values) {
  return strings(Shape{static_cast<std::int64_t>(values.size())}, values);
}
Tensor flags(const std::vector<bool>& values) {
  return Tensor::from<bool>(Shape{static_cast<std::int64_t>(values.size())}, values);
}

TEST(StringConcat, Broadcasting) {
  check_rows({
      {"alike", "StringConcat", 20, {strings({"a", ""}), strings({"b", "c"})}, {}, {strings({"ab", "c"})}},
      {"a scalar after a matrix",
       "StringConcat",
       20,
       {strings({2, 2}, {"a", "b", "c", "d"}), strings({}, {"\u00e9"})},
       {},
       {strings({2, 2}, {"a\u00e9", "b\u00e9", "c\u00e9", "d\u00e9"})}},
      {"both ways",
       "StringConcat",
       20,
       {strings({2, 1}, {"a", "b"}), strings({1, 2}, {"1", "2"})},
       {},
       {strings({2, 2}, {"a1", "a2", "b1", "b2"})}},
      {"nothing", "StringConcat", 20, {strings({0, 2}, {}), strings({"x"})}, {}, {strings({0, 2}, {})}},
  });
  check_errors({{"shapes that do not combine",
                 "StringConcat",
                 20,
                 {strings({"a", "b"}), strings({"a", "b", "c"})},
                 {},
                 ErrorKind::invalid_model,
                 "[2]"}});
}

TEST(StringSplit, AtDelimiters) {
  const auto row = [](const char* name, std::vector<std::string> x, Attributes attributes, Shape shape,
                      const std::vector<std::string>& y, const std::vector<double>& counts) {
    const Tensor texts = strings(x);
    return OpRowCase{
        name,    "StringSplit",         20,
        {texts}, std::move(attributes), {strings(std::move(shape), y), vec<std::int64_t>(counts)}};
  };
  check_rows({
      row("padded to the longest", {"a,b", "c"}, {attr("delimiter", ",")}, {2, 2}, {"a", "b", "c", ""},
          {2, 1}),
      row("neighbours delimit nothing", {",a,,"}, {attr("delimiter", ",")}, {1, 4}, {"", "a", "", ""}, {4}),
      row("no occurrence", {""}, {attr("delimiter", ",")}, {1, 1}, {""}, {1}),
      row("not overlapping", {"aaaaa"}, {attr("delimiter", "aa")}, {1, 3}, {"", "", "a"}, {3}),
      row("of several bytes", {"1\u20ac2"}, {attr("delimiter", "\u20ac")}, {1, 2}, {"1", "2"}, {2}),
      row("the rest whole", {"a,b,c"}, {attr("delimiter", ","), attr("maxsplit", 1)}, {1, 2}, {"a", "b,c"},
          {2}),
      row("no split", {"a,b"}, {attr("delimiter", ","), attr("maxsplit", 0)}, {1, 1}, {"a,b"}, {1}),
      row("no limit", {"a,b"}, {attr("delimiter", ","), attr("maxsplit", -1)}, {1, 2}, {"a", "b"}, {2}),
  });
}

TEST(StringSplit, AtWhitespace) {
  const auto row = [](const char* name, const std::string& x, Attributes attributes,
                      const std::vector<std::string>& y) {
    const auto n = static_cast<std::int64_t>(y.size());
    return OpRowCase{name,
                     "StringSplit",
                     20,
                     {strings({x})},
                     std::move(attributes),
                     {strings({1, n}, y), vec<std::int64_t>({static_cast<double>(n)})}};
  };
  check_rows({
      row("runs are one", " \t a\r\nb\v\fc ", {}, {"a", "b", "c"}),
      row("the empty delimiter", "a b", {attr("delimiter", "")}, {"a", "b"}),
      row("Unicode's", "a\u00a0\u2003b\u3000c\u0085d\u2029e\u205ff\u1680g\u2028h\u202fi", {},
          {"a", "b", "c", "d", "e", "f", "g", "h", "i"}),
      row("characters that only share bytes with it", "\u00e0\u2010\u3001\u20ac", {},
          {"\u00e0\u2010\u3001\u20ac"}),
      row("bytes that are no UTF-8", "\xe2\x80 \xff", {}, {"\xe2\x80", "\xff"}),
      row("nothing", " ", {}, {}),
      row("the rest, without what trails it", " a  b c  ", {attr("maxsplit", 1)}, {"a", "b c"}),
      row("no split", " a b ", {attr("maxsplit", 0)}, {"a b"}),
  });
  check_rows({{"no element",
               "StringSplit",
               20,
               {strings({2, 0}, {})},
               {},
               {strings({2, 0, 0}, {}), make<std::int64_t>({2, 0}, {})}}});
}

TEST(RegexFullMatch, WholeTexts) {
  check_rows({
      {"not a part",
       "RegexFullMatch",
       20,
       {strings({"ab", "abc", "", "aab"})},
       {attr("pattern", "a+b")},
       {flags({true, false, false, true})}},
      {"characters, not bytes",
       "RegexFullMatch",
       20,
       {strings({"\u00e9", "\u20ac", "ab"})},
       {attr("pattern", ".")},
       {flags({true, true, false})}},
      {"of the empty text",
       "RegexFullMatch",
       20,
       {strings({"", "a"})},
       {attr("pattern", "")},
       {flags({true, false})}},
      {"linear in the text",
       "RegexFullMatch",
       20,
       {strings({std::string(1, 'b').insert(0, 100'000, 'a')})},
       {attr("pattern", "(a*)*c")},
       {flags({false})}},
      {"no element", "RegexFullMatch", 20, {strings({0}, {})}, {attr("pattern", "x")}, {flags({})}},
  });
  const auto refused = [](const char* name, const std::string& pattern, ErrorKind kind, const char* text) {
    return OpErrorCase{name, "RegexFullMatch", 20, {strings({"a"})}, {attr("pattern", pattern.c_str())}, kind,
                       text};
  };
  std::string huge;
  for (int i = 0; i < 40; ++i) huge += "\\pL{1000}";
  check_errors({
      refused("unbalanced", "(a", ErrorKind::invalid_model, "missing )"),
      refused("not of RE2", "(?=a)", ErrorKind::invalid_model, "RE2"),
      refused("repeated too often", "((a{1,1000}){1,1000})", ErrorKind::invalid_model, "repetition"),
      refused("too large", huge, ErrorKind::limit, "simplify"),
      {"no pattern", "RegexFullMatch", 20, {strings({"a"})}, {}, ErrorKind::invalid_model, "'pattern'"},
  });
}

OpRowCase normalized(const char* name, const std::vector<std::string>& x, Attributes attributes,
                     const std::vector<std::string>& y) {
  return {name, "StringNormalizer", 10, {strings(x)}, std::move(attributes), {strings(y)}};
}

TEST(StringNormalizer, StopWords) {
  const onnx_io::Attribute words = attr("stopwords", std::vector<std::string>{"the", "\u00c9t\u00e9"});
  check_rows({
      normalized("left as they are", {"The", "a b", ""}, {}, {"The", "a b", ""}),
      normalized("in any case by default", {"THE", "other", "\u00e9t\u00c9"}, {words}, {"other"}),
      normalized("in their own case", {"THE", "the"}, {words, attr("is_case_sensitive", 1)}, {"THE"}),
      normalized("compared before their case changes", {"THE", "The", "the"},
                 {words, attr("is_case_sensitive", 1), attr("case_change_action", "LOWER")}, {"the", "the"}),
      normalized("whole elements only", {"the end"}, {words}, {"the end"}),
      normalized("nothing left", {"the", "The"}, {words}, {""}),
      {"nothing left of a row",
       "StringNormalizer",
       10,
       {strings({1, 1}, {"the"})},
       {words},
       {strings({1, 1}, {""})}},
      {"a row",
       "StringNormalizer",
       10,
       {strings({1, 3}, {"a", "the", "b"})},
       {words},
       {strings({1, 2}, {"a", "b"})}},
      normalized("nothing given", {}, {}, {""}),
  });
}

TEST(StringNormalizer, Case) {
  const auto changed = [](const char* action, const char* locale) {
    return Attributes{attr("case_change_action", action), attr("locale", locale)};
  };
  check_rows({
      normalized("Latin, Greek, Cyrillic, Deseret", {"a\u00e9\u03c9\u0436\U00010428"},
                 changed("UPPER", "en_US"), {"A\u00c9\u03a9\u0416\U00010400"}),
      normalized("and back", {"A\u00c9\u03a9\u0416\U00010400"}, changed("LOWER", "de-DE"),
                 {"a\u00e9\u03c9\u0436\U00010428"}),
      normalized("what has no single counterpart stays", {"stra\u00dfe \ufb01 \u4e2d 1"},
                 changed("UPPER", "de_DE.UTF-8"), {"STRA\u00dfE \ufb01 \u4e2d 1"}),
      normalized("alternating ranges", {"\u0100\u0101\u0178\u00ff\u0130"}, changed("LOWER", ""),
                 {"\u0101\u0101\u00ff\u00ffi"}),
      normalized("the Turkish i", {"iI\u0131\u0130"}, changed("UPPER", "tr_TR"), {"\u0130II\u0130"}),
      normalized("the Turkish I", {"iI\u0131\u0130"}, changed("LOWER", "tr"), {"i\u0131\u0131i"}),
      normalized("ASCII only", {"a\u00e9"}, changed("UPPER", "C"), {"A\u00e9"}),
      normalized("C with Unicode", {"a\u00e9"}, changed("UPPER", "C.utf8"), {"A\u00c9"}),
      normalized("bytes that are no UTF-8, unchanged", {"\xff"}, {}, {"\xff"}),
  });
  const auto refused = [](const char* name, Shape shape, const std::string& x, Attributes attributes,
                          ErrorKind kind, const char* text) {
    return OpErrorCase{
        name, "StringNormalizer", 10, {strings(std::move(shape), {x})}, std::move(attributes), kind, text};
  };
  check_errors({
      refused("no UTF-8", {1}, "\xc3", changed("UPPER", "en_US"), ErrorKind::invalid_model, "UTF-8"),
      refused("another character set", {1}, "a", changed("UPPER", "en_US.ISO-8859-1"), ErrorKind::unsupported,
              "ISO-8859-1"),
      refused("no locale", {1}, "a", changed("UPPER", "English_United States"), ErrorKind::unsupported,
              "English"),
      refused("no action", {1}, "a", changed("TITLE", "C"), ErrorKind::invalid_model, "TITLE"),
      refused("a scalar", {}, "a", {}, ErrorKind::invalid_model, "[C]"),
      refused("a cube", {1, 1, 1}, "a", {}, ErrorKind::invalid_model, "[1,1,1]"),
  });
}

}  // namespace
}  // namespace grurun::engine::testing
