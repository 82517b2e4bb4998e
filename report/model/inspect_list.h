// What `grurun inspect` prints of many models.
#pragma once

#include <string>
#include <vector>

namespace grurun::report {

/// One of them, as inspect_text and inspect_json print it alone.
struct InspectedFile {
  std::string path;
  std::string failure;  // why it could not be read; empty when it was
  std::string text;
  std::string json;
};

/// One after the other, an empty line between. What could not be read is left out.
std::string inspect_list_text(const std::vector<InspectedFile>& files);

/// {"models": [...]}, each as inspect_json has it, or {"path", "failure"}.
std::string inspect_list_json(const std::vector<InspectedFile>& files);

}  // namespace grurun::report
