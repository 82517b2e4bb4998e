#include "onnx_io/models/mend_model.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tensor/interruption.h"

namespace grurun::onnx_io {

namespace {

using ::onnx::GraphProto;
using ::onnx::NodeProto;
using NodeProtos = google::protobuf::RepeatedPtrField<NodeProto>;
using ImportProtos = google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>;
using Names = std::vector<std::string_view>;

std::string shown_node(const NodeProto& node, std::size_t index) {
  const std::string name = node.name().empty() ? fmt::format("{}#{}", node.op_type(), index) : node.name();
  return fmt::format("node '{}' ({})", name, qualified_name(node.domain(), node.op_type()));
}

/// The order in which the nodes of one list can run.
class NodeOrder {
 public:
  /// reads[i]: what node i reads; given: names that the list need not make.
  NodeOrder(const NodeProtos& nodes, const std::vector<Names>& reads,
            const std::unordered_set<std::string_view>& given) {
    std::unordered_map<std::string_view, std::size_t> makers;
    for (int i = 0; i < nodes.size(); ++i) {
      for (const std::string& output : nodes[i].output()) {
        if (!output.empty() && !given.contains(output)) makers.emplace(output, i);
      }
    }
    needs_.resize(reads.size());
    for (std::size_t i = 0; i < reads.size(); ++i) {
      for (const std::string_view name : reads[i]) {
        const auto maker = makers.find(name);
        if (maker == makers.end()) continue;
        needs_[i].push_back(maker->second);
        if (maker->second < i) continue;
        if (early_ == 0) first_ = {i, maker->second, name};
        if (last_early_ != i) ++early_, last_early_ = i;
      }
    }
  }

  struct TooEarly {
    std::size_t node;
    std::size_t maker;  // of what the node needs
    std::string_view name;
  };

  bool is_sorted() const { return early_ == 0; }
  std::size_t early_nodes() const { return early_; }
  const TooEarly& first_early() const { return first_; }

  /// Each node behind those that it needs, and otherwise as they stand; nullopt where some need each other.
  std::optional<std::vector<std::size_t>> sorted() const {
    enum class State : std::uint8_t { waiting, open, placed };
    struct Visit {
      std::size_t node;
      std::size_t next;
    };
    std::vector<State> states(needs_.size(), State::waiting);
    std::vector<std::size_t> order;
    std::vector<Visit> visits;  // no recursion: a chain may have 100,000 nodes
    for (std::size_t root = 0; root < needs_.size(); ++root) {
      if (states[root] == State::waiting) visits.push_back({root, 0});
      while (!visits.empty()) {
        Visit& visit = visits.back();
        states[visit.node] = State::open;
        if (visit.next == needs_[visit.node].size()) {
          states[visit.node] = State::placed;
          order.push_back(visit.node);
          visits.pop_back();
          continue;
        }
        const std::size_t needed = needs_[visit.node][visit.next++];
        if (states[needed] == State::open) return std::nullopt;
        if (states[needed] == State::waiting) visits.push_back({needed, 0});
      }
    }
    return order;
  }

 private:
  std::vector<std::vector<std::size_t>> needs_;
  std::size_t early_ = 0;
  std::size_t last_early_ = static_cast<std::size_t>(-1);
  TooEarly first_{};
};

void rearrange(NodeProtos& nodes, const std::vector<std::size_t>& order) {
  std::vector<NodeProto*> in_order;
  in_order.reserve(order.size());
  for (const std::size_t node : order) in_order.push_back(nodes.pointer_begin()[static_cast<int>(node)]);
  std::copy(in_order.begin(), in_order.end(), nodes.pointer_begin());
}

class Mender {
 public:
  explicit Mender(std::vector<Mended>& done) : done_(done) {}

  /// Returns what the graph reads of those around it.
  Names sort(GraphProto& graph, const std::string& where) {
    std::unordered_set<std::string_view> given;
    for (const auto& input : graph.input()) given.insert(input.name());
    for (const auto& initializer : graph.initializer()) given.insert(initializer.name());
    for (const auto& sparse : graph.sparse_initializer()) given.insert(sparse.values().name());
    Names outer = sort(*graph.mutable_node(), given, where);
    std::unordered_set<std::string_view> made;
    for (const NodeProto& node : graph.node()) made.insert(node.output().begin(), node.output().end());
    std::erase_if(outer, [&](std::string_view name) { return given.contains(name) || made.contains(name); });
    for (const auto& output : graph.output()) {
      if (!given.contains(output.name()) && !made.contains(output.name())) outer.push_back(output.name());
    }
    return outer;
  }

  /// Returns all that the nodes read.
  Names sort(NodeProtos& nodes, const std::unordered_set<std::string_view>& given, const std::string& where) {
    std::vector<Names> reads(static_cast<std::size_t>(nodes.size()));
    for (int i = 0; i < nodes.size(); ++i) reads[static_cast<std::size_t>(i)] = reads_of_message(nodes[i], i);
    const NodeOrder order(nodes, reads, given);
    if (!order.is_sorted()) {
      if (const auto sorted = order.sorted()) {
        tell(nodes, order, where);
        rearrange(nodes, *sorted);
      }
    }
    Names all;
    for (const Names& names : reads) all.insert(all.end(), names.begin(), names.end());
    return all;
  }

  void import_domains(const NodeProtos& nodes, ImportProtos& imports, const std::string& where) {
    std::unordered_set<std::string> used;
    add_domains(nodes, used);
    for (const auto& import : imports) used.erase(canonical_domain(import.domain()));
    for (const auto& [domain, version] : assumed_imports()) {
      if (!used.contains(domain)) continue;
      auto* const import = imports.Add();
      import->set_domain(domain);
      import->set_version(version);
      done_.push_back({Mended::What::import_missing,
                       fmt::format("{} uses operators of {} and does not import it: opset {} was taken, the "
                                   "newest known here; add it to opset_import",
                                   where, domain, version)});
    }
  }

 private:
  Names reads_of_message(NodeProto& node, int index) {
    look_for_interruption();
    Names reads;
    for (const std::string& input : node.input()) {
      if (!input.empty()) reads.emplace_back(input);
    }
    for (auto& attribute : *node.mutable_attribute()) {
      const auto enter = [&](GraphProto& body) {
        const Names outer = sort(body, fmt::format("{} of {}", attribute.name(),
                                                   shown_node(node, static_cast<std::size_t>(index))));
        reads.insert(reads.end(), outer.begin(), outer.end());
      };
      if (attribute.has_g()) enter(*attribute.mutable_g());
      for (GraphProto& body : *attribute.mutable_graphs()) enter(body);
    }
    return reads;
  }

  void tell(const NodeProtos& nodes, const NodeOrder& order, const std::string& where) {
    const NodeOrder::TooEarly& first = order.first_early();
    const auto shown = [&](std::size_t node) { return shown_node(nodes[static_cast<int>(node)], node); };
    const std::string more =
        order.early_nodes() == 1 ? "" : fmt::format(", and {} more come too early", order.early_nodes() - 1);
    done_.push_back(
        {Mended::What::order,
         fmt::format("{}: {} needs '{}', which comes only later, from {}{}: the nodes were sorted to "
                     "run; write them in that order",
                     where, shown(first.node), first.name, shown(first.maker), more)});
  }

  void add_domains(const NodeProtos& nodes, std::unordered_set<std::string>& used) {
    for (const NodeProto& node : nodes) {
      if (!node.domain().empty()) used.insert(canonical_domain(node.domain()));
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_g()) add_domains(attribute.g().node(), used);
        for (const GraphProto& body : attribute.graphs()) add_domains(body.node(), used);
      }
    }
  }

  std::vector<Mended>& done_;
};

void keep_highest(ImportProtos& imports) {
  std::unordered_map<std::string, int> kept;  // where the import of a domain stands
  int count = 0;
  for (int i = 0; i < imports.size(); ++i) {
    const auto [known, is_new] = kept.emplace(canonical_domain(imports[i].domain()), count);
    if (is_new)
      imports.SwapElements(count++, i);
    else if (imports[known->second].version() < imports[i].version())
      imports.SwapElements(known->second, i);
  }
  imports.DeleteSubrange(count, imports.size() - count);
}

}  // namespace

const OpsetImports& assumed_imports() {
  static const OpsetImports imports = {{"ai.onnx.ml", 5}, {"com.microsoft", 1}};
  return imports;
}

void keep_highest_imports(::onnx::ModelProto& model) {
  keep_highest(*model.mutable_opset_import());
  for (auto& function : *model.mutable_functions()) keep_highest(*function.mutable_opset_import());
}

std::vector<Mended> mend_model(::onnx::ModelProto& model) {
  std::vector<Mended> done;
  Mender mender(done);
  mender.sort(*model.mutable_graph(), "the graph");
  mender.import_domains(model.graph().node(), *model.mutable_opset_import(), "the graph");
  for (auto& function : *model.mutable_functions()) {
    const std::string where = fmt::format("function {}.{}", function.domain(), function.name());
    mender.sort(*function.mutable_node(), {function.input().begin(), function.input().end()}, where);
    mender.import_domains(function.node(), *function.mutable_opset_import(), where);
  }
  return done;
}

}  // namespace grurun::onnx_io
