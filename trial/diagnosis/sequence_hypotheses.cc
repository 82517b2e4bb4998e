// Hypotheses about directions, layouts and states.
#include <fmt/format.h>

#include <algorithm>

#include "trial/diagnosis/hypotheses.h"

namespace grurun::trial::diagnosis {
namespace {

/// The two halves of an array exchanged: directions come first in W, R, B, P and the states.
void swap_directions(Array& array) {
  if (!array) return;
  std::vector<double> swapped = *array;
  std::rotate(swapped.begin(), swapped.begin() + static_cast<std::ptrdiff_t>(swapped.size() / 2),
              swapped.end());
  array = make_array(std::move(swapped));
}

void repeat_first_direction(Array& array) {
  if (!array) return;
  std::vector<double> values = *array;
  const auto half = static_cast<std::ptrdiff_t>(values.size() / 2);
  std::copy(values.begin(), values.begin() + half, values.begin() + half);
  array = make_array(std::move(values));
}

/// X's first two dimensions change their meaning. States and lengths, which tell them apart, must be missing
/// or fit both ways.
bool swap_batch_and_time(Layer& layer, bool has_lengths) {
  const std::int64_t T = layer.seq_length, N = layer.batch_size;
  if (T != N && (has_lengths || layer.initial_h || layer.initial_c)) return false;
  layer.X = swap_leading(layer.X, T, N);
  std::swap(layer.seq_length, layer.batch_size);
  if (T != N) layer.lengths.assign(static_cast<std::size_t>(layer.batch_size), layer.seq_length);
  return true;
}

/// The same where the other layout is meant: then states are turned round too.
bool change_layout(Layer& layer, bool has_lengths) {
  const bool has_states = layer.initial_h || layer.initial_c;
  if (has_states && layer.num_directions != layer.batch_size) return false;
  if (!swap_batch_and_time(layer, has_lengths)) return false;
  layer.initial_h = swap_leading(layer.initial_h, layer.num_directions, layer.batch_size);
  layer.initial_c = swap_leading(layer.initial_c, layer.num_directions, layer.batch_size);
  return true;
}

/// Of a layer that runs both, one of which is seen.
void add_other_direction(const Subject& subject, std::vector<Hypothesis>& into) {
  const std::shared_ptr<const Layer> other = subject.other_direction;
  const bool reversed = subject.layer.reversed[0];
  into.push_back({"output-directions-swapped", "direction",
                  fmt::format("the {} direction: the model gives the {} one",
                              reversed ? "forward" : "backward", reversed ? "backward" : "forward"),
                  [other](Candidate& c) {
                    const Array X = c.layer.X;
                    c.layer = *other;
                    c.layer.X = X;
                    return true;
                  }});
  into.push_back({"directions-swapped", "direction",
                  "directions swapped: W, R, B hold the backward one first", [other](Candidate& c) {
                    for (const auto member : {&Layer::W, &Layer::R, &Layer::Wb, &Layer::Rb, &Layer::P})
                      c.layer.*member = (*other).*member;
                    return true;
                  }});
  if (!subject.layer.initial_h && !subject.layer.initial_c) return;
  into.push_back({"initial-directions-swapped", "initial directions",
                  "the directions of the initial states swapped", [other](Candidate& c) {
                    c.layer.initial_h = other->initial_h;
                    c.layer.initial_c = other->initial_c;
                    return true;
                  }});
}

void add_directions(const Subject& subject, std::vector<Hypothesis>& into) {
  const auto add = [&](const char* id, const char* family, const char* text, auto change) {
    into.push_back({id, family, text, [change](Candidate& c) {
                      change(c);
                      return true;
                    }});
  };
  const bool has_final_state = subject.graph_outputs[1] || subject.graph_outputs[2];
  if (subject.layer.num_directions == 1) {
    const bool reversed = subject.layer.reversed[0];
    if (subject.other_direction) add_other_direction(subject, into);
    add("direction", "direction",
        subject.other_direction ? reversed ? "this direction forward: the model runs it backward"
                                           : "this direction backward: the model runs it forward"
        : reversed              ? "direction forward: the model says reverse"
                                : "direction reverse: the model says forward",
        [](Candidate& c) { c.layer.reversed[0] = !c.layer.reversed[0]; });
    if (!reversed) {
      add("go-backwards", "direction",
          "direction reverse and Y in the order of steps, as Keras's go_backwards gives it: the model says "
          "forward",
          [](Candidate& c) { c.layer.reversed[0] = c.reading.backward_in_step_order = true; });
    } else {
      add("Y-in-step-order", "Y order",
          "Y in the order of steps: what reverse gives was not turned back into time order",
          [](Candidate& c) { c.reading.backward_in_step_order = true; });
    }
    return;
  }
  add("directions-swapped", "direction", "directions swapped: W, R, B hold the backward one first",
      [](Candidate& c) {
        for (Array* array : {&c.layer.W, &c.layer.R, &c.layer.Wb, &c.layer.Rb, &c.layer.P})
          swap_directions(*array);
      });
  add("weights-of-first-direction", "direction",
      "the weights of the first direction in both: the model has others for the second", [](Candidate& c) {
        for (Array* array : {&c.layer.W, &c.layer.R, &c.layer.Wb, &c.layer.Rb, &c.layer.P})
          repeat_first_direction(*array);
      });
  add("second-direction-forward", "direction",
      "both directions forward: the second one runs backward in the model",
      [](Candidate& c) { c.layer.reversed[1] = false; });
  add("Y-in-step-order", "Y order",
      "Y of the backward direction in the order of steps: it was not turned back into time order",
      [](Candidate& c) { c.reading.backward_in_step_order = true; });
  add("output-directions-swapped", "output directions", "the directions of all outputs swapped",
      [](Candidate& c) { c.reading.swap_Y_directions = c.reading.swap_state_directions = true; });
  if (subject.graph_outputs[0] && has_final_state) {
    add("Y-directions-swapped", "output directions", "the directions of Y swapped",
        [](Candidate& c) { c.reading.swap_Y_directions = true; });
    add("state-directions-swapped", "output directions", "the directions of the final states swapped",
        [](Candidate& c) { c.reading.swap_state_directions = true; });
  }
  if (subject.layer.initial_h || subject.layer.initial_c) {
    add("initial-directions-swapped", "initial directions", "the directions of the initial states swapped",
        [](Candidate& c) {
          swap_directions(c.layer.initial_h);
          swap_directions(c.layer.initial_c);
        });
  }
}

void add_layouts(const Subject& subject, std::vector<Hypothesis>& into) {
  const bool lengths = subject.has_sequence_lens;
  const bool batch_first = subject.layout == 1;
  const auto add = [&](const char* id, const char* text, Arrangement arrangement, auto change) {
    into.push_back({id, "layout", text, [=](Candidate& c) {
                      c.reading.arrangement = arrangement;
                      return change(c.layer, lengths);
                    }});
  };
  if (batch_first) {
    add("layout", "layout 0: the model sets layout 1", Arrangement::time_first, change_layout);
    add("batch-and-time-swapped", "batch and time swapped: X holds time first although layout is 1",
        Arrangement::batch_first, swap_batch_and_time);
    return;
  }
  add("layout", "layout 1: X and the outputs hold the batch first", Arrangement::batch_first, change_layout);
  add("batch-and-time-swapped", "batch and time swapped: X holds the batch first, and so does Y",
      Arrangement::batch_for_time, swap_batch_and_time);
  add("batch-and-time-of-X-swapped", "batch and time of X swapped: X holds the batch first",
      Arrangement::time_first, swap_batch_and_time);
}

/// X as it would be if what the node is given had its axes in this order: 0 is the first of the node's own X,
/// whose sizes these are.
Array read_in_order(const std::vector<double>& given, const std::array<std::int64_t, 3>& sizes,
                    const std::array<std::size_t, 3>& order) {
  std::array<std::int64_t, 3> stride{};
  stride[order[2]] = 1;
  stride[order[1]] = sizes[order[2]];
  stride[order[0]] = sizes[order[1]] * sizes[order[2]];
  std::vector<double> out;
  out.reserve(given.size());
  for (std::int64_t a = 0; a < sizes[0]; ++a) {
    for (std::int64_t b = 0; b < sizes[1]; ++b) {
      for (std::int64_t i = 0; i < sizes[2]; ++i)
        out.push_back(given[static_cast<std::size_t>(a * stride[0] + b * stride[1] + i * stride[2])]);
    }
  }
  return make_array(std::move(out));
}

/// X has the shape that it should have, but its data in the order of other axes.
void add_reshaped_X(const Subject& subject, std::vector<Hypothesis>& into) {
  constexpr std::size_t most_elements = std::size_t{1} << 22;  // each takes some ten milliseconds then
  const Layer& layer = subject.layer;
  if (!layer.X || layer.X->size() > most_elements) return;
  const bool batch_first = subject.layout == 1;
  const std::int64_t T = layer.seq_length, N = layer.batch_size;
  const std::array<std::int64_t, 3> sizes{batch_first ? N : T, batch_first ? T : N, layer.input_size};
  const char* names[] = {batch_first ? "batch_size" : "seq_length", batch_first ? "seq_length" : "batch_size",
                         "input_size"};
  using Order = std::array<std::size_t, 3>;
  // Axes of one element stand anywhere; batch and time of one size are those of batch-and-time-swapped.
  const auto moved = [&](const Order& axes) {
    std::vector<std::size_t> out;
    std::ranges::copy_if(axes, std::back_inserter(out), [&](std::size_t axis) { return sizes[axis] != 1; });
    return out;
  };
  Order order{0, 1, 2};
  std::vector<std::vector<std::size_t>> known{moved(order)};
  if (T == N) known.push_back(moved({1, 0, 2}));
  while (std::ranges::next_permutation(order).found) {
    if (std::ranges::find(known, moved(order)) != known.end()) continue;
    known.push_back(moved(order));
    into.push_back({"X-reshaped", "X",
                    fmt::format("X read as [{}, {}, {}]: it was reshaped, not transposed", names[order[0]],
                                names[order[1]], names[order[2]]),
                    [=](Candidate& c) {
                      if (c.layer.seq_length != T || c.layer.batch_size != N) return false;
                      const Array given = batch_first ? swap_leading(c.layer.X, T, N) : c.layer.X;
                      const Array X = read_in_order(*given, sizes, order);
                      c.layer.X = batch_first ? swap_leading(X, N, T) : X;
                      return true;
                    }});
  }
}

/// Y leaves the graph flattened, and was not turned as the source turns it.
void add_exits(const Subject& subject, std::vector<Hypothesis>& into) {
  if (!subject.graph_outputs[0] || subject.graph_outputs[0]->direct) return;
  static const char* const names[] = {"seq_length", "num_directions", "batch_size"};
  const Layer& layer = subject.layer;
  const std::int64_t sizes[] = {layer.seq_length, layer.num_directions, layer.batch_size};
  const bool turned = !subject.graph_outputs[0]->turns.empty() || !subject.graph_outputs[0]->elements.empty();
  // Axes of one element stand anywhere.
  const auto moved = [&](const Axes& axes) {
    std::string text;
    for (const Axis axis : axes) {
      const auto index = static_cast<std::size_t>(axis);
      if (sizes[index] != 1) text += std::string(names[index]) + ", ";
    }
    return text;
  };
  std::vector<std::string> known;
  if (!turned) known.push_back(moved(axes_of_Y(as_stated(subject).reading.arrangement)));
  Axes axes{Axis::time, Axis::direction, Axis::batch};
  do {
    const std::string text = moved(axes);
    if (std::ranges::find(known, text) != known.end()) continue;
    known.push_back(text);
    into.push_back({"axes-of-Y", "layout",
                    fmt::format("Y leaving the graph as [{}hidden_size]: the model {}", text,
                                turned ? "transposes it otherwise" : "does not transpose it"),
                    [axes](Candidate& c) {
                      c.reading.Y_at_its_exit = axes;
                      return true;
                    }});
  } while (std::ranges::next_permutation(axes).found);
}

void add_states(const Subject& subject, std::vector<Hypothesis>& into) {
  const auto add = [&](const char* id, const char* family, const char* text, auto change) {
    into.push_back({id, family, text, [change](Candidate& c) {
                      change(c);
                      return true;
                    }});
  };
  const Layer& layer = subject.layer;
  if (layer.initial_h) {
    add("initial-h-ignored", "initial", "initial_h left out: the source begins with zeros",
        [](Candidate& c) { c.layer.initial_h = nullptr; });
  }
  if (layer.initial_c) {
    add("initial-c-ignored", "initial", "initial_c left out: the source begins with a cell state of zeros",
        [](Candidate& c) { c.layer.initial_c = nullptr; });
  }
  if (layer.initial_h && layer.initial_c) {
    add("initial-states-ignored", "initial", "initial_h and initial_c left out: the source begins with zeros",
        [](Candidate& c) { c.layer.initial_h = c.layer.initial_c = nullptr; });
  }
  if (layer.initial_h || layer.initial_c) {
    if (layer.op == Op::lstm) {
      add("initial-states-exchanged", "initial", "initial_h and initial_c exchanged",
          [](Candidate& c) { std::swap(c.layer.initial_h, c.layer.initial_c); });
    }
  }
  if (layer.op == Op::lstm && (subject.graph_outputs[1] || subject.graph_outputs[2])) {
    add("final-states-exchanged", "final", "Y_h and Y_c exchanged",
        [](Candidate& c) { c.reading.exchange_states = true; });
  }
}

/// A source that has no final state of its own takes it from Y, at one time for both directions.
void add_final_times(const Subject& subject, std::vector<Hypothesis>& into) {
  const Layer& layer = subject.layer;
  const auto shorter = [&](std::int64_t length) { return length < layer.seq_length; };
  const bool has_backward = layer.num_directions == 2 || layer.reversed[0];
  const bool has_forward = layer.num_directions == 2 || !layer.reversed[0];
  const auto add = [&](const char* id, const std::string& names, FinalAt h, FinalAt c, const char* where) {
    into.push_back(
        {id, "final", fmt::format("{} being the state at {}", names, where), [h, c](Candidate& to) {
           to.reading.final_at = {h, c};
           return true;
         }});
  };
  const auto add_all = [&](const char* id, FinalAt at, const char* where) {
    if (subject.graph_outputs[1]) add(id, "Y_h", at, FinalAt::last_step, where);
    if (subject.graph_outputs[2]) add(id, subject.graph_outputs[1] ? "Y_h and Y_c" : "Y_c", at, at, where);
  };
  if (subject.Y_h_at != FinalAt::last_step) {
    add_all("final-states-at-last-step", FinalAt::last_step,
            "each row's last step, as the node's Y_h is: the model takes Y at one time");
  }
  if (has_backward) {
    add_all("final-states-at-last-time", FinalAt::last_valid_time,
            "each row's last time, as Y[-1] is: of the backward direction that is its first step");
  }
  if (subject.has_sequence_lens && std::ranges::any_of(layer.lengths, shorter)) {
    add_all("final-states-at-last-time", FinalAt::last_time,
            "the last time, as Y[-1] is, which is behind the end of shorter rows");
  }
  if (has_forward) {
    add_all("final-states-at-first-time", FinalAt::first_time,
            "time 0, as Y[0] is: of the forward direction that is its first step");
  }
}

}  // namespace

void add_sequence_hypotheses(const Subject& subject, std::vector<Hypothesis>& into) {
  add_directions(subject, into);
  add_states(subject, into);
  add_layouts(subject, into);
  add_exits(subject, into);
  add_final_times(subject, into);
  add_reshaped_X(subject, into);
}

}  // namespace grurun::trial::diagnosis
