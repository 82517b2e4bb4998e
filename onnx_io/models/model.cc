#include "onnx_io/models/model.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string_view>

#include "onnx_io/mapped_files.h"
#include "onnx_io/models/load_for_check.h"
#include "onnx_io/models/load_to_run.h"
#include "onnx_io/models/lookalikes.h"
#include "onnx_io/models/mend_model.h"
#include "onnx_io/models/message_budget.h"
#include "onnx_io/models/model_text.h"
#include "onnx_io/models/proto_convert.h"
#include "onnx_io/models/watched_stream.h"
#include "onnx_io/openvino/openvino_ir.h"
#include "onnx_io/unpack.h"
#include "tensor/error.h"
#include "tensor/interruption.h"
#include "tensor/limits.h"

namespace grurun::onnx_io {

namespace {

// Version numbers are small; what is beyond this is an attack or garbage, and safe to refuse before
// arithmetic.
constexpr std::int64_t highest_version = INT32_MAX;

[[noreturn]] void fail_no_model(std::string_view head, const char* otherwise) {
  const char* const known = lookalike(head);
  fail_invalid("no ONNX model: it is {}", known != nullptr ? known : otherwise);
}

void require_size(std::uint64_t size) {
  if (size == 0) fail_invalid("no ONNX model: it is empty");
  require_model_size(size, "its file");
  if (size > INT_MAX) {
    fail_invalid("{} bytes, but protobuf messages end at 2 GiB; store the weights as external data", size);
  }
}

// The weights of m.xml are in m.bin, those of other names in that name with .bin behind it.
Model load_ir(const std::string& path) {
  const Bytes xml = read_file(path);
  std::string weights = path.substr(path.rfind('/') + 1);
  if (weights.ends_with(".xml")) weights.resize(weights.size() - 4);
  Model model = parse_openvino_ir(xml.text(), folder_of(path), weights + ".bin");
  model.path = path;
  return model;
}

struct Reading {
  Versions bad = Versions::refused;
  std::vector<Mended>* mended = nullptr;  // where to tell what was mended; nullptr: nothing is to be
};

Model parsed(std::shared_ptr<::onnx::ModelProto> proto, bool complete, std::string_view head,
             ExternalData* external, const Reading& how) {
  if (!complete) fail_no_model(head, "truncated, damaged, or no protobuf message at all");
  if (!proto->has_graph()) fail_no_model(head, "a protobuf message without a graph");
  keep_highest_imports(*proto);
  if (how.mended != nullptr) *how.mended = mend_model(*proto);
  return model_from_proto(std::move(proto), external, how.bad);
}

void check_ir_version(const ::onnx::ModelProto& proto, Versions bad) {
  const std::int64_t version = proto.ir_version();
  const std::int64_t lowest = bad == Versions::kept ? INT32_MIN : 1;
  const bool is_there = proto.has_ir_version() || bad == Versions::kept;
  if (!is_there) fail_invalid("no ONNX model: it has no ir_version");
  if (version < lowest || version > highest_version) fail_invalid("ir_version {} is no IR version", version);
  if (bad == Versions::refused && version > ::onnx::IR_VERSION) {
    fail_unsupported("ir_version {} is newer than the newest known here, {}", version,
                     static_cast<int>(::onnx::IR_VERSION));
  }
}

}  // namespace

OpsetImports imports_from_proto(const google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>& imports,
                                Versions bad) {
  OpsetImports out;
  for (const auto& import : imports) {
    const std::string domain = canonical_domain(import.domain());
    const std::int64_t version = import.version();
    const std::int64_t lowest = bad == Versions::kept ? INT32_MIN : 1;
    if (version < lowest || version > highest_version) {
      fail_invalid("opset_import: {} is no opset version (domain {})", version, shown_domain(domain));
    }
    std::int64_t& highest = out.emplace(domain, version).first->second;
    highest = std::max(highest, version);
  }
  return out;
}

namespace {

/// Messages end at a depth of their own, which keeps this from running out of stack.
void require_depth(const Graph& graph, std::int64_t left) {
  for (const Node& node : graph.nodes) {
    for (const Attribute& attribute : node.attributes) {
      for (const auto& body : attribute.graphs) {
        if (left == 0)
          fail(ErrorKind::limit, "bodies are nested more than {} deep (--max-depth)", limits().depth);
        require_depth(*body, left - 1);
      }
    }
  }
}

}  // namespace

Model model_from_proto(std::shared_ptr<const ::onnx::ModelProto> keep, ExternalData* external, Versions bad) {
  const ::onnx::ModelProto& proto = *keep;
  check_ir_version(proto, bad);
  const TensorSource source{external, keep};
  Model model;
  model.ir_version = proto.ir_version();
  model.producer_name = proto.producer_name();
  model.producer_version = proto.producer_version();
  model.opset_imports = imports_from_proto(proto.opset_import(), bad);
  if (model.opset_imports.empty()) {
    if (model.ir_version >= 3) fail_invalid("it has no opset_import, which IR version 3 and later need");
    model.opset_imports.emplace("", 1);
  }
  model.graph = graph_from_proto(proto.graph(), source);
  for (const auto& function : proto.functions())
    model.functions.push_back(function_from_proto(function, source));
  if (limits().depth < Limits::most_depth) require_depth(model.graph, limits().depth);
  if (external != nullptr) model.external_files = external->paths();
  require_whole_files();
  model.proto = std::move(keep);
  return model;
}

namespace {

Model parse(std::string_view content, const std::string& base_folder, const Reading& how) {
  require_size(content.size());
  Bytes unpacked_bytes;
  if (const std::optional<Compression> compression = compression_of(content)) {
    unpacked_bytes = unpacked(*compression, content, INT_MAX);
    content = unpacked_bytes.text();
    require_size(content.size());
  }
  auto proto = std::make_shared<::onnx::ModelProto>();
  bool complete = true;
  if (const std::optional<ModelText> text = text_of(content)) {
    parse_text(*text, content, *proto);
  } else {
    google::protobuf::io::CodedInputStream walked(reinterpret_cast<const std::uint8_t*>(content.data()),
                                                  static_cast<int>(content.size()));
    require_affordable(walked, MessageRoot::model, content.size());
    complete = proto->ParseFromArray(content.data(), static_cast<int>(content.size()));
  }
  ExternalData external(base_folder, content.size());
  return parsed(std::move(proto), complete, content.substr(0, 512), &external, how);
}

// What is read from the file as it is parsed is never there twice.
Model load_binary(const OpenFile& file, std::string_view head, const std::string& folder,
                  const Reading& how) {
  require_size(file.size);
  {
    google::protobuf::io::FileInputStream stream(file.descriptor.get());
    google::protobuf::io::CodedInputStream walked(&stream);
    require_affordable(walked, MessageRoot::model, file.size);
  }
  if (::lseek(file.descriptor.get(), 0, SEEK_SET) != 0) fail_usage("reading failed (error {})", errno);
  auto proto = std::make_shared<::onnx::ModelProto>();
  google::protobuf::io::FileInputStream stream(file.descriptor.get());
  WatchedStream watched(&stream);
  const bool complete = proto->ParseFromZeroCopyStream(&watched);
  look_for_interruption();
  if (stream.GetErrno() != 0) fail_usage("reading failed (error {})", stream.GetErrno());
  ExternalData external(folder, file.size);
  return parsed(std::move(proto), complete, head, &external, how);
}

Model load(const std::string& path, const Reading& how) {
  const OpenFile file = open_file(path);
  return with_context([&] { return path; },
                      [&] {
                        const std::string head = read_head(file.descriptor);
                        if (looks_like_openvino_ir(head)) return load_ir(path);
                        const bool is_binary = !compression_of(head) && !text_of(head);
                        if (!is_binary) require_size(file.size);
                        Model model = is_binary ? load_binary(file, head, folder_of(path), how)
                                                : parse(read_whole(file).text(), folder_of(path), how);
                        model.path = path;
                        return model;
                      });
}

}  // namespace

Model load_model(const std::string& path) {
  return load(path, {});
}

Model load_model_for_check(const std::string& path, std::vector<Mended>* mended) {
  return load(path, {.bad = Versions::kept, .mended = mended});
}

RunnableModel load_model_to_run(const std::string& path) {
  RunnableModel out;
  out.model = load(path, {.mended = &out.mended});
  return out;
}

Model parse_model(const void* data, std::size_t size, const std::string& base_folder) {
  return parse({static_cast<const char*>(data), size}, base_folder, {});
}

Model parse_model_for_check(const void* data, std::size_t size, const std::string& base_folder,
                            std::vector<Mended>* mended) {
  return parse({static_cast<const char*>(data), size}, base_folder,
               {.bad = Versions::kept, .mended = mended});
}

RunnableModel parse_model_to_run(const void* data, std::size_t size, const std::string& base_folder) {
  RunnableModel out;
  out.model = parse({static_cast<const char*>(data), size}, base_folder, {.mended = &out.mended});
  return out;
}

const Attribute* Node::find_attribute(const std::string& attribute_name) const {
  for (const Attribute& attribute : attributes) {
    if (attribute.name == attribute_name) return &attribute;
  }
  return nullptr;
}

InitializerIndex index_initializers(const Graph& graph) {
  InitializerIndex index;
  for (const Initializer& initializer : graph.initializers)
    index.emplace(initializer.name, &initializer.tensor);
  return index;
}

std::string canonical_domain(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}

std::string shown_domain(const std::string& domain) {
  return domain.empty() ? "ai.onnx" : domain;
}

std::string qualified_name(const std::string& domain, const std::string& op_type) {
  return domain.empty() ? op_type : domain + "." + op_type;
}

}  // namespace grurun::onnx_io
