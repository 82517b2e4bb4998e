#include "report/model/inspect_list.h"

#include "report/json_text.h"
#include "report/read_json.h"

namespace grurun::report {

std::string inspect_list_text(const std::vector<InspectedFile>& files) {
  std::string out;
  for (const InspectedFile& file : files)
    if (file.failure.empty()) out += (out.empty() ? "" : "\n") + file.text;
  return out;
}

std::string inspect_list_json(const std::vector<InspectedFile>& files) {
  using nlohmann::ordered_json;
  ordered_json models = ordered_json::array();
  for (const InspectedFile& file : files)
    models.push_back(file.failure.empty() ? parse_json<ordered_json>(file.json)
                                          : ordered_json{{"path", file.path}, {"failure", file.failure}});
  return json_text(ordered_json{{"models", std::move(models)}});
}

}  // namespace grurun::report
