// Upper and lower case of UTF-8 text.
#pragma once

#include <string>

namespace grurun::engine {

enum class LetterCase { upper, lower };

/// Letters change one by one, as Unicode's simple case mapping says, which is the same on every machine:
/// "ß" has no capital of its own and stays. A locale alters that in two ways: "C" and "POSIX" know the
/// letters of ASCII only, and Turkish and Azerbaijani pair i with U+0130 and I with U+0131.
class CaseMapping {
 public:
  /// A locale as POSIX spells it, language[_TERRITORY][.UTF-8][@modifier], or with a hyphen, en-US; "" is
  /// en_US. Throws Error(unsupported) for a name of another form and for another character set.
  explicit CaseMapping(const std::string& locale);

  /// The text in this case. Throws Error(invalid_model) for text that is not well-formed UTF-8.
  std::string convert(const std::string& text, LetterCase to) const;

 private:
  char32_t convert(char32_t letter, LetterCase to) const;

  bool ascii_only_ = false;
  bool dotted_i_ = false;
};

}  // namespace grurun::engine
