#include "opset/cells/found_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "onnx_io/models/walk.h"
#include "opset/cells/cell_chains.h"
#include "opset/cells/loop_steps.h"
#include "opset/cells/term_reader.h"
#include "opset/findings/labels.h"

namespace grurun::opset {

namespace {

using onnx_io::Graph;
using onnx_io::Node;

std::optional<std::int64_t> last_dim(const std::string& name, const std::map<std::string, ValueType>& types) {
  const auto found = types.find(name);
  if (found == types.end() || !found->second.shape || found->second.shape->empty()) return std::nullopt;
  return found->second.shape->back().value;
}

class Finder {
 public:
  explicit Finder(const std::map<std::string, ValueType>& types) : types_(types) {}

  void search(const Graph& graph, const std::string& path) {
    search(graph, GraphView(graph, nullptr, &types_), path, true);
  }

  std::vector<FoundCells> take() {
    std::unordered_map<std::string, FoundCells*> single;  // by what a pair has in common, and the direction
    for (FoundCells& cells : found_) {
      if (cells.direction.empty() || cells.source.empty()) continue;
      const auto other = single.find(likeness(cells, cells.direction == "forward" ? "reverse" : "forward"));
      if (other == single.end() || !other->second->pair_of.empty()) {
        single[likeness(cells, cells.direction)] = &cells;
        continue;
      }
      cells.pair_of = other->second->where;
      other->second->pair_of = cells.where;
    }
    return std::move(found_);
  }

 private:
  void search(const Graph& graph, const GraphView& view, const std::string& path, bool main) {
    for (const CellChain& chain : find_chains(graph, view, main)) describe_chain(chain, graph, path, main);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      const std::string name = path + "/" + node_name(node.name, node.op_type, i);
      onnx_io::for_each_body(node, [&](const Graph& body, const onnx_io::Attribute& attribute) {
        const bool repeated = attribute.name == "body" && node.domain.empty();
        const bool loop = repeated && node.op_type == "Loop";
        const GraphView inner = loop ? GraphView::of_loop(node, body, view) : GraphView(body, &view);
        search(body, inner, name + "." + attribute.name, false);
        if (loop) search_loop({node, body, view, inner}, name, main);
        if (repeated && node.op_type == "Scan") search_scan(node, body, inner, name, main);
      });
    }
  }

  static std::string likeness(const FoundCells& cells, const std::string& direction) {
    return fmt::format("{} {} {} {} {} {} {}", direction, cells.kind, cells.op_type, cells.steps.value_or(-1),
                       cells.hidden_size.value_or(-1), cells.linear_before_reset.value_or(false),
                       cells.source);
  }

  void describe_chain(const CellChain& chain, const Graph& graph, const std::string& path, bool main) {
    const CellStep& first = chain.steps.front();
    const Node& node = graph.nodes[chain.first_node];
    FoundCells cells =
        describe(first, "unrolled", path + "/" + node_name(node.name, node.op_type, chain.first_node));
    if (main) complete_sizes(first, first.h_next, cells);
    cells.steps = static_cast<std::int64_t>(chain.steps.size());
    cells.direction = direction_of(chain.steps);
    found_.push_back(std::move(cells));
  }

  static FoundCells describe(const CellStep& cell, const char* kind, const std::string& where) {
    FoundCells cells;
    cells.kind = kind;
    cells.where = where;
    cells.op_type = cell.op_type;
    cells.activations = cell.activations;
    cells.linear_before_reset = cell.linear_before_reset;
    cells.gate_order = cell.gate_order;
    cells.masked = cell.masked;
    cells.complement = cell.complement;
    cells.weight = cell.weight;
    cells.source = cell.input_source;
    const auto gates = static_cast<std::int64_t>(cell.gate_order.size());
    if (!cell.joined) {
      cells.hidden_size = cell.summed;
      cells.input_size = cell.input_size;
    } else if (gates > 0 && cell.width && *cell.width % gates == 0) {
      cells.hidden_size = *cell.width / gates;
      complete_joined(cell, cells);
    }
    return cells;
  }

  // Where state and input are multiplied together, what is not the state is the input.
  static void complete_joined(const CellStep& cell, FoundCells& cells) {
    if (cell.joined && cells.hidden_size && cell.summed && *cell.summed >= *cells.hidden_size)
      cells.input_size = *cell.summed - *cells.hidden_size;
  }

  // From the state's type.
  void complete_sizes(const CellStep& cell, const std::string& state, FoundCells& cells) const {
    if (cells.hidden_size) return;
    cells.hidden_size = last_dim(state, types_);
    complete_joined(cell, cells);
  }

  // Steps take parts of one sequence: ascending ones are forward, unless the sequence was flipped.
  static std::string direction_of(const std::vector<CellStep>& chain) {
    if (chain.size() < 2) return "";
    for (const Selection& first : chain[0].input_path) {
      int up = 0;
      int down = 0;
      for (std::size_t i = 1; i < chain.size(); ++i) {
        const auto before = index_in(chain[i - 1], first.source);
        const auto now = index_in(chain[i], first.source);
        if (!before || !now || *before == *now) {
          up = down = 0;
          break;
        }
        (*now > *before ? up : down) += 1;
      }
      if (up > 0 && down == 0) return chain[0].input_flipped ? "reverse" : "forward";
      if (down > 0 && up == 0) return chain[0].input_flipped ? "forward" : "reverse";
    }
    return "";
  }

  static std::optional<std::int64_t> index_in(const CellStep& cell, const std::string& source) {
    const auto found = std::ranges::find(cell.input_path, source, &Selection::source);
    return found == cell.input_path.end() ? std::nullopt : std::optional(found->index);
  }

  // A cell whose new state is the body's output for the state that it started from.
  std::optional<CellStep> cell_of_state(const GraphView& view, const std::string& in,
                                        const std::string& out) const {
    for (CellStep& cell : match_cells(view, view.plain(out))) {
      if (cell.h_previous == in) return std::move(cell);
    }
    return std::nullopt;
  }

  // Body inputs: iteration, condition, states; outputs: condition, states, scanned values.
  void search_loop(const LoopParts& loop, const std::string& name, bool main) {
    const auto& [node, body, outer, view] = loop;
    for (std::size_t s = 2; s < body.inputs.size() && s - 1 < body.outputs.size(); ++s) {
      const auto cell = cell_of_state(view, body.inputs[s].name, body.outputs[s - 1].name);
      if (!cell) continue;
      FoundCells cells = describe(*cell, "Loop", name);
      const LoopSteps steps = loop_steps(loop);
      cells.steps = steps.count();
      if (!steps.exact) cells.most_steps = steps.most;
      if (main && s < node.inputs.size()) complete_sizes(*cell, node.inputs[s], cells);
      cells.direction = loop_direction(loop, cell->input_source);
      found_.push_back(std::move(cells));
    }
  }

  // The input is Gather(X, i), or Gather(X, last - i), of X as it is or flipped.
  static std::string loop_direction(const LoopParts& loop, const std::string& input) {
    const GraphView& view = loop.inner;
    const Node* gather = view.made_by(view.plain(input), "Gather");
    if (gather == nullptr || gather->inputs.size() < 2) return "";
    const auto counts = [&](const std::string& name) { return counter_begin(loop, name) == 0; };
    const std::string& index = view.plain(gather->inputs[1]);
    const Node* sub = view.made_by(index, "Sub");
    const bool backwards = sub != nullptr && sub->inputs.size() == 2 && counts(view.plain(sub->inputs[1]));
    if (!backwards && !counts(index)) return "";
    const std::vector<Term> whole = TermReader(loop.outer).terms(gather->inputs[0]);
    const bool flipped = whole.size() == 1 && whole[0].flipped;
    return backwards == flipped ? "forward" : "reverse";
  }

  // Body inputs: states, then slices of the scanned inputs, whose directions are an attribute.
  void search_scan(const Node& node, const Graph& body, const GraphView& view, const std::string& name,
                   bool main) {
    const onnx_io::Attribute* count = node.find_attribute("num_scan_inputs");
    if (count == nullptr || count->i < 0 || static_cast<std::size_t>(count->i) > body.inputs.size()) return;
    const std::size_t states = body.inputs.size() - static_cast<std::size_t>(count->i);
    for (std::size_t s = 0; s < states && s < body.outputs.size(); ++s) {
      const auto cell = cell_of_state(view, body.inputs[s].name, body.outputs[s].name);
      if (!cell) continue;
      FoundCells cells = describe(*cell, "Scan", name);
      if (main && s < node.inputs.size()) complete_sizes(*cell, node.inputs[s], cells);
      const auto slice = std::ranges::find(body.inputs, cell->input_source, &onnx_io::ValueInfo::name);
      const auto at = static_cast<std::size_t>(slice - body.inputs.begin());
      if (slice != body.inputs.end() && at >= states) describe_scan(node, at - states, at, main, cells);
      found_.push_back(std::move(cells));
    }
  }

  // Scan-8 has the sequences' lengths in front of the inputs, and all sequences on axis 1.
  void describe_scan(const Node& node, std::size_t scanned, std::size_t input, bool main,
                     FoundCells& cells) const {
    const bool old = node.find_attribute("directions") != nullptr;
    const onnx_io::Attribute* directions = node.find_attribute(old ? "directions" : "scan_input_directions");
    const bool reverse =
        directions != nullptr && scanned < directions->ints.size() && directions->ints[scanned] == 1;
    cells.direction = reverse ? "reverse" : "forward";
    if (old || !main || input >= node.inputs.size()) return;
    cells.source = node.inputs[input];
    const onnx_io::Attribute* axes = node.find_attribute("scan_input_axes");
    const std::int64_t axis = axes != nullptr && scanned < axes->ints.size() ? axes->ints[scanned] : 0;
    const auto type = types_.find(node.inputs[input]);
    if (type == types_.end() || !type->second.shape) return;
    const auto rank = static_cast<std::int64_t>(type->second.shape->size());
    const std::int64_t place = axis < 0 ? axis + rank : axis;
    if (place >= 0 && place < rank)
      cells.steps = (*type->second.shape)[static_cast<std::size_t>(place)].value;
  }

  const std::map<std::string, ValueType>& types_;
  std::vector<FoundCells> found_;
};

}  // namespace

std::vector<FoundCells> find_cells(const Graph& graph, const std::map<std::string, ValueType>& types) {
  Finder finder(types);
  finder.search(graph, "graph");
  return finder.take();
}

}  // namespace grurun::opset
