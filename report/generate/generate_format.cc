#include "report/generate/generate_format.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/bounded.h"
#include "report/counted.h"
#include "report/json_text.h"
#include "tensor/printable.h"

namespace grurun::report {

namespace {

std::string frozen_text(const trial::FrozenSize& frozen) {
  std::string text = fmt::format("frozen: {} cannot be {}", printable(frozen.dimension), frozen.size);
  if (!frozen.node.empty()) text += ": " + printable(frozen.node);
  if (!frozen.constant.empty()) text += fmt::format(" reads the constant {}", printable(frozen.constant));
  return text + fmt::format("\n  {}\n", printable(frozen.message));
}

}  // namespace

std::string generate_text(const GenerateReport& report) {
  std::string text;
  for (const trial::GeneratedSet& set : report.generated.sets) {
    text += fmt::format("{}: seed {}", set.name, set.seed);
    for (const auto& [name, size] : set.sizes) text += fmt::format(", {}={}", printable(name), size);
    text += "\n";
    text += lines_of(
        set.inputs, [](const std::string& input) { return fmt::format("  {}\n", printable(input)); }, "  ");
  }
  text += lines_of(report.generated.frozen, frozen_text);
  return text + fmt::format("{}: {} of {}\n", printable(report.folder),
                            counted(report.generated.sets.size(), "data set"), printable(report.model));
}

std::string generate_json(const GenerateReport& report) {
  nlohmann::ordered_json out{{"model", report.model}, {"folder", report.folder}};
  out["data_sets"] = nlohmann::ordered_json::array();
  for (const trial::GeneratedSet& set : report.generated.sets)
    out["data_sets"].push_back(
        {{"name", set.name}, {"seed", set.seed}, {"sizes", set.sizes}, {"inputs", set.inputs}});
  out["frozen"] = nlohmann::ordered_json::array();
  for (const trial::FrozenSize& frozen : report.generated.frozen)
    out["frozen"].push_back({{"dimension", frozen.dimension},
                             {"size", frozen.size},
                             {"node", frozen.node},
                             {"constant", frozen.constant},
                             {"message", frozen.message}});
  return json_text(out);
}

}  // namespace grurun::report
