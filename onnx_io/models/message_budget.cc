#include "onnx_io/models/message_budget.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>

#include "tensor/error.h"
#include "tensor/interruption.h"

namespace grurun::onnx_io {

namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr std::uint64_t free_bytes = std::uint64_t{512} << 20;
constexpr std::uint64_t times_file = 32;

enum class MessageKind : std::uint8_t {
  none,  // bytes, numbers: no more than a small multiple of what they take in the file
  text,  // a string of a list
  name,  // of a value
  other,
  model,
  training,
  graph,
  node,
  attribute,
  tensor,
  sparse_tensor,
  value_info,
  type,
  tensor_type,
  shape,
  element_type,  // sequence, optional: field 1 is a type
  map_type,
  function,
  sequence,
  optional,
  map,
};

struct CountedField {
  MessageKind of;
  int number;
  MessageKind kind;
};

// onnx-ml.proto and onnx-data.proto, the fields that are messages or lists of strings.
constexpr CountedField counted_fields[] = {
    {MessageKind::model, 7, MessageKind::graph},
    {MessageKind::model, 8, MessageKind::other},
    {MessageKind::model, 14, MessageKind::other},
    {MessageKind::model, 20, MessageKind::training},
    {MessageKind::model, 25, MessageKind::function},
    {MessageKind::model, 26, MessageKind::other},
    {MessageKind::training, 1, MessageKind::graph},
    {MessageKind::training, 2, MessageKind::graph},
    {MessageKind::training, 3, MessageKind::other},
    {MessageKind::training, 4, MessageKind::other},
    {MessageKind::graph, 1, MessageKind::node},
    {MessageKind::graph, 5, MessageKind::tensor},
    {MessageKind::graph, 11, MessageKind::value_info},
    {MessageKind::graph, 12, MessageKind::value_info},
    {MessageKind::graph, 13, MessageKind::value_info},
    {MessageKind::graph, 14, MessageKind::other},
    {MessageKind::graph, 15, MessageKind::sparse_tensor},
    {MessageKind::graph, 16, MessageKind::other},
    {MessageKind::node, 1, MessageKind::name},
    {MessageKind::node, 2, MessageKind::name},
    {MessageKind::node, 5, MessageKind::attribute},
    {MessageKind::node, 9, MessageKind::other},
    {MessageKind::node, 10, MessageKind::other},
    {MessageKind::attribute, 5, MessageKind::tensor},
    {MessageKind::attribute, 6, MessageKind::graph},
    {MessageKind::attribute, 9, MessageKind::text},
    {MessageKind::attribute, 10, MessageKind::tensor},
    {MessageKind::attribute, 11, MessageKind::graph},
    {MessageKind::attribute, 14, MessageKind::type},
    {MessageKind::attribute, 15, MessageKind::type},
    {MessageKind::attribute, 22, MessageKind::sparse_tensor},
    {MessageKind::attribute, 23, MessageKind::sparse_tensor},
    {MessageKind::tensor, 6, MessageKind::text},
    {MessageKind::tensor, 13, MessageKind::other},
    {MessageKind::tensor, 16, MessageKind::other},
    {MessageKind::sparse_tensor, 1, MessageKind::tensor},
    {MessageKind::sparse_tensor, 2, MessageKind::tensor},
    {MessageKind::value_info, 2, MessageKind::type},
    {MessageKind::value_info, 4, MessageKind::other},
    {MessageKind::type, 1, MessageKind::tensor_type},
    {MessageKind::type, 4, MessageKind::element_type},
    {MessageKind::type, 5, MessageKind::map_type},
    {MessageKind::type, 8, MessageKind::tensor_type},
    {MessageKind::type, 9, MessageKind::element_type},
    {MessageKind::tensor_type, 2, MessageKind::shape},
    {MessageKind::shape, 1, MessageKind::other},
    {MessageKind::element_type, 1, MessageKind::type},
    {MessageKind::map_type, 2, MessageKind::type},
    {MessageKind::function, 4, MessageKind::name},
    {MessageKind::function, 5, MessageKind::name},
    {MessageKind::function, 6, MessageKind::name},
    {MessageKind::function, 7, MessageKind::node},
    {MessageKind::function, 9, MessageKind::other},
    {MessageKind::function, 11, MessageKind::attribute},
    {MessageKind::function, 12, MessageKind::value_info},
    {MessageKind::function, 14, MessageKind::other},
    {MessageKind::sequence, 3, MessageKind::tensor},
    {MessageKind::sequence, 4, MessageKind::sparse_tensor},
    {MessageKind::sequence, 5, MessageKind::sequence},
    {MessageKind::sequence, 6, MessageKind::map},
    {MessageKind::sequence, 7, MessageKind::optional},
    {MessageKind::optional, 3, MessageKind::tensor},
    {MessageKind::optional, 4, MessageKind::sparse_tensor},
    {MessageKind::optional, 5, MessageKind::sequence},
    {MessageKind::optional, 6, MessageKind::map},
    {MessageKind::optional, 7, MessageKind::optional},
    {MessageKind::map, 4, MessageKind::text},
    {MessageKind::map, 5, MessageKind::sequence},
};

MessageKind kind_of(MessageKind of, int number) {
  // The table is sorted by the message that a field is of.
  const auto from = std::ranges::lower_bound(counted_fields, of, {}, &CountedField::of);
  for (auto field = from; field != std::end(counted_fields) && field->of == of; ++field)
    if (field->number == number) return field->kind;
  return MessageKind::none;
}
static_assert(std::ranges::is_sorted(counted_fields, {}, &CountedField::of));

/// Bytes that a message or string takes beside what it holds: the message, what is made of it, and the places
/// in lists.
constexpr std::uint64_t cost_of(MessageKind kind) {
  switch (kind) {
    case MessageKind::none:
      return 0;
    case MessageKind::text:
      return 100;
    case MessageKind::name:  // tables of values hold it again
      return 250;
    case MessageKind::graph:
    case MessageKind::function:
    case MessageKind::attribute:
      return 500;
    case MessageKind::node:
      return 400;
    case MessageKind::tensor:
    case MessageKind::sparse_tensor:
    case MessageKind::training:
    case MessageKind::sequence:
    case MessageKind::optional:
    case MessageKind::map:
      return 300;
    default:
      return 120;
  }
}

[[noreturn]] void refuse_messages(std::uint64_t messages, std::uint64_t cost, std::uint64_t bytes) {
  fail(
      ErrorKind::limit,
      "{} messages and strings in {} bytes would take more than {} MiB of memory: what a file holds may take "
      "512 MiB and {} times its size",
      messages, bytes, cost >> 20, times_file);
}

class MessageBudget {
 public:
  explicit MessageBudget(std::uint64_t bytes) : bytes_(bytes), most_(free_bytes + times_file * bytes) {}

  void take(std::uint64_t cost) {
    look_for_interruption();
    ++messages_;
    cost_ += cost;
    if (cost_ > most_) refuse_messages(messages_, cost_, bytes_);
  }

 private:
  std::uint64_t bytes_;
  std::uint64_t most_;
  std::uint64_t messages_ = 0;
  std::uint64_t cost_ = 0;
};

/// False where the bytes are damaged.
bool walk_message(CodedInputStream& in, MessageKind kind, MessageBudget& budget) {
  while (const std::uint32_t tag = in.ReadTagNoLastTag()) {
    const bool has_length = WireFormatLite::GetTagWireType(tag) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
    const MessageKind inner =
        has_length ? kind_of(kind, WireFormatLite::GetTagFieldNumber(tag)) : MessageKind::none;
    if (inner != MessageKind::none) budget.take(cost_of(inner));
    if (inner == MessageKind::none || inner == MessageKind::text || inner == MessageKind::name ||
        inner == MessageKind::other) {
      if (!WireFormatLite::SkipField(&in, tag)) return false;
      continue;
    }
    int length = 0;
    if (!in.ReadVarintSizeAsInt(&length)) return false;
    const auto [limit, depth] = in.IncrementRecursionDepthAndPushLimit(length);
    if (depth < 0 || !walk_message(in, inner, budget) || !in.DecrementRecursionDepthAndPopLimit(limit))
      return false;
  }
  return true;
}

MessageKind root_kind(MessageRoot root) {
  switch (root) {
    case MessageRoot::model:
      return MessageKind::model;
    case MessageRoot::tensor:
      return MessageKind::tensor;
    case MessageRoot::sequence:
      return MessageKind::sequence;
    case MessageRoot::optional:
      return MessageKind::optional;
    case MessageRoot::map:
      break;
  }
  return MessageKind::map;
}

}  // namespace

void require_affordable(CodedInputStream& in, MessageRoot root, std::uint64_t bytes) {
  MessageBudget budget(bytes);
  walk_message(in, root_kind(root), budget);
}

void require_affordable_text(std::string_view text, std::string_view of_messages) {
  std::uint64_t messages = 0;
  for (const char c : of_messages) messages += static_cast<std::uint64_t>(std::ranges::count(text, c));
  const std::uint64_t cost = messages * cost_of(MessageKind::attribute);
  if (cost > free_bytes + times_file * text.size()) refuse_messages(messages, cost, text.size());
}

}  // namespace grurun::onnx_io
