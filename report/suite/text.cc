#include "report/suite/text.h"

#include "tensor/printable.h"

namespace grurun::report {

std::string one_line(std::string_view text) {
  return printable(text);
}

}  // namespace grurun::report
