#include "conformance/reduce/reduce.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "conformance/reduce/inner_nodes.h"
#include "conformance/reduce/parts.h"
#include "conformance/reduce/smaller.h"
#include "onnx_io/models/walk.h"
#include "onnx_io/models/write_model.h"
#include "tensor/error.h"
#include "trial/as_type.h"
#include "trial/inline_bodies.h"
#include "trial/pairing.h"

namespace grurun::conformance {

namespace {

using trial::KnownValues;
using trial::Submodel;

constexpr std::uint64_t seed_of_names = 7;

std::size_t bytes_of(const std::vector<Value>& values) {
  std::size_t bytes = 0;
  for (const Value& value : values)
    if (value.is_tensor()) bytes += value.tensor().byte_size();
  return bytes;
}

CaseSize size_of_case(const Submodel& part) {
  CaseSize size;
  onnx_io::for_each_node(part.model.graph.nodes, [&](const onnx_io::Node&) { ++size.nodes; });
  size.bytes = onnx_io::model_bytes(part.model).size() + bytes_of(part.inputs) + bytes_of(part.expected);
  return size;
}

/// Types of values as a run makes them.
std::map<std::string, ValueType> types_of(const KnownValues& values) {
  std::map<std::string, ValueType> types;
  for (const auto& [name, value] : values) types[name] = value.type();
  return types;
}

/// Values of the reference, of the model's own types.
KnownValues in_own_types(const KnownValues& values, const std::map<std::string, ValueType>& types) {
  KnownValues out;
  for (const auto& [name, value] : values) {
    const auto own = types.find(name);
    out[name] = own == types.end() ? value : trial::as_type(value, own->second);
  }
  return out;
}

class Reducer {
 public:
  Reducer(const onnx_io::Model& model, const std::vector<Value>& inputs, Truth* truth,
          const ReduceOptions& options, bool flattens)
      : model_(model),
        inputs_(inputs),
        truth_(truth),
        options_(options),
        flattens_(flattens),
        judge_(options.each, options.scratch) {
    rerun_.seed = options.each.seed;
  }

  std::optional<Reduction> run() {
    if (truth_ != nullptr && truth_->other())
      truth_->set_other(trial::with_names_of(model_, *truth_->other()));
    learn();
    Submodel whole = whole_model();
    const std::optional<Failure> failure = judge_(whole);
    if (!failure) return std::nullopt;
    goal_ = *failure;
    if (truth_ == nullptr && goal_.verdict == Verdict::differs)
      fail_usage(
          "the model runs, and nothing says what it ought to make: give --expected, --against or "
          "--runtime");
    Reduction out;
    out.whole = goal_;
    out.before = size_of_case(whole);
    best_.part = std::move(whole);
    reduced_ = goal_;
    if (flattens_) make_flat();
    leave_out_nodes();
    keep_one_output();
    if (truth_ != nullptr) best_.other = truth_->part_of_other(best_.part.model, raw_);
    leave_out_inner_nodes();
    shrink();
    if (options_.anonymize) anonymize();
    out.part = std::move(best_.part);
    out.reduced = reduced_;
    out.after = size_of_case(out.part);
    out.runs = judge_.runs();
    out.is_complete = !is_over();
    out.notes = std::move(notes_);
    return out;
  }

 private:
  bool is_over() const {
    return judge_.runs() >= options_.max_runs ||
           (options_.deadline && std::chrono::steady_clock::now() > *options_.deadline);
  }

  /// What is known of the model's values.
  void learn() {
    const auto start = std::chrono::steady_clock::now();
    const KnownValues own =
        needs_own_values() ? trial::values_as_far(model_, inputs_, rerun_) : KnownValues();
    raw_ = truth_ == nullptr ? own : truth_->values(model_, inputs_, own, rerun_);
    known_ = in_own_types(raw_, types_of(own));
    fed_ = trial::fed_values(model_.graph, inputs_);
    time_ = std::max<std::chrono::nanoseconds>(time_, std::chrono::steady_clock::now() - start);
  }

  /// The types, at least, unless they are those of the truth.
  bool needs_own_values() const { return truth_ == nullptr || truth_->source() != Truth::Source::engine; }

  Submodel whole_model() const {
    Submodel whole;
    whole.model = model_;
    whole.inputs = inputs_;
    for (const onnx_io::ValueInfo& output : model_.graph.outputs) {
      const auto known = known_.find(output.name);
      whole.expected.push_back(truth_ == nullptr || known == known_.end() ? Value() : known->second);
    }
    if (truth_ != nullptr) drop_unknown_outputs(whole);
    if (whole.model.graph.outputs.empty())
      fail_usage(
          "nothing is known of any of the model's outputs: give their values, by their names, with "
          "--expected or --against");
    return whole;
  }

  static void drop_unknown_outputs(Submodel& part) {
    std::vector<onnx_io::ValueInfo> outputs;
    std::vector<Value> expected;
    for (std::size_t i = 0; i < part.expected.size(); ++i) {
      if (part.expected[i].empty()) continue;
      outputs.push_back(part.model.graph.outputs[i]);
      expected.push_back(part.expected[i]);
    }
    part.model.graph.outputs = std::move(outputs);
    part.expected = std::move(expected);
  }

  /// Keeps the candidate where it fails as the whole did.
  bool accept(Candidate candidate) {
    if (is_over() || candidate.part.unknown > 0) return false;
    if (truth_ != nullptr) drop_unknown_outputs(candidate.part);
    if (candidate.part.model.graph.outputs.empty() || candidate.part.model.graph.nodes.empty()) return false;
    const std::optional<Failure> failure = judge_(candidate.part);
    if (!failure || failure->verdict != goal_.verdict) return false;
    if (!options_.any_message && failure->kind != goal_.kind) return false;
    best_ = std::move(candidate);
    reduced_ = *failure;
    return true;
  }

  /// The same, with what is expected computed anew.
  bool accept_anew(Candidate candidate) {
    if (is_over()) return false;
    if (truth_ == nullptr) {
      candidate.part.expected.assign(candidate.part.expected.size(), Value());
      return accept(std::move(candidate));
    }
    // A loop of which something is left out may have no end.
    constexpr int longer = 8;
    constexpr std::chrono::nanoseconds least = std::chrono::seconds(2);
    auto expected = truth_->outputs(
        candidate, {rerun_.seed, std::chrono::steady_clock::now() + std::max(least, longer * time_)});
    if (!expected) return false;
    candidate.part.expected = std::move(*expected);
    for (std::size_t i = 0; i < candidate.part.expected.size(); ++i)
      candidate.part.model.graph.outputs[i].type = candidate.part.expected[i].type();
    return accept(std::move(candidate));
  }

  /// Bodies and functions become nodes of the main graph, where the failure stays.
  void make_flat() {
    const bool has_more =
        !model_.functions.empty() || std::ranges::any_of(model_.graph.nodes, onnx_io::has_body);
    if (!has_more) return;
    trial::Flattened flat = trial::without_bodies(model_, inputs_, rerun_);
    if (flat.replaced == 0) return;
    std::optional<trial::Flattened> other;
    if (truth_ != nullptr && truth_->other())
      other = trial::without_bodies(*truth_->other(),
                                    trial::inputs_for(truth_->other()->graph, model_.graph, inputs_), rerun_);
    Candidate candidate = best_;
    candidate.part.model.graph.nodes = flat.model.graph.nodes;
    candidate.part.model.graph.initializers = flat.model.graph.initializers;
    candidate.part.model.functions = flat.model.functions;
    if (!accept(std::move(candidate))) return;
    model_ = std::move(flat.model);
    if (other) truth_->set_other(trial::with_names_of(model_, other->model));
    learn();
  }

  std::vector<bool> kept_by(const std::vector<std::vector<std::size_t>>& units) const {
    std::vector<bool> keep(model_.graph.nodes.size());
    for (const auto& unit : units)
      for (const std::size_t node : unit) keep[node] = true;
    return keep;
  }

  void leave_out_nodes() {
    const trial::Extraction extraction(model_, fed_, known_);
    std::vector<std::vector<std::size_t>> units = units_of(model_, fed_, known_, truth_ != nullptr);
    const std::vector<std::vector<std::size_t>> left =
        minimal_list(std::move(units), [&](const std::vector<std::vector<std::size_t>>& some) {
          return accept({extraction.take(kept_by(some)), std::nullopt});
        });
    keep_ = kept_by(left);
  }

  void keep_one_output() {
    const std::vector<onnx_io::ValueInfo> outputs = best_.part.model.graph.outputs;
    if (outputs.size() < 2) return;
    const trial::Extraction extraction(model_, fed_, known_);
    for (const onnx_io::ValueInfo& output : outputs)
      if (accept({extraction.take(keep_, {output.name}), std::nullopt})) return;
  }

  /// Of bodies and functions that are left. What is expected is computed anew then.
  void leave_out_inner_nodes() {
    for (const InnerNode& node : inner_nodes_of(best_.part.model)) {
      for (const std::string& instead : node.inputs) {
        auto candidate = without_inner_node(best_, node.output, instead);
        if (candidate && accept_anew(std::move(*candidate))) break;
      }
    }
  }

  bool shrink_size(std::int64_t from) {
    for (const std::int64_t to : {std::int64_t{1}, std::int64_t{2}, from / 4, from / 2, from - 1}) {
      if (to < 1 || to >= from) continue;
      for (const bool inputs_only : {false, true})
        for (const bool numbers : {false, true})
          for (const bool multiples : {false, true}) {
            if (inputs_only && (numbers || multiples)) continue;
            if (accept_anew(resized(best_, {from, to, inputs_only, multiples, numbers}))) return true;
          }
    }
    return false;
  }

  void shrink() {
    if (truth_ != nullptr && truth_->source() == Truth::Source::stored) return;
    for (bool again = true; again && !is_over();) {
      again = false;
      for (const std::int64_t size : sizes_of(best_)) again = shrink_size(size) || again;
    }
  }

  void anonymize() {
    if (!accept(renamed(best_))) notes_.emplace_back("names are kept: with others it does not fail so");
    std::vector<std::string> names;
    for (const auto& input : best_.part.model.graph.inputs) names.push_back(input.name);
    for (const auto& initializer : best_.part.model.graph.initializers) names.push_back(initializer.name);
    for (const std::string& name : names) {
      if (!accept_anew(with_random_numbers(best_, name, seed_of_names)))
        notes_.push_back(fmt::format("the numbers of '{}' are kept: with others it does not fail so", name));
    }
  }

  onnx_io::Model model_;
  const std::vector<Value>& inputs_;
  Truth* truth_;
  const ReduceOptions& options_;
  const bool flattens_;
  Judge judge_;
  trial::Rerun rerun_;
  std::chrono::nanoseconds time_{0};  // that runs of the whole model take
  KnownValues raw_, known_, fed_;
  Failure goal_, reduced_;
  Candidate best_;
  std::vector<bool> keep_;
  std::vector<std::string> notes_;
};

}  // namespace

std::optional<Reduction> reduce(const onnx_io::Model& model, const std::vector<Value>& inputs, Truth* truth,
                                const ReduceOptions& options) {
  // Steps of a loop of which nothing is left out are more than the loop.
  const std::optional<Truth> kept = truth == nullptr ? std::nullopt : std::optional<Truth>(*truth);
  std::optional<Reduction> flat = Reducer(model, inputs, truth, options, true).run();
  if (!flat || flat->after.nodes <= flat->before.nodes) return flat;
  if (truth != nullptr) *truth = *kept;
  return Reducer(model, inputs, truth, options, false).run();
}

}  // namespace grurun::conformance
