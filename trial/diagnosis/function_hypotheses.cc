// Hypotheses about activations, their parameters, and clip.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tensor/error.h"
#include "trial/diagnosis/hypotheses.h"

namespace grurun::trial::diagnosis {
namespace {

using engine::rnn::function_of;
using Functions = std::vector<Activation>;

bool same(const Activation& a, const Activation& b) {
  return a.kind == b.kind && a.alpha == b.alpha && a.beta == b.beta;
}
bool same(const Functions& a, const Functions& b) {
  return std::ranges::equal(a, b, [](const Activation& x, const Activation& y) { return same(x, y); });
}

std::string list_text(const Functions& functions) {
  std::vector<std::string> names;
  for (const Activation& f : functions) names.push_back(function_text(f));
  return fmt::format("{}", fmt::join(names, ", "));
}

Functions defaults_of(const Layer& layer) {
  return engine::rnn::parse_activations(form_of(layer.op).default_functions(), {}, {});
}

}  // namespace

bool takes_alpha(ActivationKind kind) {
  return function_of(kind).alpha.used;
}
bool takes_beta(ActivationKind kind) {
  return function_of(kind).beta.used;
}

namespace {

class FunctionHypotheses {
 public:
  FunctionHypotheses(const Subject& subject, std::vector<Hypothesis>& into)
      : subject_(subject),
        functions_(subject.layer.functions),
        each_(subject.layer.functions_each()),
        directions_(static_cast<std::size_t>(subject.layer.num_directions)),
        into_(into) {}

  void add_all() {
    const Functions defaults = defaults_of(subject_.layer);
    Functions all_defaults;
    for (std::size_t d = 0; d < directions_; ++d) {
      all_defaults.insert(all_defaults.end(), defaults.begin(), defaults.end());
    }
    add("activations-default", all_defaults, fmt::format("the default activations {}", list_text(defaults)));
    add_hard_sigmoids();
    if (directions_ == 2) add_by_direction(defaults);
    add_orders();
    add_parameters();
    add_replacements();
  }

 private:
  /// Where nothing changes there is no hypothesis.
  void add(const char* id, const Functions& functions, const std::string& text) {
    if (same(functions, functions_)) return;
    into_.push_back({id, "activations", text, [functions](Candidate& c) {
                       c.layer.functions = functions;
                       return true;
                     }});
  }

  /// f of each direction.
  Functions with_gate_function(const Activation& f) const {
    Functions out = functions_;
    for (std::size_t i = 0; i < out.size(); i += each_) out[i] = f;
    return out;
  }

  void add_hard_sigmoids() {
    const Activation f = functions_[0];
    if (f.kind != ActivationKind::sigmoid && f.kind != ActivationKind::hard_sigmoid) return;
    const auto& op = subject_.layer.op;
    const char* gates = op == Op::rnn ? "" : op == Op::gru ? " for z and r" : " for i, o and f";
    const Activation onnx{ActivationKind::hard_sigmoid, 0.2f, 0.5f};
    const Activation sixth{ActivationKind::hard_sigmoid, 1.0f / 6, 0.5f};
    add("hard-sigmoid", with_gate_function(onnx),
        fmt::format("HardSigmoid{} in the place of {}", gates, function_text(f)));
    add("hard-sigmoid", with_gate_function(sixth),
        fmt::format("HardSigmoid(alpha 1/6, beta 0.5){} in the place of {}", gates, function_text(f)));
    add("sigmoid", with_gate_function({ActivationKind::sigmoid}),
        fmt::format("Sigmoid{} in the place of {}", gates, function_text(f)));
  }

  void add_by_direction(const Functions& defaults) {
    const auto half = static_cast<std::ptrdiff_t>(each_);
    const Functions first(functions_.begin(), functions_.begin() + half);
    const Functions second(functions_.begin() + half, functions_.end());
    const auto joined = [](Functions a, const Functions& b) {
      a.insert(a.end(), b.begin(), b.end());
      return a;
    };
    add("activations-of-second-direction", joined(first, first),
        "the first direction's activations in the second one too");
    add("activations-of-second-direction", joined(first, defaults),
        "the default activations in the second direction");
    add("activations-of-second-direction", joined(defaults, second),
        "the default activations in the first direction");
    add("activations-of-directions-swapped", joined(second, first),
        "the activations of the directions swapped");
  }

  void add_orders() {
    std::vector<std::size_t> order(each_);
    for (std::size_t i = 0; i < each_; ++i) order[i] = i;
    while (std::next_permutation(order.begin(), order.end())) {
      Functions permuted = functions_;
      for (std::size_t i = 0; i < permuted.size(); ++i)
        permuted[i] = functions_[i / each_ * each_ + order[i % each_]];
      add("activations-order", permuted,
          fmt::format("activations in another order: {}",
                      list_text({permuted.begin(), permuted.begin() + static_cast<std::ptrdiff_t>(each_)})));
    }
  }

  /// alpha and beta handed out in other ways.
  void add_parameters() {
    if (subject_.alpha.empty() && subject_.beta.empty()) return;
    const auto parse = [&](const std::vector<float>& alpha,
                           const std::vector<float>& beta) -> std::optional<Functions> {
      try {
        return engine::rnn::parse_activations(subject_.activations, alpha, beta);
      } catch (const Error&) {
        return std::nullopt;  // one without default would have no value
      }
    };
    const auto with = [&](const char* id, const std::optional<Functions>& functions, const char* text) {
      if (functions && functions->size() == functions_.size()) add(id, *functions, text);
    };
    with("activation-parameters-default", parse({}, {}), "activation_alpha and activation_beta left out");
    with("activation-parameters-swapped", parse(subject_.beta, subject_.alpha),
         "activation_alpha and activation_beta swapped");
    const std::vector<float> alpha(subject_.alpha.rbegin(), subject_.alpha.rend());
    const std::vector<float> beta(subject_.beta.rbegin(), subject_.beta.rend());
    with("activation-parameters-order", parse(alpha, beta),
         "activation_alpha and activation_beta in the other order");
    Functions by_place = functions_;
    for (std::size_t i = 0; i < by_place.size(); ++i) {
      if (takes_alpha(by_place[i].kind) && i < subject_.alpha.size()) by_place[i].alpha = subject_.alpha[i];
      if (takes_beta(by_place[i].kind) && i < subject_.beta.size()) by_place[i].beta = subject_.beta[i];
    }
    add("activation-parameters-by-place", by_place,
        "activation_alpha and activation_beta with one value for each function, used or not");
  }

  /// One of the eleven in the place of another, in both directions alike; other places may change beside it.
  void add_replacements() {
    for (std::size_t place = 0; place < each_; ++place) {
      const std::string letter = std::string("fgh").substr(place, 1);
      for (const opset::RecurrentFunction& function : opset::recurrent_functions()) {
        if (!function.has_defaults()) continue;  // found by fitting
        const Activation f = engine::rnn::parse_activations({function.name}, {}, {}).front();
        const std::size_t each = each_;
        const auto replace = [=](Functions& functions) {
          for (std::size_t i = place; i < functions.size(); i += each) functions[i] = f;
        };
        Functions replaced = functions_;
        replace(replaced);
        if (same(replaced, functions_)) continue;
        const std::string text = fmt::format("{} = {} in the place of {}", letter, function_text(f),
                                             function_text(functions_[place]));
        into_.push_back({"activation", "activation " + letter, text, [replace](Candidate& c) {
                           replace(c.layer.functions);
                           return true;
                         }});
      }
    }
  }

  const Subject& subject_;
  const Functions& functions_;
  const std::size_t each_, directions_;
  std::vector<Hypothesis>& into_;
};

}  // namespace

std::string function_text(const Activation& f) {
  const char* const name = function_of(f.kind).name;
  if (takes_beta(f.kind)) return fmt::format("{}(alpha {:.6g}, beta {:.6g})", name, f.alpha, f.beta);
  if (takes_alpha(f.kind)) return fmt::format("{}(alpha {:.6g})", name, f.alpha);
  return name;
}

void add_function_hypotheses(const Subject& subject, std::vector<Hypothesis>& into) {
  FunctionHypotheses(subject, into).add_all();
  if (subject.layer.clip) {
    into.push_back({"clip-ignored", "clip",
                    fmt::format("clip left out: the model clips at {:g}", *subject.layer.clip),
                    [](Candidate& c) {
                      c.layer.clip.reset();
                      return true;
                    }});
  }
}

std::vector<Hypothesis> all_hypotheses(const Subject& subject, const Expected& expected) {
  std::vector<Hypothesis> all;
  add_bias_hypotheses(subject, all);
  add_weight_hypotheses(subject, all);
  add_sequence_hypotheses(subject, all);
  add_function_hypotheses(subject, all);
  add_length_hypotheses(subject, expected, all);
  return all;
}

}  // namespace grurun::trial::diagnosis
