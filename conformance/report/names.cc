#include "conformance/report/names.h"

#include <unordered_map>

namespace grurun::conformance {

std::vector<std::string> name_endings(const std::vector<Case>& cases) {
  std::unordered_map<std::string, std::size_t> holders;
  for (const Case& test : cases) ++holders[test.full_name()];
  std::vector<std::string> endings;
  for (const Case& test : cases)
    endings.push_back(holders[test.full_name()] > 1 ? " (" + test.path + ")" : "");
  return endings;
}

}  // namespace grurun::conformance
