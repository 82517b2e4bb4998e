#include "cli/intermediate_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "onnx_io/bytes.h"
#include "onnx_io/values/tensor_files.h"
#include "tensor/error.h"
#include "trial/data_set.h"
#include "trial/intermediates.h"

namespace grurun::cli {
namespace {

using onnx_io::FileFormat;

bool is_json(const std::string& path) {
  return onnx_io::format_of(path) == FileFormat::json;
}

/// Values on their way to a folder, a .npz or a .json.
class SavedValues {
 public:
  SavedValues(const std::string& path, const onnx_io::ScratchFolder* scratch) : path_(path) {
    if (path.empty()) return;
    if (trial::names_folder(path))
      store_ = trial::ValueStore::make_folder(path);
    else if (scratch != nullptr)
      store_ = trial::ValueStore::make(scratch->path());
  }

  void add(const std::string& name, const Value& value) {
    if (is_json(path_)) {
      held_.push_back({name, value});
    } else if (store_) {
      store_->add(name, value);
    }
  }

  void finish() {
    if (is_json(path_)) {
      std::ranges::sort(held_, {}, &onnx_io::NamedValue::name);
      onnx_io::write_values(path_, held_);
    } else if (store_ && !trial::names_folder(path_)) {
      store_->write_npz(path_);
    }
  }

 private:
  std::string path_;
  std::optional<trial::ValueStore> store_;
  std::vector<onnx_io::NamedValue> held_;
};

}  // namespace

void add_intermediate_flags(CLI::App& app, IntermediateFlags& flags) {
  const char* between = "Between the nodes";
  app.add_option("--save-intermediates", flags.save,
                 "Run once more node by node, and write every value by name: a folder of .pb, .npz or .json")
      ->type_name("PATH")
      ->group(between);
  app.add_option("--values", flags.values, "Save those alone whose names fit: 'layer_1/*'; may be repeated")
      ->allow_extra_args(false)
      ->type_name("PATTERN")
      ->group(between);
  app.add_option("--expected-intermediates", flags.expected,
                 "Compare the values between with those of a folder, .npz or .json, by name, as bisect does")
      ->type_name("PATH")
      ->group(between);
  app.add_option("--names", flags.names, "Other names there: {\"name in the model\": \"name there\"}")
      ->type_name("MAP.json")
      ->group(between);
  app.add_option("--print", flags.printed,
                 "Print this value as an output, 'h' or 'loop/3/h'; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME")
      ->group(between);
}

void require_fitting(const IntermediateFlags& flags) {
  for (const auto& [flag, path] : {std::pair("--save-intermediates", flags.save),
                                   std::pair("--expected-intermediates", flags.expected)}) {
    const FileFormat format = onnx_io::format_of(path);
    if (format == FileFormat::pb || format == FileFormat::npy)
      fail_usage("{} takes a folder, or a file that ends in .npz or .json, not {}", flag, path);
  }
  if (flags.save.empty() && !flags.values.empty())
    fail_usage("--values says which values --save-intermediates writes; there is no such flag");
  if (flags.expected.empty() && !flags.names.empty())
    fail_usage("--names says what --expected-intermediates calls values; there is no such flag");
}

void add_read_paths(const IntermediateFlags& flags, std::vector<NamedPath>& read) {
  if (!flags.expected.empty()) read.push_back({"--expected-intermediates", flags.expected});
  if (!flags.names.empty()) read.push_back({"--names", flags.names});
}

std::unique_ptr<onnx_io::ScratchFolder> scratch_for(const IntermediateFlags& flags) {
  if (onnx_io::format_of(flags.save) != FileFormat::npz) return nullptr;
  return std::make_unique<onnx_io::ScratchFolder>(onnx_io::folder_of(flags.save));
}

void look_between(const IntermediateFlags& flags, const onnx_io::Model& model,
                  const std::vector<Value>& inputs, const trial::BisectOptions& options,
                  const onnx_io::ScratchFolder* scratch, report::RunReport& report) {
  if (!flags.save.empty() || !flags.printed.empty()) {
    SavedValues saved(flags.save, scratch);
    std::map<std::string, Value> printed;
    trial::run_seeing_values(model, inputs, options.rerun, [&](const trial::MadeValue& made) {
      if (trial::fits_any(made.name, flags.values)) saved.add(made.name, made.value);
      if (std::ranges::count(flags.printed, made.name) > 0) printed.emplace(made.name, made.value);
    });
    for (const std::string& name : flags.printed) {
      const auto found = printed.find(name);
      if (found == printed.end())
        fail_usage("--print: no node makes a value '{}'; --save-intermediates writes all there are", name);
      report.between.push_back(*found);
    }
    saved.finish();
  }
  if (flags.expected.empty()) return;
  trial::Reference reference{trial::ValueStore::open(flags.expected, "--expected-intermediates")};
  if (!flags.names.empty()) reference.values.rename(trial::read_name_map(flags.names), "--names");
  report.bisection = trial::bisect(model, inputs, reference, options);
  report.bisection->reference = flags.expected;
}

}  // namespace grurun::cli
