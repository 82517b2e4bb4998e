#include <nlohmann/json.hpp>
#include <string_view>

#include "report/suite/html_page.h"
#include "report/suite/suite_format.h"

namespace grurun::report {

std::string html_report(const conformance::SuiteResult& result) {
  constexpr std::string_view place = "@REPORT@";
  const std::string_view page = html_page;
  const std::size_t at = page.find(place);
  const std::string json = nlohmann::ordered_json::parse(json_report(result)).dump();
  std::string out(page.substr(0, at));
  out.reserve(page.size() + json.size());
  // A script ends where its text says so, whatever the JSON around it means.
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out + std::string(page.substr(at + place.size()));
}

}  // namespace grurun::report
