// What the messages of a protobuf file would take in memory, counted before they are made: two bytes of a
// file can ask for a node of some hundreds.
#pragma once

#include <cstdint>
#include <string_view>

namespace google::protobuf::io {
class CodedInputStream;
}

namespace grurun::onnx_io {

/// What a file's bytes stand for.
enum class MessageRoot : std::uint8_t { model, tensor, sequence, optional, map };

/// Walks over a message's fields, makes nothing of them, and throws Error(limit) where what the messages and
/// strings in it would take is more than 512 MiB and 32 times the file's bytes. What is damaged is left for
/// the parser to find.
void require_affordable(google::protobuf::io::CodedInputStream& in, MessageRoot root, std::uint64_t bytes);

/// The same of text in a form in which each message has one of these characters.
void require_affordable_text(std::string_view text, std::string_view of_messages);

}  // namespace grurun::onnx_io
