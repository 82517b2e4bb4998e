// Derivatives of operators that work element by element. At a kink (Relu at 0, equal operands of Max) one of
// the one-sided derivatives is taken, or their mean: see each.
#include <cmath>
#include <numbers>

#include "engine/ops/training/gradient_tape.h"

namespace grurun::engine {

namespace {

using Id = Tape::Id;

/// dx = dy * factor.
template <typename Factor>
GradientRule times(Factor factor) {
  return [factor](Backward& b) { b.give(0, b.mul(b.dy(), factor(b))); };
}

/// dx = dy / divisor.
template <typename Divisor>
GradientRule over(Divisor divisor) {
  return [divisor](Backward& b) { b.give(0, b.div(b.dy(), divisor(b))); };
}

Id squared(Backward& b, Id a) {
  return b.mul(a, a);
}
Id plus(Backward& b, Id a, double value) {
  return b.add(a, b.number(value, a));
}
Id scaled(Backward& b, Id a, double value) {
  return b.mul(a, b.number(value, a));
}
/// value - a
Id minus_from(Backward& b, double value, Id a) {
  return b.sub(b.number(value, a), a);
}
Id above(Backward& b, Id a, double value) {
  return b.op("Greater", {a, b.number(value, a)});
}
/// value where the condition holds, else 0.
Id only_where(Backward& b, Id condition, Id value) {
  return b.where(condition, value, b.number(0, value));
}

void add_functions(GradientRules& rules) {
  rules["Identity"] = [](Backward& b) { b.give(0, b.dy()); };
  rules["Neg"] = [](Backward& b) { b.give(0, b.neg(b.dy())); };
  rules["Abs"] = times([](Backward& b) { return b.op("Sign", {b.x()}); });
  rules["Exp"] = times([](Backward& b) { return b.y(); });
  rules["Log"] = over([](Backward& b) { return b.x(); });
  rules["Sqrt"] = over([](Backward& b) { return b.add(b.y(), b.y()); });
  rules["Reciprocal"] = times([](Backward& b) { return b.neg(squared(b, b.y())); });
  rules["Erf"] = times([](Backward& b) {
    return scaled(b, b.op("Exp", {b.neg(squared(b, b.x()))}), 2 / std::sqrt(std::numbers::pi));
  });
  rules["Sin"] = times([](Backward& b) { return b.op("Cos", {b.x()}); });
  rules["Cos"] = times([](Backward& b) { return b.neg(b.op("Sin", {b.x()})); });
  rules["Tan"] = times([](Backward& b) { return plus(b, squared(b, b.y()), 1); });
  rules["Asin"] = over([](Backward& b) { return b.op("Sqrt", {minus_from(b, 1, squared(b, b.x()))}); });
  rules["Acos"] =
      over([](Backward& b) { return b.neg(b.op("Sqrt", {minus_from(b, 1, squared(b, b.x()))})); });
  rules["Atan"] = over([](Backward& b) { return plus(b, squared(b, b.x()), 1); });
  rules["Sinh"] = times([](Backward& b) { return b.op("Cosh", {b.x()}); });
  rules["Cosh"] = times([](Backward& b) { return b.op("Sinh", {b.x()}); });
  rules["Tanh"] = times([](Backward& b) { return minus_from(b, 1, squared(b, b.y())); });
  rules["Asinh"] = over([](Backward& b) { return b.op("Sqrt", {plus(b, squared(b, b.x()), 1)}); });
  rules["Acosh"] = over([](Backward& b) { return b.op("Sqrt", {plus(b, squared(b, b.x()), -1)}); });
  rules["Atanh"] = over([](Backward& b) { return minus_from(b, 1, squared(b, b.x())); });
}

void add_activations(GradientRules& rules) {
  rules["Sigmoid"] = times([](Backward& b) { return b.mul(b.y(), minus_from(b, 1, b.y())); });
  rules["Softplus"] = times([](Backward& b) { return b.op("Sigmoid", {b.x()}); });
  rules["Softsign"] = over([](Backward& b) { return squared(b, plus(b, b.op("Abs", {b.x()}), 1)); });
  // 0 at a kink.
  rules["Relu"] = [](Backward& b) { b.give(0, only_where(b, above(b, b.x(), 0), b.dy())); };
  rules["ThresholdedRelu"] = [](Backward& b) {
    b.give(0, only_where(b, above(b, b.x(), b.float_attribute("alpha", 1)), b.dy()));
  };
  rules["HardSigmoid"] = [](Backward& b) {
    const double alpha = b.float_attribute("alpha", 0.2f);
    const Id inside = b.op("And", {above(b, b.y(), 0), b.op("Less", {b.y(), b.number(1, b.y())})});
    b.give(0, only_where(b, inside, scaled(b, b.dy(), alpha)));
  };
  // The derivative from below at a kink.
  rules["LeakyRelu"] = [](Backward& b) {
    const Id below = scaled(b, b.dy(), b.float_attribute("alpha", 0.01f));
    b.give(0, b.where(above(b, b.x(), 0), b.dy(), below));
  };
  rules["Elu"] = [](Backward& b) {
    const Id below = b.mul(b.dy(), plus(b, b.y(), b.float_attribute("alpha", 1)));
    b.give(0, b.where(above(b, b.x(), 0), b.dy(), below));
  };
  rules["Selu"] = [](Backward& b) {
    const double alpha = b.float_attribute("alpha", 1.67326319217681884765625f);
    const double gamma = b.float_attribute("gamma", 1.05070102214813232421875f);
    const Id below = b.mul(b.dy(), plus(b, b.y(), alpha * gamma));
    b.give(0, b.where(above(b, b.x(), 0), scaled(b, b.dy(), gamma), below));
  };
  rules["Celu"] = [](Backward& b) {
    const Id power = b.op("Exp", {scaled(b, b.x(), 1 / b.float_attribute("alpha", 1))});
    b.give(0, b.where(above(b, b.x(), 0), b.dy(), b.mul(b.dy(), power)));
  };
  rules["PRelu"] = [](Backward& b) {
    b.require_version(7);
    const Id negative = b.op("Less", {b.x(), b.number(0, b.x())});
    if (b.wants(0)) b.give(0, b.where(negative, b.mul(b.dy(), b.x(1)), b.dy()));
    if (b.wants(1)) b.give(1, only_where(b, negative, b.mul(b.dy(), b.x())));
  };
}

/// x where the condition fails, else value: keeps infinities out of what is not chosen afterwards.
Id replaced_where(Backward& b, Id condition, double value, Id x) {
  return b.where(condition, b.number(value, x), x);
}

void power(Backward& b) {
  b.require_version(7);
  const Id e = b.op("CastLike", {b.x(1), b.x()});
  const auto is_zero = [&](Id a) { return b.op("Equal", {a, b.number(0, a)}); };
  if (b.wants(0)) {
    // 0 for a power of 0, at x = 0 too.
    const Id safe = replaced_where(b, is_zero(e), 1, e);
    b.give(0, b.mul(b.dy(), b.mul(e, b.op("Pow", {b.x(), plus(b, safe, -1)}))));
  }
  if (b.wants(1)) {
    // y log(x) goes to 0 with y.
    const Id x = b.op("Expand", {b.x(), b.op("Shape", {b.y()})});
    const Id slope = b.mul(b.y(), b.op("Log", {replaced_where(b, is_zero(b.y()), 1, x)}));
    b.give(1, b.op("CastLike", {b.mul(b.dy(), slope), b.x(1)}));
  }
}

/// Max, Min: what equals y shares the gradient evenly.
void extreme(Backward& b) {
  b.require_version(8);
  std::vector<Id> chosen;
  Id count = Tape::none;
  for (std::size_t i = 0; i < b.input_count(); ++i) {
    chosen.push_back(b.op("CastLike", {b.op("Equal", {b.x(i), b.y()}), b.y()}));
    count = count == Tape::none ? chosen.back() : b.add(count, chosen.back());
  }
  const Id share = b.div(b.dy(), count);
  for (std::size_t i = 0; i < b.input_count(); ++i) {
    if (b.wants(i)) b.give(i, b.mul(chosen[i], share));
  }
}

void clip(Backward& b) {
  if (b.wants(1) || b.wants(2)) b.refuse("with bounds that depend on xs");
  const bool attributes = b.entry().since_version < 11;
  Id inside = Tape::none;
  const auto bound = [&](std::size_t input, const char* name, const char* comparison) {
    Id limit = Tape::none;
    if (attributes && b.entry().node.find_attribute(name) != nullptr)
      limit = b.number(b.float_attribute(name, 0), b.x());
    if (!attributes && b.has_input(input)) limit = b.x(input);
    if (limit == Tape::none) return;
    const Id within = b.op(comparison, {b.x(), limit});
    inside = inside == Tape::none ? within : b.op("And", {inside, within});
  };
  bound(1, "min", "GreaterOrEqual");
  bound(2, "max", "LessOrEqual");
  b.give(0, inside == Tape::none ? b.dy() : only_where(b, inside, b.dy()));
}

void add_several_operands(GradientRules& rules) {
  rules["Add"] = [](Backward& b) {
    b.require_version(7);
    for (const std::size_t i : {0, 1}) {
      if (b.wants(i)) b.give(i, b.dy());
    }
  };
  rules["Sub"] = [](Backward& b) {
    b.require_version(7);
    if (b.wants(0)) b.give(0, b.dy());
    if (b.wants(1)) b.give(1, b.neg(b.dy()));
  };
  rules["Mul"] = [](Backward& b) {
    b.require_version(7);
    if (b.wants(0)) b.give(0, b.mul(b.dy(), b.x(1)));
    if (b.wants(1)) b.give(1, b.mul(b.dy(), b.x(0)));
  };
  rules["Div"] = [](Backward& b) {
    b.require_version(7);
    const Id share = b.div(b.dy(), b.x(1));
    if (b.wants(0)) b.give(0, share);
    if (b.wants(1)) b.give(1, b.neg(b.mul(share, b.y())));
  };
  rules["Pow"] = power;
  rules["Max"] = rules["Min"] = extreme;
  rules["Sum"] = [](Backward& b) {
    for (std::size_t i = 0; i < b.input_count(); ++i) {
      if (b.wants(i)) b.give(i, b.dy());
    }
  };
  rules["Mean"] = [](Backward& b) {
    const Id share = scaled(b, b.dy(), 1 / static_cast<double>(b.input_count()));
    for (std::size_t i = 0; i < b.input_count(); ++i) {
      if (b.wants(i)) b.give(i, share);
    }
  };
  rules["Where"] = [](Backward& b) {
    if (b.wants(1)) b.give(1, only_where(b, b.x(0), b.dy()));
    if (b.wants(2)) b.give(2, b.where(b.x(0), b.number(0, b.dy()), b.dy()));
  };
  rules["Clip"] = clip;
}

void add_casts(GradientRules& rules) {
  rules["Cast"] = rules["CastLike"] = [](Backward& b) { b.give(0, b.op("CastLike", {b.dy(), b.x()})); };
  rules["Dropout"] = [](Backward& b) {
    const std::int64_t version = b.entry().since_version;
    const bool trains =
        version < 7 ? b.int_attribute("is_test", 0) == 0 : b.has_input(2) && *b.tensor(b.x(2)).data<bool>();
    if (trains) b.refuse("that trains, whose values would be drawn again");
    b.give(0, b.dy());
  };
}

}  // namespace

void add_elementwise_rules(GradientRules& rules) {
  add_functions(rules);
  add_activations(rules);
  add_several_operands(rules);
  add_casts(rules);
}

}  // namespace grurun::engine
