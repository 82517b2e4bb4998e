#include "report/suite/names.h"

#include <unordered_map>

namespace grurun::report {

std::vector<std::string> name_endings(const std::vector<conformance::Case>& cases) {
  std::unordered_map<std::string, std::size_t> holders;
  for (const conformance::Case& test : cases) ++holders[test.full_name()];
  std::vector<std::string> endings;
  for (const conformance::Case& test : cases)
    endings.push_back(holders[test.full_name()] > 1 ? " (" + test.path + ")" : "");
  return endings;
}

}  // namespace grurun::report
