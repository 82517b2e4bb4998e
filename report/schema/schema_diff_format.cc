#include "report/schema/schema_diff_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/json_text.h"

namespace grurun::report {

namespace {

using nlohmann::ordered_json;
using opset::ChangeKind;
using opset::SchemaChange;
using opset::SchemaDiff;
using opset::SchemaInfo;

constexpr const char* text_note =
    "the operator's text differs too: a schema does not show every change of meaning, read both";

const char* verdict(bool breaking) {
  return breaking ? "breaking" : "not breaking";
}

char sign(ChangeKind kind) {
  return kind == ChangeKind::added ? '+' : kind == ChangeKind::removed ? '-' : '~';
}

std::string subject(const SchemaChange& change) {
  return change.part + " " + change.name;
}

std::string described(const SchemaChange& change) {
  return change.what.empty() ? subject(change) : fmt::format("{}: {}", subject(change), change.what);
}

std::string versions(const SchemaDiff& diff) {
  return fmt::format("{} -> {}", diff.from->since_version, diff.to->since_version);
}

std::string change_lines(const SchemaDiff& diff, const char* indent) {
  std::string text;
  for (const SchemaChange& change : diff.changes) {
    text += fmt::format("{}{} {}\n{}    {}: {}\n", indent, sign(change.kind), described(change), indent,
                        verdict(change.breaking), change.reason);
  }
  return text;
}

// "opset 13 means GRU-7" where the number asked for is not the version's own.
std::string opset_notes(const DiffView& view) {
  std::string text;
  const auto note = [&](std::int64_t opset_version, const SchemaInfo& schema) {
    if (opset_version == schema.since_version) return;
    text += fmt::format("  opset {} means {}-{}\n", opset_version, schema.name, schema.since_version);
  };
  note(view.from_opset, *view.diff.from);
  note(view.to_opset, *view.diff.to);
  if (!view.between.empty()) text += fmt::format("  versions between: {}\n", fmt::join(view.between, ", "));
  return text;
}

ordered_json json_of(const SchemaDiff& diff) {
  ordered_json out = {{"name", diff.to->name},
                      {"domain", onnx_io::shown_domain(diff.to->domain)},
                      {"from", diff.from->since_version},
                      {"to", diff.to->since_version},
                      {"breaking", diff.breaking()},
                      {"changes", ordered_json::array()},
                      {"text_changed", diff.text_changed}};
  for (const SchemaChange& change : diff.changes) {
    out["changes"].push_back({{"part", change.part},
                              {"name", change.name},
                              {"change", opset::change_name(change.kind)},
                              {"what", change.what},
                              {"breaking", change.breaking},
                              {"reason", change.reason}});
  }
  return out;
}

ordered_json json_of(const std::vector<const SchemaInfo*>& schemas) {
  ordered_json list = ordered_json::array();
  for (const SchemaInfo* schema : schemas) {
    list.push_back({{"name", schema->name}, {"since_version", schema->since_version}});
  }
  return list;
}

std::string names(const std::vector<const SchemaInfo*>& schemas) {
  std::vector<std::string> list;
  for (const SchemaInfo* schema : schemas)
    list.push_back(fmt::format("{}-{}", schema->name, schema->since_version));
  return list.empty() ? "none" : fmt::format("{}", fmt::join(list, ", "));
}

// A cell of a table ends at '|'.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::size_t breaking_count(const OpsetDiffView& view) {
  return static_cast<std::size_t>(
      std::ranges::count_if(view.diff.changed, [](const SchemaDiff& diff) { return diff.breaking(); }));
}

}  // namespace

std::string diff_text(const DiffView& view) {
  const SchemaDiff& diff = view.diff;
  std::string text =
      fmt::format("{}, domain {}: {}, {}\n", diff.to->name, onnx_io::shown_domain(diff.to->domain),
                  versions(diff), verdict(diff.breaking()));
  text += opset_notes(view);
  if (diff.from == diff.to) return text + "  the same version\n";
  text += change_lines(diff, "  ");
  if (diff.changes.empty()) text += "  no change of the schema\n";
  if (diff.text_changed) text += fmt::format("  {}\n", text_note);
  return text;
}

std::string diff_json(const DiffView& view) {
  return json_text(json_of(view.diff));
}

std::string diff_markdown(const DiffView& view) {
  const SchemaDiff& diff = view.diff;
  std::string text =
      fmt::format("## {} {}\n\nDomain {}. **{}**.\n", diff.to->name, versions(diff),
                  onnx_io::shown_domain(diff.to->domain), diff.breaking() ? "Breaking" : "Not breaking");
  if (!diff.changes.empty()) text += "\n| change | of | what | breaking | reason |\n|---|---|---|---|---|\n";
  for (const SchemaChange& change : diff.changes) {
    text +=
        fmt::format("| {} | {} | {} | {} | {} |\n", opset::change_name(change.kind), cell(subject(change)),
                    cell(change.what), change.breaking ? "yes" : "no", cell(change.reason));
  }
  if (diff.text_changed) text += fmt::format("\nNote: {}.\n", text_note);
  return text;
}

std::string opset_diff_text(const OpsetDiffView& view) {
  std::string text =
      fmt::format("{}: opset {} -> {}\n", onnx_io::shown_domain(view.domain), view.from, view.to);
  text += fmt::format("  added ({}): {}\n", view.diff.added.size(), names(view.diff.added));
  text += fmt::format("  deprecated ({}): {}\n", view.diff.deprecated.size(), names(view.diff.deprecated));
  text += fmt::format("  removed ({}): {}\n", view.diff.removed.size(), names(view.diff.removed));
  text +=
      fmt::format("  changed ({}, {} of them breaking):\n", view.diff.changed.size(), breaking_count(view));
  for (const SchemaDiff& diff : view.diff.changed) {
    text += fmt::format("    {} {}, {}\n", diff.to->name, versions(diff), verdict(diff.breaking()));
    for (const SchemaChange& change : diff.changes) {
      text += fmt::format("      {} {}{}\n", sign(change.kind), described(change),
                          change.breaking ? " (breaking)" : "");
    }
  }
  return text;
}

std::string opset_diff_json(const OpsetDiffView& view) {
  ordered_json changed = ordered_json::array();
  for (const SchemaDiff& diff : view.diff.changed) changed.push_back(json_of(diff));
  return json_text(ordered_json{{"domain", onnx_io::shown_domain(view.domain)},
                                {"from", view.from},
                                {"to", view.to},
                                {"added", json_of(view.diff.added)},
                                {"changed", std::move(changed)},
                                {"deprecated", json_of(view.diff.deprecated)},
                                {"removed", json_of(view.diff.removed)}});
}

std::string opset_diff_markdown(const OpsetDiffView& view) {
  std::string text =
      fmt::format("# {}, opset {} to {}\n\n", onnx_io::shown_domain(view.domain), view.from, view.to);
  text += fmt::format("- Added: {}\n- Deprecated: {}\n- Removed: {}\n- Changed: {}, {} of them breaking\n",
                      names(view.diff.added), names(view.diff.deprecated), names(view.diff.removed),
                      view.diff.changed.size(), breaking_count(view));
  if (!view.diff.changed.empty())
    text += "\n| operator | versions | breaking | changes |\n|---|---|---|---|\n";
  for (const SchemaDiff& diff : view.diff.changed) {
    std::vector<std::string> changes;
    for (const SchemaChange& change : diff.changes) {
      changes.push_back(fmt::format("{} {}", opset::change_name(change.kind), described(change)));
    }
    text += fmt::format("| {} | {} | {} | {} |\n", diff.to->name, versions(diff),
                        diff.breaking() ? "yes" : "no", cell(fmt::format("{}", fmt::join(changes, "; "))));
  }
  return text;
}

}  // namespace grurun::report
