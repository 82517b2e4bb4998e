#include "fuzz/mutate_message.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "onnx_io/models/onnx_descriptors.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace grurun::fuzz {

namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr std::size_t most_messages = 4000;

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  void change(Message& root) {
    messages_.clear();
    collect(root);
    Message& message = *messages_[below(messages_.size())];
    const auto* const descriptor = message.GetDescriptor();
    if (descriptor->field_count() == 0) return;
    // A field that is set tells more than one that is not.
    std::vector<const FieldDescriptor*> set;
    message.GetReflection()->ListFields(message, &set);
    const bool of_set = !set.empty() && below(4) != 0;
    const FieldDescriptor* const field =
        of_set
            ? set[below(set.size())]
            : descriptor->field(static_cast<int>(below(static_cast<std::size_t>(descriptor->field_count()))));
    field->is_repeated() ? change_list(message, field) : change_one(message, field);
  }

 private:
  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
  }

  void collect(Message& message) {
    if (messages_.size() >= most_messages) return;
    messages_.push_back(&message);
    const Reflection* const reflection = message.GetReflection();
    std::vector<const FieldDescriptor*> set;
    reflection->ListFields(message, &set);
    for (const FieldDescriptor* const field : set) {
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      if (!field->is_repeated()) {
        collect(*reflection->MutableMessage(&message, field));
        continue;
      }
      for (int i = 0; i < reflection->FieldSize(message, field); ++i)
        collect(*reflection->MutableRepeatedMessage(&message, field, i));
    }
  }

  std::int64_t number(std::int64_t before) {
    constexpr std::int64_t edges[] = {
        -1,  0,   1,    2,     3,         7,         8,         16,        64,
        127, 255, 1000, 65536, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, std::int64_t{1} << 40};
    if (below(2) == 0) return edges[below(std::size(edges))];
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(before) + below(5) - 2);
  }

  double real(double before) {
    constexpr double edges[] = {0,
                                -0.0,
                                1,
                                -1,
                                0.5,
                                1e-30,
                                1e30,
                                std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN()};
    return below(2) == 0 ? edges[below(std::size(edges))] : before * 2 + 1;
  }

  /// Names of other places are what makes graphs of graphs.
  std::string text(std::string before) {
    if (below(2) == 0) {
      const Message& other = *messages_[below(messages_.size())];
      std::vector<const FieldDescriptor*> set;
      other.GetReflection()->ListFields(other, &set);
      for (const FieldDescriptor* const field : set) {
        if (field->cpp_type() != FieldDescriptor::CPPTYPE_STRING) continue;
        if (!field->is_repeated()) return other.GetReflection()->GetString(other, field);
        const auto count = static_cast<std::size_t>(other.GetReflection()->FieldSize(other, field));
        return other.GetReflection()->GetRepeatedString(other, field, static_cast<int>(below(count)));
      }
    }
    const std::size_t size = before.size();
    before.resize(size + 16);
    before.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(before.data()), size, size + 16));
    return before;
  }

  /// A copy of a message of this type, as one may lie in the other, and a field of several in the place of
  /// another; nullptr where there is none.
  std::unique_ptr<Message> copy_of(const google::protobuf::Descriptor* type) {
    std::vector<const Message*> same;
    for (const Message* const other : messages_)
      if (other->GetDescriptor() == type) same.push_back(other);
    if (same.empty()) return nullptr;
    const Message& chosen = *same[below(same.size())];
    std::unique_ptr<Message> copy(chosen.New());
    copy->CopyFrom(chosen);
    return copy;
  }

  void change_one(Message& message, const FieldDescriptor* field) {
    const Reflection* const reflection = message.GetReflection();
    if (below(6) == 0) return reflection->ClearField(&message, field);
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return reflection->SetInt32(&message, field,
                                    static_cast<std::int32_t>(number(reflection->GetInt32(message, field))));
      case FieldDescriptor::CPPTYPE_INT64:
        return reflection->SetInt64(&message, field, number(reflection->GetInt64(message, field)));
      case FieldDescriptor::CPPTYPE_ENUM:
        return reflection->SetEnumValue(&message, field, static_cast<int>(below(40)));
      case FieldDescriptor::CPPTYPE_FLOAT:
        return reflection->SetFloat(&message, field,
                                    static_cast<float>(real(reflection->GetFloat(message, field))));
      case FieldDescriptor::CPPTYPE_STRING:
        return reflection->SetString(&message, field, text(reflection->GetString(message, field)));
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (const auto copy = copy_of(field->message_type()))
          return reflection->MutableMessage(&message, field)->CopyFrom(*copy);
        reflection->MutableMessage(&message, field);
        return;
      default:
        return reflection->ClearField(&message, field);
    }
  }

  void change_list(Message& message, const FieldDescriptor* field) {
    const Reflection* const reflection = message.GetReflection();
    const int size = reflection->FieldSize(message, field);
    const auto any = [&] { return static_cast<int>(below(static_cast<std::size_t>(size))); };
    const std::size_t how = below(4);
    if (size > 0 && how == 0) return reflection->RemoveLast(&message, field);
    if (size > 1 && how == 1) return reflection->SwapElements(&message, field, any(), any());
    const bool adds = size == 0 || how == 2;
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32: {
        const auto made = static_cast<std::int32_t>(number(1));
        return adds ? reflection->AddInt32(&message, field, made)
                    : reflection->SetRepeatedInt32(&message, field, any(), made);
      }
      case FieldDescriptor::CPPTYPE_INT64:
        return adds ? reflection->AddInt64(&message, field, number(1))
                    : reflection->SetRepeatedInt64(&message, field, any(), number(1));
      case FieldDescriptor::CPPTYPE_FLOAT: {
        const auto made = static_cast<float>(real(1));
        return adds ? reflection->AddFloat(&message, field, made)
                    : reflection->SetRepeatedFloat(&message, field, any(), made);
      }
      case FieldDescriptor::CPPTYPE_STRING:
        return adds ? reflection->AddString(&message, field, text("x"))
                    : reflection->SetRepeatedString(&message, field, any(), text("x"));
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (const auto copy = copy_of(field->message_type()))
          return (adds ? reflection->AddMessage(&message, field)
                       : reflection->MutableRepeatedMessage(&message, field, any()))
              ->CopyFrom(*copy);
        if (adds) reflection->AddMessage(&message, field);
        return;
      default:
        return;
    }
  }

  std::mt19937 random_;
  std::vector<Message*> messages_;
};

/// ONNX's own messages do not know what they consist of.
class ModelMessages {
 public:
  ModelMessages() {
    const std::string_view bytes = onnx_io::onnx_descriptors();
    google::protobuf::FileDescriptorSet files;
    if (!files.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) __builtin_trap();
    for (const auto& file : files.file()) pool_.BuildFile(file);
    prototype_ = factory_.GetPrototype(pool_.FindMessageTypeByName("onnx.ModelProto"));
  }

  std::unique_ptr<Message> make() const { return std::unique_ptr<Message>(prototype_->New()); }

 private:
  google::protobuf::DescriptorPool pool_;
  google::protobuf::DynamicMessageFactory factory_;
  const Message* prototype_ = nullptr;
};

}  // namespace

std::size_t mutate_model(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  static const ModelMessages messages;
  const std::unique_ptr<Message> model = messages.make();
  if (seed % 16 == 0 || !model->ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, most);
  Mutator mutator(seed);
  for (unsigned i = 0; i < 1 + seed % 3; ++i) mutator.change(*model);
  const std::string bytes = model->SerializeAsString();
  if (bytes.size() > most || bytes.empty()) return LLVMFuzzerMutate(data, size, most);
  std::ranges::copy(bytes, data);
  return bytes.size();
}

}  // namespace grurun::fuzz
