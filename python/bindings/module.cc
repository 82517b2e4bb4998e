// The extension module grurun._core: what the package's Python sources build on.
#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <iterator>
#include <thread>

#include "cli/program.h"
#include "conformance/policy.h"
#include "conformance/version.h"
#include "onnx_io/models/load_for_check.h"
#include "onnx_io/models/load_to_run.h"
#include "onnx_io/models/node_origin.h"
#include "opset/check/mended_findings.h"
#include "opset/findings/form_watch.h"
#include "python/bindings/errors.h"
#include "python/bindings/session.h"
#include "python/bindings/values.h"
#include "report/findings/check_format.h"
#include "tensor/error.h"
#include "tensor/interruption.h"
#include "tensor/memory/handles.h"
#include "tensor/memory/heap.h"
#include "tensor/memory/memory.h"
#include "tensor/printable.h"
#include "trial/compare.h"
#include "trial/data_set.h"
#include "trial/model_check.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace grurun::python {
namespace {

constexpr std::chrono::milliseconds interval_of_polls{50};

// Ctrl-C ends a run of the main thread, which alone handles signals.
Session::Poll poll_signals() {
  thread_local const bool is_main = gettid() == getpid();
  if (!is_main) return {};
  return [here = std::this_thread::get_id(),
          due = std::chrono::steady_clock::now() + interval_of_polls]() mutable {
    if (std::this_thread::get_id() != here) return;  // one of the pool
    const auto now = std::chrono::steady_clock::now();
    if (now < due) return;
    due = now + interval_of_polls;
    const nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  };
}

// Ctrl-C and max_time end what is not a run, too.
std::function<void()> bounded(const char* what, std::optional<double> max_time, Session::Poll poll) {
  const auto begin = std::chrono::steady_clock::now();
  return [what, max_time, begin, poll = std::move(poll)] {
    if (poll) poll();
    if (max_time && std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(*max_time))
      fail(ErrorKind::limit, "{} took longer than {:g} s (max_time)", what, *max_time);
  };
}

// A path, the bytes of a ModelProto, or a message that has them. The GIL is held.
template <typename FromPath, typename FromBytes>
auto read_model(nb::handle source, const FromPath& from_path, const FromBytes& from_bytes) {
  nb::object held = nb::borrow(source);
  if (nb::hasattr(held, "SerializeToString")) held = held.attr("SerializeToString")();
  char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyBytes_Check(held.ptr())) {
    if (PyBytes_AsStringAndSize(held.ptr(), &data, &size) != 0) throw nb::python_error();
    const nb::gil_scoped_release no_gil;
    return from_bytes(data, static_cast<std::size_t>(size));
  }
  PyObject* path = nullptr;
  if (PyUnicode_FSConverter(held.ptr(), &path) == 0) {
    PyErr_Clear();
    fail_usage("a model is a path, bytes or a ModelProto, not an object of the type {}",
               from_text(held.type().attr("__name__")));
  }
  const nb::object bytes = nb::steal(path);
  const std::string text = PyBytes_AsString(bytes.ptr());
  const nb::gil_scoped_release no_gil;
  return from_path(text);
}

onnx_io::RunnableModel load(nb::handle source, std::optional<double> max_time) {
  const Interruption interruption(bounded("reading the model", max_time, poll_signals()));
  return read_model(source, onnx_io::load_model_to_run, [](const void* data, std::size_t size) {
    return onnx_io::parse_model_to_run(data, size, "");
  });
}

std::string warning_text(const opset::Finding& finding) {
  return printable(report::finding_text(finding));
}

void warn(const std::vector<opset::Finding>& findings) {
  if (findings.empty()) return;
  const nb::object category = nb::module_::import_("grurun._errors").attr("ModelWarning");
  for (const opset::Finding& finding : findings) {
    if (PyErr_WarnEx(category.ptr(), warning_text(finding).c_str(), 1) != 0) throw nb::python_error();
  }
}

nb::list names_of(const std::vector<onnx_io::ValueInfo>& infos) {
  nb::list names;
  for (const onnx_io::ValueInfo& info : infos) names.append(to_text(info.name));
  return names;
}

// "input" or "output": what the infos are of a model.
std::size_t number_of(nb::handle key, const char* what, const std::vector<onnx_io::ValueInfo>& infos) {
  const std::string name = from_text(key);
  const auto found = std::ranges::find(infos, name, &onnx_io::ValueInfo::name);
  if (found == infos.end()) {
    fail_usage("the model has no {} '{}'; its {}s are {}", what, name, what,
               from_text(nb::str(", ").attr("join")(names_of(infos))));
  }
  return static_cast<std::size_t>(found - infos.begin());
}

std::vector<Value> values_of(const nb::dict& given, const char* what,
                             const std::vector<onnx_io::ValueInfo>& infos, Kept& kept) {
  std::vector<Value> values(infos.size());
  for (auto [key, object] : given) {
    const std::size_t number = number_of(key, what, infos);
    values[number] = with_context(
        [&] { return fmt::format("{} '{}'", what, infos[number].name); },
        [&, given_value = nb::handle(object)] { return to_value(given_value, infos[number].type, kept); });
  }
  return values;
}

std::vector<std::size_t> outputs_of(const onnx_io::Graph& graph, nb::handle names) {
  std::vector<std::size_t> numbers;
  if (names.is_none()) {
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) numbers.push_back(i);
    return numbers;
  }
  for (nb::handle name : names) numbers.push_back(number_of(name, "output", graph.outputs));
  return numbers;
}

nb::list run(Session& session, nb::handle output_names, const nb::dict& feeds) {
  const onnx_io::Graph& graph = session.model().graph;
  const std::vector<std::size_t> wanted = outputs_of(graph, output_names);
  Kept kept;
  std::vector<Value> values = values_of(feeds, "input", graph.inputs, kept);
  std::vector<opset::Finding> warnings;
  const Session::Poll poll = poll_signals();
  std::vector<Value> outputs;
  {
    const nb::gil_scoped_release no_gil;
    outputs = session.run(std::move(values), poll, warnings);
  }
  warn(warnings);
  nb::list list;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::size_t number = wanted[i];
    const bool again =
        std::find(wanted.begin() + static_cast<std::ptrdiff_t>(i) + 1, wanted.end(), number) != wanted.end();
    list.append(to_python(again ? outputs[number] : std::move(outputs[number])));
  }
  return list;
}

nb::dict intermediates(const Session& session, const std::optional<std::vector<std::string>>& names,
                       const nb::dict& feeds) {
  Kept kept;
  const std::vector<Value> values = values_of(feeds, "input", session.model().graph.inputs, kept);
  const Session::Poll poll = poll_signals();
  std::vector<onnx_io::NamedValue> found;
  {
    const nb::gil_scoped_release no_gil;
    found = session.intermediates(names, values, poll);
  }
  nb::dict dict;
  for (onnx_io::NamedValue& each : found) dict[to_text(each.name)] = to_python(std::move(each.value));
  return dict;
}

void write_data_set(const Session& session, const std::string& folder, const nb::dict& inputs,
                    const nb::dict& outputs) {
  const onnx_io::Graph& graph = session.model().graph;
  Kept kept;
  trial::write_values(folder, graph, trial::input_slots(graph),
                      values_of(inputs, "input", graph.inputs, kept), trial::Side::input);
  trial::write_values(folder, graph, trial::output_slots(graph),
                      values_of(outputs, "output", graph.outputs, kept), trial::Side::output);
}

// (name, type, shape): a number, a name or None for each dimension; None where the rank is not known.
nb::list described(const std::vector<onnx_io::ValueInfo>& infos) {
  nb::list list;
  for (const onnx_io::ValueInfo& info : infos) {
    nb::object shape = nb::none();
    if (info.type.shape) {
      nb::list dims;
      for (const Dim& dim : *info.type.shape) {
        if (dim.value) {
          dims.append(*dim.value);
        } else if (!dim.name.empty()) {
          dims.append(to_text(dim.name));
        } else {
          dims.append(nb::none());
        }
      }
      shape = dims;
    }
    list.append(nb::make_tuple(to_text(info.name), info.type.to_string(), shape));
  }
  return list;
}

nb::list findings(const onnx_io::Model& model, std::optional<double> max_time, bool strict,
                  const std::vector<onnx_io::Mended>& mended = {}) {
  const opset::FormsRefused forms(strict);
  opset::CheckResult result;
  {
    const Interruption interruption(bounded("the check", max_time, poll_signals()));
    const nb::gil_scoped_release no_gil;
    result = trial::check_fully(model, trial::CheckDepth::everything);
  }
  std::vector<opset::Finding> found = opset::mended_findings(mended);
  std::ranges::move(result.findings, std::back_inserter(found));
  nb::list list;
  for (const opset::Finding& finding : found) {
    list.append(nb::make_tuple(finding.code, opset::severity_name(finding.severity), to_text(finding.node),
                               to_text(finding.op), finding.section, to_text(finding.message)));
  }
  return list;
}

nb::list check(nb::handle source, bool strict) {
  const Interruption interruption(bounded("the check", std::nullopt, poll_signals()));
  std::vector<onnx_io::Mended> mended;
  const onnx_io::Model model = read_model(
      source, [&](const std::string& path) { return onnx_io::load_model_for_check(path, &mended); },
      [&](const void* data, std::size_t size) {
        return onnx_io::parse_model_for_check(data, size, "", &mended);
      });
  return findings(model, std::nullopt, strict, mended);
}

nb::object pair_to_python(const std::optional<trial::ElementPair>& pair) {
  if (!pair) return nb::none();
  return nb::make_tuple(pair->where, nb::tuple(nb::cast(pair->index)), to_text(pair->actual),
                        to_text(pair->expected));
}

// What a policy may ask of a value: the file, and what the value is of.
struct PolicyArguments {
  std::string file, name, op_type, output;
};

trial::Tolerances tolerances_of(std::optional<double> rtol, std::optional<double> atol,
                                const PolicyArguments& policy) {
  trial::Tolerances out{{rtol, atol}, {}};
  if (policy.file.empty()) return out;
  conformance::Case test;
  const std::size_t slash = policy.name.find('/');
  if (slash != std::string::npos) test.kind = policy.name.substr(0, slash);
  test.name = slash == std::string::npos ? policy.name : policy.name.substr(slash + 1);
  test.path = policy.name;
  out.rule = [rules = conformance::Policy::load(policy.file), test, policy](DType type) {
    return rules->find(test, {policy.op_type}, policy.output, type);
  };
  return out;
}

nb::dict compare(nb::handle actual, nb::handle expected, std::optional<double> rtol,
                 std::optional<double> atol, const std::string& policy, const std::string& name,
                 const std::string& op_type, const std::string& output) {
  Kept kept;
  const ValueType unknown;
  const Value left = to_value(actual, unknown, kept), right = to_value(expected, unknown, kept);
  trial::Comparison comparison;
  std::string text;
  {
    const nb::gil_scoped_release no_gil;
    comparison =
        trial::compare_values(left, right, tolerances_of(rtol, atol, {policy, name, op_type, output}));
    text = trial::describe(comparison);
  }
  const trial::ElementErrors& errors = comparison.errors;
  nb::dict dict;
  dict["ok"] = comparison.ok;
  dict["text"] = to_text(text);
  dict["actual_type"] = comparison.actual_type;
  dict["expected_type"] = comparison.expected_type;
  dict["structure"] = to_text(comparison.structure);
  dict["rtol"] = comparison.tolerance.rtol;
  dict["atol"] = comparison.tolerance.atol;
  dict["total"] = errors.total;
  dict["differing"] = errors.differing;
  dict["non_finite"] = errors.non_finite;
  dict["max_abs"] = errors.max_abs;
  dict["max_rel"] = errors.max_rel;
  dict["max_ulp"] = errors.max_ulp ? nb::cast(*errors.max_ulp) : nb::none();
  dict["first"] = pair_to_python(comparison.first);
  dict["worst"] = pair_to_python(comparison.worst);
  dict["least_rtol"] = comparison.headroom.least_rtol(comparison.tolerance.atol);
  dict["least_atol"] = comparison.headroom.least_atol(comparison.tolerance.rtol);
  const double cosine = comparison.energies.cosine();
  dict["cosine"] = std::isfinite(cosine) ? nb::cast(cosine) : nb::none();
  const double snr = comparison.energies.snr();
  dict["snr_db"] = std::isnan(snr) ? nb::none() : nb::cast(snr);
  dict["rule"] = comparison.rule ? nb::cast(comparison.rule->place) : nb::none();
  return dict;
}

nb::list texts_of(const std::vector<std::string>& texts) {
  nb::list out;
  for (const std::string& text : texts) out.append(to_text(text));
  return out;
}

/// Of the main graph: operator, name, inputs, outputs, and what the exporter wrote of its origin.
nb::list nodes(const std::string& path) {
  const onnx_io::Model model = onnx_io::load_model(path);
  const std::vector<onnx_io::Origin> origins = onnx_io::origins_of(model);
  nb::list out;
  for (std::size_t i = 0; i < origins.size(); ++i) {
    const onnx_io::Node& node = model.graph.nodes[i];
    nb::list notes;
    for (const auto& [key, note] : origins[i]) notes.append(nb::make_tuple(to_text(key), to_text(note)));
    out.append(nb::make_tuple(to_text(node.op_type), to_text(node.name), texts_of(node.inputs),
                              texts_of(node.outputs), notes));
  }
  return out;
}

// The command as a program of its own would do it: it handles Ctrl-C as the system does.
int run_command(const std::vector<std::string>& arguments) {
  std::vector<std::string> kept = arguments;
  std::vector<char*> argv;
  for (std::string& argument : kept) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::signal(SIGINT, SIG_DFL);
  const nb::gil_scoped_release no_gil;
  return cli::run_program(static_cast<int>(kept.size()), argv.data());
}

}  // namespace

void define(nb::module_& module) {
  memory::set_limit(default_memory());
  memory::begin_counting_heap();
  memory::begin_counting_handles();
  register_errors();
  define_memory(module);
  module.attr("__version__") = conformance::version();
  nb::class_<Session>(module, "Session")
      .def(
          "__init__",
          [](Session* self, nb::handle model, int threads, std::uint64_t seed,
             std::optional<std::size_t> max_memory, std::optional<double> max_time, bool fusion,
             bool strict) {
            const SessionOptions options{threads, seed, max_memory, max_time, fusion, strict};
            require_valid(options);
            onnx_io::RunnableModel loaded = load(model, max_time);
            const nb::gil_scoped_release no_gil;
            new (self) Session(std::move(loaded), options);
          },
          "model"_a, nb::kw_only(), "threads"_a = 0, "seed"_a = 0, "max_memory"_a = nb::none(),
          "max_time"_a = nb::none(), "fusion"_a = true, "strict"_a = false)
      .def("run", &run, "output_names"_a.none(), "feeds"_a)
      .def("_intermediates", &intermediates, "names"_a.none(), "feeds"_a)
      .def("_require_plan",
           [](const Session& session) {
             const Interruption interruption(
                 bounded("planning the model", session.options().max_time, poll_signals()));
             const nb::gil_scoped_release no_gil;
             session.require_plan();
           })
      .def("_mended",
           [](const Session& session) {
             nb::list texts;
             for (const opset::Finding& finding : opset::mended_findings(session.mended()))
               texts.append(to_text(warning_text(finding)));
             return texts;
           })
      .def("_check",
           [](const Session& session) {
             return findings(session.model(), session.options().max_time, session.options().strict);
           })
      .def("_inputs", [](const Session& session) { return described(session.model().graph.inputs); })
      .def("_outputs", [](const Session& session) { return described(session.model().graph.outputs); })
      .def("_initialized", [](const Session& session) {
        nb::list names;
        for (const onnx_io::Initializer& initializer : session.model().graph.initializers)
          names.append(to_text(initializer.name));
        return names;
      });
  module.def("check", &check, "model"_a, nb::kw_only(), "strict"_a = false);
  module.def("nodes", &nodes, "path"_a);
  module.def("compare", &compare, "actual"_a.none(), "expected"_a.none(), "rtol"_a.none(), "atol"_a.none(),
             "policy"_a = "", "name"_a = "", "operator"_a = "", "output"_a = "");
  module.def("write_data_set", &write_data_set, "session"_a, "folder"_a, "inputs"_a, "outputs"_a);
  module.def("run_command", &run_command, "arguments"_a);
}

}  // namespace grurun::python

NB_MODULE(_core, module) {
  grurun::python::define(module);
}
