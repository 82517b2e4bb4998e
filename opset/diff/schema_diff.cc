#include "opset/diff/schema_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "opset/diff/meaning_changes.h"
#include "opset/diff/schema_changes.h"
#include "opset/schema/schema_store.h"

namespace grurun::opset {

namespace {

void diff_flag(const char* name, bool before, bool after, const char* gained, const char* lost,
               SchemaChanges& changes) {
  if (before == after) return;
  changes.add("operator", name, after ? ChangeKind::added : ChangeKind::removed, "", false,
              after ? gained : lost);
}

void diff_properties(const SchemaInfo& from, const SchemaInfo& to, SchemaChanges& changes) {
  if (from.deprecated != to.deprecated) {
    changes.add(
        "operator", "deprecation", to.deprecated ? ChangeKind::added : ChangeKind::removed, "", to.deprecated,
        to.deprecated ? "a model may not use a deprecated operator" : "the operator may be used again");
  }
  diff_flag("shape inference", from.has_shape_inference, to.has_shape_inference,
            "shapes of outputs are found before a run", "shapes of outputs show at run time only", changes);
  diff_flag("function body", from.has_function_body, to.has_function_body,
            "a runtime without a kernel can run the body",
            "a runtime needs a kernel now; the node means the same", changes);
  if (from.experimental != to.experimental) {
    changes.add("operator", "experimental", to.experimental ? ChangeKind::added : ChangeKind::removed, "",
                false, "it says how stable the operator is");
  }
}

void diff_meanings(const SchemaInfo& from, const SchemaInfo& to, SchemaChanges& changes) {
  for (const MeaningChange& change : all_meaning_changes()) {
    if (change.op_type != from.name || change.domain != from.domain) continue;
    const bool had = from.since_version >= change.since;
    const bool has = to.since_version >= change.since;
    if (had == has) continue;
    const std::string_view reason = has ? change.up : change.down;
    changes.add(
        std::string(change.part), std::string(change.name), ChangeKind::changed,
        fmt::format("{} -> {}", has ? change.before : change.after, has ? change.after : change.before),
        !reason.empty(), std::string(reason.empty() ? "what nodes have stays valid" : reason));
  }
}

// Letters and digits of a text: what formatting leaves alone.
std::string bare(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) out += c;
  }
  return out;
}

bool texts_differ(const SchemaInfo& from, const SchemaInfo& to) {
  bool same = bare(from.doc) == bare(to.doc);
  for (const AttributeInfo& before : from.attributes) {
    const auto after = std::ranges::find(to.attributes, before.name, &AttributeInfo::name);
    same = same && (after == to.attributes.end() || bare(before.description) == bare(after->description));
  }
  const auto same_texts = [](const auto& before, const auto& after) {
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
      if (bare(before[i].description) != bare(after[i].description)) return false;
    }
    return true;
  };
  return !same || !same_texts(from.inputs, to.inputs) || !same_texts(from.outputs, to.outputs);
}

}  // namespace

bool SchemaDiff::breaking() const {
  return std::ranges::any_of(changes, &SchemaChange::breaking);
}

SchemaDiff diff_schemas(const SchemaInfo& from, const SchemaInfo& to) {
  SchemaChanges changes;
  diff_properties(from, to, changes);
  diff_attributes(from, to, changes);
  diff_parameters(from, to, changes);
  diff_meanings(from, to, changes);
  return {&from, &to, changes.take(), texts_differ(from, to)};
}

const char* change_name(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::added:
      return "added";
    case ChangeKind::removed:
      return "removed";
    case ChangeKind::changed:
      break;
  }
  return "changed";
}

OpsetDiff diff_opsets(const std::string& domain, std::int64_t from, std::int64_t to) {
  OpsetDiff diff;
  for (const OperatorName& name : operator_names()) {
    if (name.domain != domain) continue;
    const SchemaInfo* before = find_schema(name.op_type, domain, from);
    const SchemaInfo* after = find_schema(name.op_type, domain, to);
    if (before == after) continue;
    // A deprecated operator is none that a model may use: it comes, changes and goes unseen.
    const bool had = before != nullptr && !before->deprecated;
    const bool has = after != nullptr && !after->deprecated;
    if (had && has) {
      diff.changed.push_back(diff_schemas(*before, *after));
    } else if (has) {
      diff.added.push_back(after);
    } else if (had) {
      if (after == nullptr) {
        diff.removed.push_back(before);
      } else {
        diff.deprecated.push_back(after);
      }
    }
  }
  return diff;
}

}  // namespace grurun::opset
