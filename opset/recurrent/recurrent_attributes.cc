#include "opset/recurrent/recurrent_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "opset/schema/attribute_faults.h"
#include "opset/schema/near_match.h"

namespace grurun::opset {

namespace {

using onnx_io::Attribute;
using onnx_io::AttributeType;

RecurrentRule recurrent_rule_of(AttributeFault::Kind kind) {
  switch (kind) {
    case AttributeFault::Kind::given_twice:
      return RecurrentRule::attribute_once;
    case AttributeFault::Kind::unknown:
      return RecurrentRule::attribute_known;
    case AttributeFault::Kind::wrong_type:
      break;
  }
  return RecurrentRule::attribute_type;
}

std::string directions_text(std::int64_t directions) {
  return directions == 1 ? "one direction" : "two directions";
}

class Reader {
 public:
  Reader(const RecurrentForm& form, const SchemaInfo& schema, const std::vector<Attribute>& attributes,
         RecurrentFindings& findings)
      : form_(form), schema_(schema), attributes_(attributes), findings_(findings) {}

  RecurrentAttributes read() {
    check_names_and_types();
    read_direction();
    read_hidden_size();
    read_clip();
    read_flags();
    read_activations();
    return std::move(out_);
  }

 private:
  void add(RecurrentRule rule, std::string message, std::string section = "") {
    findings_.push_back({rule, std::move(section), std::move(message)});
  }

  std::string op() const { return fmt::format("{}-{}", schema_.name, schema_.since_version); }

  void check_names_and_types() {
    for (AttributeFault& fault : judge_attributes(schema_, attributes_)) {
      const bool unknown = fault.kind == AttributeFault::Kind::unknown;  // the text has no section on it
      add(recurrent_rule_of(fault.kind), std::move(fault.message),
          unknown ? "" : "attribute " + fault.attribute);
    }
  }

  enum class State { absent, unknown, given };

  // The value of an attribute that this version has; unknown where it is a reference or of another type.
  State find(const char* name, const Attribute*& found) const {
    const AttributeInfo* known = find_attribute(schema_, name);
    if (known == nullptr) return State::absent;
    const auto at = std::ranges::find(attributes_, name, &Attribute::name);
    if (at == attributes_.end()) return State::absent;
    found = &*at;
    return at->ref_attr_name.empty() && at->type == known->type ? State::given : State::unknown;
  }

  void read_direction() {
    const Attribute* found = nullptr;
    const State state = find("direction", found);
    if (state == State::unknown) out_.direction.reset();
    if (state != State::given) return;
    constexpr std::array<const char*, 3> known = {"forward", "reverse", "bidirectional"};
    if (std::ranges::find(known, found->s) != known.end()) {
      out_.direction = found->s;
    } else if (found->s == "foward" && form_.op_type == std::string_view("GRU") &&
               schema_.since_version == 1) {
      add(RecurrentRule::misspelt_direction,
          "direction is 'foward', as the text of version 1 misspells its default; it is taken for 'forward', "
          "write that");
    } else {
      out_.direction.reset();
      const std::vector<std::string> names(known.begin(), known.end());
      add(RecurrentRule::direction,
          fmt::format("direction is '{}'; it must be forward, reverse or bidirectional{}", found->s,
                      found->s == "backward" ? "; did you mean 'reverse'?"
                                             : did_you_mean(near_matches(found->s, names))));
    }
  }

  void read_hidden_size() {
    const Attribute* found = nullptr;
    const State state = find("hidden_size", found);
    out_.hidden_size_known = state != State::unknown;
    if (state == State::absent) {
      add(RecurrentRule::no_hidden_size,
          "hidden_size is left out, so it is R's last dimension; some runtimes refuse that, give it");
    }
    if (state != State::given) return;
    if (found->i >= 0) {
      out_.hidden_size = found->i;
      return;
    }
    out_.hidden_size_known = false;
    add(RecurrentRule::hidden_size, fmt::format("hidden_size is {}; it must not be negative", found->i));
  }

  void read_clip() {
    const Attribute* found = nullptr;
    if (find("clip", found) != State::given) return;
    out_.clip = found->f;
    if (found->f > 0) return;
    add(RecurrentRule::clip,
        fmt::format("clip is {}; [-clip, clip] is a range for a positive number only: leave the "
                    "attribute out for no clip",
                    found->f));
  }

  void read_flags() {
    const Attribute* found = nullptr;
    if (const State state = find("layout", found); state != State::absent) {
      out_.layout.reset();
      if (state == State::given) read_layout(found->i);
    }
    if (const State state = find("input_forget", found); state != State::absent) {
      out_.input_forget.reset();
      if (state == State::given) out_.input_forget = found->i == 1;
      if (state == State::given && found->i != 0 && found->i != 1)
        add(RecurrentRule::input_forget, fmt::format("input_forget is {}; it must be 0 or 1", found->i));
    }
    if (const State state = find("linear_before_reset", found); state != State::absent) {
      out_.linear_before_reset.reset();
      if (state == State::given) out_.linear_before_reset = found->i != 0;
      if (state == State::given && found->i != 0 && found->i != 1)
        add(RecurrentRule::linear_before_reset,
            fmt::format("linear_before_reset is {}, which counts as 1; write 1 or 0", found->i));
    }
    if (find("output_sequence", found) == State::given) {
      out_.output_sequence = found->i;
      if (found->i != 0 && found->i != 1)
        add(RecurrentRule::output_sequence, fmt::format("output_sequence is {}; it is 0 or 1", found->i));
    }
  }

  void read_layout(std::int64_t layout) {
    if (layout != 0 && layout != 1) {
      add(RecurrentRule::layout, fmt::format("layout is {}; it must be 0 or 1", layout));
      return;
    }
    out_.layout = layout;
    if (layout == 1) {
      add(RecurrentRule::batch_first,
          "layout is 1; few runtimes have it: Transpose around a layer of layout 0 runs everywhere");
    }
  }

  void read_activations() {
    const Attribute* found = nullptr;
    const State state = find("activations", found);
    if (state == State::unknown) return;
    std::vector<std::string> names = state == State::given ? found->strings : std::vector<std::string>();
    bool sound = check_names(names);
    const std::optional<std::int64_t> directions = out_.num_directions();
    if (!directions) return;
    if (names.empty()) {
      const std::vector<std::string> defaults = form_.default_functions();
      for (std::int64_t i = 0; i < *directions; ++i)
        names.insert(names.end(), defaults.begin(), defaults.end());
    } else {
      sound = check_count(names, *directions) && sound;
    }
    if (!sound) return;
    check_parameters(names);
    out_.activations = std::move(names);
  }

  bool check_names(const std::vector<std::string>& names) {
    bool sound = true;
    std::vector<std::string> known;
    for (const RecurrentFunction& function : recurrent_functions()) known.emplace_back(function.name);
    for (const std::string& name : names) {
      const RecurrentFunction* function = find_recurrent_function(name);
      if (function == nullptr) {
        sound = false;
        std::string hint = did_you_mean(near_matches(name, known));
        if (hint.empty()) hint = fmt::format("; there are {}", fmt::join(known, ", "));
        add(RecurrentRule::activation_name,
            fmt::format("activations names '{}', which is none of the functions in {}'s text{}", name, op(),
                        hint));
      } else if (name != function->name) {
        add(RecurrentRule::activation_case,
            fmt::format("activations names '{}'; the text spells it {}", name, function->name));
      }
    }
    return sound;
  }

  bool check_count(std::vector<std::string>& names, std::int64_t directions) {
    const auto each = static_cast<std::size_t>(form_.functions);
    const std::size_t wanted = each * static_cast<std::size_t>(directions);
    if (names.size() == wanted) return true;
    if (form_.gates == 1 && directions == 1 && names.size() == 2) {
      add(RecurrentRule::surplus_activation,
          fmt::format("activations lists {} and {}; one direction uses the first only", names[0], names[1]));
      names.pop_back();
      return true;
    }
    const bool one_direction = directions == 2 && names.size() == each;
    add(RecurrentRule::activation_count,
        fmt::format("activations lists {} function{}; {} with {} needs {}{}", names.size(),
                    names.size() == 1 ? "" : "s", op(), directions_text(directions), wanted,
                    one_direction ? ": those of the forward direction, then those of the backward one" : ""));
    return false;
  }

  // A function that uses alpha takes the next alpha, one that uses beta the next beta.
  void check_parameters(const std::vector<std::string>& names) {
    check_values("activation_alpha", names, &RecurrentFunction::alpha);
    check_values("activation_beta", names, &RecurrentFunction::beta);
  }

  void check_values(const char* attribute, const std::vector<std::string>& names,
                    RecurrentParameter RecurrentFunction::*parameter) {
    const Attribute* found = nullptr;
    const State state = find(attribute, found);
    if (state == State::unknown) return;
    const std::size_t given = state == State::given ? found->floats.size() : 0;
    std::size_t used = 0;
    for (const std::string& name : names) {
      const RecurrentFunction& function = *find_recurrent_function(name);
      if (!(function.*parameter).used) continue;
      if (used >= given && !(function.*parameter).fallback) {
        add(RecurrentRule::activation_parameters,
            fmt::format(
                "{} needs a value in {}, which has {} for the functions before it and this one: nothing "
                "states a default",
                function.name, attribute, given),
            fmt::format("attribute {}", attribute));
      }
      ++used;
    }
    if (given <= used) return;
    add(RecurrentRule::surplus_parameters,
        fmt::format("{} has {} value{}, but the functions {} use {}; the others are left over", attribute,
                    given, given == 1 ? "" : "s", fmt::join(names, ", "), used),
        fmt::format("attribute {}", attribute));
  }

  const RecurrentForm& form_;
  const SchemaInfo& schema_;
  const std::vector<Attribute>& attributes_;
  RecurrentFindings& findings_;
  RecurrentAttributes out_;
};

}  // namespace

std::optional<std::int64_t> RecurrentAttributes::num_directions() const {
  if (!direction) return std::nullopt;
  return *direction == "bidirectional" ? 2 : 1;
}

RecurrentAttributes read_recurrent_attributes(const RecurrentForm& form, const SchemaInfo& schema,
                                              const std::vector<Attribute>& attributes,
                                              RecurrentFindings& findings) {
  return Reader(form, schema, attributes, findings).read();
}

}  // namespace grurun::opset
