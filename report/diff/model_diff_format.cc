#include "report/diff/model_diff_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/bisect/bisect_words.h"
#include "report/bisect/bisection_json.h"
#include "report/bounded.h"
#include "report/json_text.h"
#include "report/judgement_json.h"
#include "tensor/printable.h"

namespace grurun::report {

namespace {

using Json = nlohmann::ordered_json;
using trial::Difference;
using trial::ModelDiff;
using trial::RunDiff;

/// Lines under one heading.
struct Section {
  std::string heading;
  std::vector<std::vector<std::string>> rows;  // what, a, b; or what alone
};

std::string or_none(const std::string& text) {
  return text.empty() ? "none" : text;
}

Section difference_rows(const char* heading, const std::vector<Difference>& differences) {
  Section out{heading, {}};
  for (const Difference& each : differences)
    out.rows.push_back({each.what, or_none(each.a), or_none(each.b)});
  return out;
}

Section name_rows(const std::string& heading, const std::vector<std::string>& names) {
  Section out{heading, {}};
  for (const std::string& name : names) out.rows.push_back({name});
  return out;
}

std::vector<Section> sections_of(const ModelDiffReport& report) {
  const ModelDiff& diff = report.diff;
  Section weights{fmt::format("weights ({} more are equal)", diff.equal_weights), {}};
  for (const trial::WeightPair& pair : diff.weights)
    weights.rows.push_back({pair.a == pair.b ? pair.a : pair.a + " -> " + pair.b, pair.relation.text});
  std::vector<Section> all{difference_rows("opsets", diff.imports),
                           difference_rows("inputs and outputs", diff.values),
                           difference_rows("attributes", diff.attributes),
                           name_rows("nodes of A alone", diff.only_a),
                           name_rows("nodes of B alone", diff.only_b),
                           std::move(weights),
                           name_rows("weights of A alone", diff.weights_only_a),
                           name_rows("weights of B alone", diff.weights_only_b)};
  std::erase_if(all, [](const Section& section) { return section.rows.empty(); });
  return all;
}

std::string sizes_text(const RunDiff& run) {
  std::string text;
  for (const auto& [name, size] : run.sizes)
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, size);
  return text.empty() ? "the inputs" : text;
}

/// The least tolerance that passes, of the outputs of all runs.
std::string passing_text(const std::vector<RunDiff>& runs) {
  double atol = 0, rtol = 0;
  for (const RunDiff& run : runs)
    for (const trial::OutputDiff& output : run.outputs) {
      if (!output.comparison.structure.empty()) return "no tolerance would pass";
      atol = std::max(atol, output.comparison.headroom.least_atol(output.comparison.tolerance.rtol));
      rtol = std::max(rtol, output.comparison.headroom.least_rtol(output.comparison.tolerance.atol));
    }
  if (atol == 0 && rtol == 0) return "any tolerance passes";
  return fmt::format("the least that passes: atol {:.3g} or rtol {:.3g}", atol, rtol);
}

std::string same_text(const ModelDiffReport& report) {
  if (!report.runs)
    return report.diff.is_empty() ? "the same: no node, attribute or weight differs" : "not the same";
  const auto same = std::ranges::count_if(*report.runs, &RunDiff::is_same);
  const auto all = static_cast<std::ptrdiff_t>(report.runs->size());
  const bool ran = std::ranges::all_of(*report.runs, [](const RunDiff& run) { return run.failed.empty(); });
  return fmt::format("{}: outputs agree in {} of {} runs{}", same == all ? "equivalent" : "not equivalent",
                     same, all, ran ? "; " + passing_text(*report.runs) : "");
}

Section runs_of(const ModelDiffReport& report) {
  Section out{"runs", {}};
  for (const RunDiff& run : report.runs.value_or(std::vector<RunDiff>())) {
    if (!run.failed.empty()) out.rows.push_back({sizes_text(run), run.failed});
    for (const trial::OutputDiff& output : run.outputs)
      out.rows.push_back(
          {fmt::format("{}: output '{}'", sizes_text(run), output.name), trial::describe(output.comparison)});
  }
  if (report.parting) out.rows.push_back({"where they part", first_line(*report.parting)});
  return out;
}

std::string counts(const ModelDiff& diff) {
  return fmt::format("{} nodes in A, {} in B, {} paired; equal weights: {}", diff.nodes_a, diff.nodes_b,
                     diff.paired, diff.equal_weights);
}

std::string table_cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != text.npos; at += 2) text.insert(at, "\\");
  return text;
}

Json differences_json(const std::vector<Difference>& differences) {
  Json out = Json::array();
  for (const Difference& each : differences)
    out.push_back({{"what", each.what}, {"a", each.a}, {"b", each.b}});
  return out;
}

Json one_run_json(const RunDiff& run) {
  Json out{{"sizes", run.sizes}, {"same", run.is_same()}, {"failed", run.failed}, {"outputs", Json::array()}};
  for (const trial::OutputDiff& output : run.outputs) {
    Json row{{"name", output.name}};
    add_comparison(row, output.comparison, false);
    out["outputs"].push_back(std::move(row));
  }
  return out;
}

}  // namespace

int ModelDiffReport::exit_status() const {
  if (runs) return std::ranges::all_of(*runs, &RunDiff::is_same) ? 0 : 1;
  return diff.is_empty() ? 0 : 1;
}

std::string model_diff_text(const ModelDiffReport& report) {
  std::string text = fmt::format("A: {}\nB: {}\n{}\n{}\n", printable(report.a), printable(report.b),
                                 same_text(report), counts(report.diff));
  std::vector<Section> sections = sections_of(report);
  if (report.runs) sections.insert(sections.begin(), runs_of(report));
  for (const Section& section : sections) {
    text += "\n" + section.heading + "\n";
    text += lines_of(
        section.rows,
        [](const std::vector<std::string>& row) {
          std::string line = "  " + printable(row[0]);
          if (row.size() == 2) line += ": " + printable(row[1]);
          if (row.size() == 3)
            line += fmt::format(": {} in A, {} in B", printable(row[1]), printable(row[2]));
          return line + "\n";
        },
        "  ");
  }
  return text;
}

std::string model_diff_markdown(const ModelDiffReport& report) {
  std::string text = fmt::format("# grurun diff {} {}\n\n{}. {}.\n", printable(report.a), printable(report.b),
                                 same_text(report), counts(report.diff));
  std::vector<Section> sections = sections_of(report);
  if (report.runs) sections.insert(sections.begin(), runs_of(report));
  for (const Section& section : sections) {
    const std::size_t columns = section.rows[0].size();
    text += fmt::format("\n## {}\n\n", section.heading);
    text += columns == 3 ? "| | A | B |\n|---|---|---|\n" : columns == 2 ? "| | |\n|---|---|\n" : "";
    text += lines_of(
        section.rows,
        [&](const std::vector<std::string>& row) {
          if (columns == 1) return fmt::format("- {}\n", printable(row[0]));
          std::string line = "|";
          for (const std::string& cell : row) line += fmt::format(" {} |", table_cell(printable(cell)));
          return line + "\n";
        },
        columns == 1 ? "- " : "\n");
  }
  return text;
}

std::string model_diff_json(const ModelDiffReport& report) {
  const ModelDiff& diff = report.diff;
  Json out{{"a", report.a}, {"b", report.b}, {"same_structure", diff.is_empty()}};
  out["nodes"] = {{"a", diff.nodes_a},
                  {"b", diff.nodes_b},
                  {"paired", diff.paired},
                  {"only_a", diff.only_a},
                  {"only_b", diff.only_b}};
  out["opsets"] = differences_json(diff.imports);
  out["values"] = differences_json(diff.values);
  out["attributes"] = differences_json(diff.attributes);
  Json other = Json::array();
  for (const trial::WeightPair& pair : diff.weights)
    other.push_back(
        {{"a", pair.a}, {"b", pair.b}, {"relation", pair.relation.text}, {"same", pair.relation.is_same}});
  out["weights"] = {{"equal", diff.equal_weights},
                    {"other", std::move(other)},
                    {"only_a", diff.weights_only_a},
                    {"only_b", diff.weights_only_b}};
  out["runs"] = nullptr;
  if (report.runs) {
    out["runs"] = Json::array();
    for (const RunDiff& run : *report.runs) out["runs"].push_back(one_run_json(run));
  }
  out["parting"] = report.parting ? bisection_json(*report.parting) : Json();
  return json_text(out);
}

}  // namespace grurun::report
