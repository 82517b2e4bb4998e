#include "conformance/report/text.h"

#include "tensor/printable.h"

namespace grurun::conformance {

std::string one_line(std::string_view text) {
  return printable(text);
}

}  // namespace grurun::conformance
