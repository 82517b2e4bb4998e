// What has no element takes no time, whatever its other dimensions: every operator, with inputs and
// attributes drawn at random.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <random>

#include "engine/graph/op_registry.h"
#include "engine/kernels/machine/parallel.h"
#include "opset/schema/registry.h"
#include "tensor/memory/memory.h"
#include "tests/engine/graph/model_building.h"
#include "tests/sample.h"

namespace grurun::engine {
namespace {

using namespace testing;

constexpr std::int64_t vast = std::int64_t{1} << 40;

const std::vector<Shape> empty_shapes = {
    {vast, 0},       {0, vast},       {vast, 2, 0},    {2, 0, vast},    {0, vast, 2},
    {vast, 1, 0, 1}, {1, vast, 0, 1}, {2, 0, 1, 2},    {1, 0, 2, vast}, {0, vast, 1, 1},
    {0, 1, vast, 2}, {vast, 0, 1, 1}, {0, 2, 2, vast},
};

/// What a child tells its parent.
struct Report {
  char running[256];  // the node, while it runs
  char failure[256];
  int ran;  // nodes without an error
};

constexpr itimerval three_seconds{{}, {3, 0}};  // of processor time, on all threads

void note(char (&to)[256], const std::string& text) {
  to[text.copy(to, sizeof to - 1)] = 0;
}

/// A page that children write to.
class Shared {
 public:
  Shared()
      : report_(static_cast<Report*>(
            mmap(nullptr, sizeof(Report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~Shared() { munmap(report_, sizeof(Report)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  Report& operator*() const { return *report_; }

 private:
  Report* report_;
};

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t n) { return random_() % n; }

  DType type(const DTypeSet& admitted, DType preferred) {
    if (admitted.contains(preferred)) return preferred;
    for (const DType other :
         {DType::float32, DType::int64, DType::int32, DType::uint8, DType::boolean, DType::float64})
      if (admitted.contains(other)) return other;
    return preferred;
  }

  static constexpr std::size_t shapes_beside = 7;

  /// An input beside one of this shape, of which `kind` tells what shape it has.
  static Value beside(const Shape& shape, DType type, std::size_t kind) {
    const auto rank = static_cast<std::int64_t>(shape.rank());
    switch (kind) {
      case 0:
      case 1:
        return Tensor::zeros(type, shape);
      case 2:
        return ones(type, Shape{});
      case 3:
        return ones(type, Shape{rank});
      case 4:
        return shape[1] <= 4 ? ones(type, Shape{shape[1]}) : ones(type, Shape{1});
      case 5:
        return shape[0] <= 4 ? ones(type, Shape{shape[0]}) : ones(type, Shape{1});
      default:
        return ones(type, shape.rank() == 4 ? Shape{1, 1, 1, 1} : Shape{1, 1});
    }
  }

  void attribute(const opset::AttributeInfo& info, const Shape& shape, Attributes& to) {
    if (!info.required && below(2) == 0) return;
    const auto rank = shape.rank();
    if (info.type == onnx_io::AttributeType::int_)
      to.push_back(attr(info.name, static_cast<std::int64_t>(below(4)) - 1));
    if (info.type == onnx_io::AttributeType::float_) to.push_back(attr(info.name, 1.0F));
    if (info.type == onnx_io::AttributeType::ints)
      to.push_back(attr(info.name, std::vector<std::int64_t>(below(2) == 0 && rank > 2 ? rank - 2 : 2, 1)));
    if (info.type == onnx_io::AttributeType::string && info.required) to.push_back(attr(info.name, "ij->ji"));
  }

 private:
  static Value ones(DType type, const Shape& shape) {
    return run_node("Cast", "", 19, {make_ones(shape)}, {attr("to", static_cast<std::int64_t>(type))})[0];
  }
  static Tensor make_ones(const Shape& shape) {
    Tensor made(DType::float32, shape);
    std::fill_n(made.mutable_data<float>(), made.size(), 1.0F);
    return made;
  }

  std::mt19937 random_;
};

OneNode drawn_node(const OpRow& row, int version, const opset::SchemaInfo& schema, Draw& draw) {
  const Shape& shape = empty_shapes[draw.below(empty_shapes.size())];
  OneNode one;
  one.op = row.type;
  one.domain = row.domain;
  one.opset = version;
  const int most = std::min(schema.max_input, schema.min_input + 2);
  const auto count = static_cast<std::size_t>(schema.min_input) +
                     draw.below(static_cast<std::size_t>(most - schema.min_input + 1));
  // Of operators whose inputs must have one shape, few would run if each had its own.
  const bool is_same = draw.below(2) == 0;
  const std::size_t kind = draw.below(Draw::shapes_beside);
  const DType first = draw.type(schema.input_dtypes(0), draw.below(4) == 0 ? DType::int64 : DType::float32);
  for (std::size_t i = 0; i < count; ++i) {
    const DType type = draw.type(schema.input_dtypes(i), first);
    one.inputs.push_back(i == 0 ? Value(Tensor::zeros(type, shape))
                                : draw.beside(shape, type, is_same ? kind : draw.below(Draw::shapes_beside)));
  }
  for (const opset::AttributeInfo& info : schema.attributes) draw.attribute(info, shape, one.attributes);
  one.outputs.assign(static_cast<std::size_t>(std::max(1, schema.min_output)), true);
  return one;
}

void run_reporting(const OneNode& one, Report& report) {
  std::string what = one.op + "-" + std::to_string(one.opset);
  for (std::size_t i = 0; i < one.inputs.size(); ++i)
    what +=
        (i < one.initializers.size() && one.initializers[i] ? " constant " : " ") + one.inputs[i].describe();
  note(report.running, what);
  setitimer(ITIMER_VIRTUAL, &three_seconds, nullptr);
  RunOptions options;
  options.deadline = std::chrono::steady_clock::now() + std::chrono::hours(1);
  try {
    run_node(one, options);
    ++report.ran;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::internal) note(report.failure, what + ": " + error.what());
  }
}

/// As it is, and with inputs as initializers, of which much is made while the model is planned: all but the
/// first, and all.
void run_with_constants(OneNode one, Report& report) {
  run_reporting(one, report);
  one.initializers.assign(one.inputs.size(), true);
  run_reporting(one, report);
  if (one.inputs.empty()) return;
  one.initializers.front() = false;
  run_reporting(one, report);
}

/// In a process of its own, which a loop without end does not outlive: a timer of processor time ends it.
template <typename Body>
int in_child(Report& report, const Body& body) {
  report = {};
  const pid_t child = fork();
  if (child == 0) {
    memory::set_limit(memory::in_use() + (std::size_t{64} << 20));
    std::signal(SIGVTALRM, SIG_DFL);
    body();
    _exit(0);
  }
  int status = -1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

TEST(EmptyTensors, TakeNoTime) {
  const Shared shared;
  constexpr int draws = slow_build ? 20 : 100;
  int operators = 0, ran = 0;
  for (const OpRow& row : all_op_rows()) {
    const int version = row.since_versions.back();
    const opset::SchemaInfo* schema = opset::find_schema(row.type, row.domain, version);
    if (schema == nullptr || schema->max_input == 0) continue;
    ++operators;
    const auto run_drawn = [&] {
      Draw draw(1);
      for (int i = 0; i < draws; ++i) run_with_constants(drawn_node(row, version, *schema, draw), *shared);
    };
    EXPECT_EQ(in_child(*shared, run_drawn), 0) << (*shared).running;
    EXPECT_STREQ((*shared).failure, "");
    ran += (*shared).ran;
  }
  EXPECT_GT(operators, 150);
  EXPECT_GT(10 * ran, draws * operators) << "most nodes are refused before they look at their inputs";
}

// Of rows that threads each take through all steps, none goes on when one has come to the limit.
TEST(EmptyTensors, StepsOfALayerEndAtTheLimitOnAnyNumberOfThreads) {
  const OneNode one{
      .op = "RNN",
      .domain = "",
      .opset = 22,
      .inputs = {Tensor::zeros(DType::float32, {1'000'000'000, 64, 0}),
                 Tensor::zeros(DType::float32, {1, 1, 0}), Tensor::from<float>({1, 1, 1}, {0.5F})},
      .attributes = {attr("hidden_size", 1)},
      .outputs = {false, true}};
  const Shared shared;
  for (const int threads : {1, 2, 3}) {
    const auto run = [&] {
      kernels::set_threads(threads);
      setitimer(ITIMER_VIRTUAL, &three_seconds, nullptr);
      RunOptions options;
      options.max_iterations = 20'000;
      try {
        run_node(one, options);
      } catch (const Error& error) {
        note((*shared).failure, error.what());
      }
    };
    EXPECT_EQ(in_child(*shared, run), 0) << threads << " threads";
    EXPECT_NE(std::string((*shared).failure).find("more than 20000 iterations"), std::string::npos)
        << (*shared).failure;
  }
}

Value no_elements(DType type, Shape shape) {
  return Tensor::zeros(type, std::move(shape));
}

// Of what an operator outside the standard's registry gets, and of layers without units.
TEST(EmptyTensors, WeightsOfLayersWithoutUnits) {
  const std::vector<OneNode> nodes{
      {.op = "DynamicQuantizeLSTM",
       .domain = "com.microsoft",
       .opset = 1,
       .inputs = {no_elements(DType::float32, {0, 1, vast}), no_elements(DType::int8, {1, vast, 0}),
                  no_elements(DType::int8, {1, 0, 0}), Value(), Value(), Value(), Value(), Value(),
                  Tensor::from<float>({1}, {1.0F}), Tensor::from<std::int8_t>({1}, {0}),
                  Tensor::from<float>({1}, {1.0F}), Tensor::from<std::int8_t>({1}, {0})},
       .attributes = {attr("hidden_size", 0)}},
      {.op = "GRU",
       .domain = "",
       .opset = 22,
       .inputs = {no_elements(DType::float32, {0, 1, std::int64_t{1} << 60}),
                  no_elements(DType::float32, {1, 0, std::int64_t{1} << 60}),
                  no_elements(DType::float32, {1, 0, 0})},
       .attributes = {attr("hidden_size", 0)}}};
  const Shared shared;
  for (const OneNode& one : nodes) {
    EXPECT_EQ(in_child(*shared, [&] { run_with_constants(one, *shared); }), 0) << (*shared).running;
    EXPECT_STREQ((*shared).failure, "");
  }
}

}  // namespace
}  // namespace grurun::engine
