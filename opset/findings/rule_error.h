// A refusal by a rule of the table, as a run throws it.
#pragma once

#include <string>

#include "tensor/error.h"

namespace grurun::opset {

/// Its message is the sentence that a check would print, and the rule's code: "... [GRU027]".
class RuleError final : public Error {
 public:
  RuleError(const std::string& sentence, std::string code)
      : Error(ErrorKind::invalid_model, fmt::format("{} [{}]", sentence, code)),
        sentence_(sentence),
        code_(std::move(code)) {}

  const std::string& sentence() const { return sentence_; }
  const std::string& code() const { return code_; }

 private:
  std::string sentence_;
  std::string code_;
};

}  // namespace grurun::opset
