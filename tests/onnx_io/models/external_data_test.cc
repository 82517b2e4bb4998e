#include "onnx_io/models/external_data.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "onnx/onnx_pb.h"
#include "onnx_io/models/model.h"
#include "onnx_io/values/proto_tensor.h"
#include "onnx_io/values/tensor_files.h"
#include "tensor/error.h"
#include "tests/places/scratch.h"

namespace grurun::onnx_io {
namespace {

using ::onnx::TensorProto;
namespace fs = std::filesystem;

// A model's folder, model/, with good files in it, and everything a hostile model might point to.
struct Folders {
  tests::Scratch scratch;
  std::string model = scratch.path("model");

  Folders() {
    scratch.file("secret.bin", "secret");
    scratch.file("model/data.bin", std::string(4096, 'd'));
    scratch.file("model/sub/data.bin", "sub data");
    scratch.file("model/empty.bin", "");
    scratch.file("model/linked.bin", "two names");
    fs::create_hard_link(model + "/linked.bin", scratch.path("elsewhere.bin"));
    fs::create_symlink("../secret.bin", model + "/link_out.bin");
    fs::create_symlink("data.bin", model + "/link_in.bin");
    fs::create_symlink("..", model + "/link_up");
    fs::create_symlink("sub", model + "/link_sub");
    scratch.fifo("model/fifo");
    fs::create_directory(model + "/folder");
  }
};

struct Refused {
  std::string location;
  const char* message;
};

const Refused refused[] = {
    {"", "names no file"},
    {".", "names no file"},
    {"../secret.bin", "leads out"},
    {"sub/../data.bin", "leads out"},
    {"sub/../../secret.bin", "leads out"},
    {"..", "leads out"},
    {"/etc/passwd", "absolute"},
    {std::string("data.bin\0.txt", 13), "NUL"},
    {"link_out.bin", "symbolic link"},
    {"link_in.bin", "symbolic link"},
    {"link_up/secret.bin", "symbolic link"},
    {"link_sub/data.bin", "symbolic link"},
    {"linked.bin", "hard links"},
    {"fifo", "not a regular file"},
    {"folder", "not a regular file"},
    {"folder/", "not a regular file"},
    {"data.bin/x", "symbolic link"},
    {"missing.bin", "is not in the model's folder"},
};

TEST(ExternalData, OnlyPlainFilesBeneathTheFolderAreOpened) {
  const Folders folders;
  for (const OpenMethod method : {OpenMethod::openat2_or_walk, OpenMethod::walk}) {
    for (const char* good : {"data.bin", "./data.bin", "sub/data.bin", "sub//data.bin", "empty.bin"}) {
      EXPECT_NO_THROW(open_beneath(folders.model, good, method)) << good;
    }
    for (const Refused& row : refused) {
      try {
        open_beneath(folders.model, row.location, method);
        ADD_FAILURE() << "'" << row.location << "' was opened";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::invalid_model) << row.location;
        EXPECT_NE(error.message().find(row.message), std::string::npos)
            << row.location << ": " << error.what();
      }
    }
  }
}

TEST(ExternalData, TheFolderItselfMayBeReachedThroughALink) {
  const Folders folders;
  fs::create_symlink("model", folders.scratch.path("alias"));
  EXPECT_EQ(open_beneath(folders.scratch.path("alias"), "data.bin").size, 4096u);
}

struct Entry {
  const char* key;
  std::string value;
};

TensorProto external_tensor(const std::vector<Entry>& entries, std::int64_t count = 8) {
  TensorProto proto;
  proto.set_name("W");
  proto.set_data_type(TensorProto::UINT8);
  proto.add_dims(count);
  proto.set_data_location(TensorProto::EXTERNAL);
  for (const Entry& entry : entries) {
    auto* const added = proto.add_external_data();
    added->set_key(entry.key);
    added->set_value(entry.value);
  }
  return proto;
}

struct Ranges {
  std::vector<Entry> entries;
  const char* message;  // nullptr: it is read
};

TEST(ExternalData, OffsetAndLengthMustLieWithinTheFile) {
  const Folders folders;
  const Ranges rows[] = {
      {{{"location", "sub/data.bin"}}, nullptr},
      {{{"location", "sub/data.bin"}, {"offset", "0"}, {"length", "8"}}, nullptr},
      {{{"location", "data.bin"}, {"offset", "4088"}}, nullptr},
      {{{"location", "data.bin"}, {"offset", "17"}, {"length", "8"}, {"checksum", "x"}}, nullptr},
      {{{"location", "data.bin"}}, "holds 4096 bytes, but uint8 [8] takes 8"},
      {{{"location", "data.bin"}, {"length", "9"}}, "holds 9 bytes"},
      {{{"location", "data.bin"}, {"offset", "4089"}}, "holds 7 bytes"},
      {{{"location", "data.bin"}, {"offset", "4096"}, {"length", "1"}}, "1 bytes at offset 4096"},
      {{{"location", "data.bin"}, {"offset", "4097"}}, "at offset 4097"},
      {{{"location", "data.bin"}, {"offset", "18446744073709551615"}, {"length", "8"}},
       "at offset 18446744073709551615"},
      {{{"location", "data.bin"}, {"offset", "8"}, {"length", "18446744073709551615"}},
       "18446744073709551615 bytes"},
      {{{"location", "data.bin"}, {"offset", "18446744073709551616"}}, "is not a number"},
      {{{"location", "data.bin"}, {"offset", "-8"}, {"length", "8"}}, "is not a number"},
      {{{"location", "data.bin"}, {"offset", "8 "}, {"length", "8"}}, "is not a number"},
      {{{"location", "data.bin"}, {"offset", ""}, {"length", "8"}}, "is not a number"},
      {{{"location", "data.bin"}, {"location", "sub/data.bin"}}, "given twice"},
      {{{"offset", "0"}, {"length", "8"}}, "no location"},
      {{{"location", "empty.bin"}}, "holds 0 bytes"},
  };
  for (const Ranges& row : rows) {
    ExternalData external(folders.model);
    const TensorProto proto = external_tensor(row.entries);
    try {
      const Tensor tensor = tensor_from_proto(proto, {&external, nullptr});
      EXPECT_EQ(row.message, nullptr);
      EXPECT_EQ(tensor.shape(), Shape({8}));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_model);
      ASSERT_NE(row.message, nullptr) << error.what();
      EXPECT_NE(error.message().find(row.message), std::string::npos) << error.what();
    }
  }
}

::onnx::ModelProto model_with(const TensorProto& weight) {
  ::onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  *model.mutable_graph()->add_initializer() = weight;
  return model;
}

TEST(ExternalData, IsMappedNotCopiedWhereItIsAligned) {
  const Folders folders;
  TensorProto weight = external_tensor({{"location", "data.bin"}}, 1024);
  weight.set_data_type(TensorProto::FLOAT);
  const std::string path = folders.scratch.file("model/m.onnx", model_with(weight).SerializeAsString());
  Tensor tensor = load_model(path).graph.initializers[0].tensor;
  EXPECT_FALSE(tensor.unique());
  // Writing takes a copy; the file stays as it is.
  const float before = tensor.data<float>()[0];
  tensor.mutable_data<float>()[0] = 1;
  EXPECT_EQ(load_model(path).graph.initializers[0].tensor.data<float>()[0], before);
}

TEST(ExternalData, UnalignedAndPackedElementsAreCopied) {
  const Folders folders;
  ExternalData external(folders.model);
  TensorProto odd = external_tensor({{"location", "data.bin"}, {"offset", "3"}, {"length", "4092"}}, 1023);
  odd.set_data_type(TensorProto::FLOAT);
  EXPECT_TRUE(tensor_from_proto(odd, {&external, nullptr}).unique());
  TensorProto packed = external_tensor({{"location", "data.bin"}, {"length", "4"}}, 7);
  packed.set_data_type(TensorProto::INT4);
  const Tensor nibbles = tensor_from_proto(packed, {&external, nullptr});
  EXPECT_EQ(nibbles.data<Int4>()[0], 4);  // 'd' is 0x64
  EXPECT_EQ(nibbles.data<Int4>()[1], 6);
}

TEST(ExternalData, IsRefusedWithoutAFolder) {
  const std::string bytes = model_with(external_tensor({{"location", "data.bin"}})).SerializeAsString();
  try {
    parse_model(bytes.data(), bytes.size(), "");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_model);
  }
}

TEST(ExternalData, OfAnInputFileObeysTheSameRules) {
  const Folders folders;
  const std::string good = folders.scratch.file(
      "model/input_0.pb", external_tensor({{"location", "sub/data.bin"}}).SerializeAsString());
  EXPECT_EQ(read_pb(good).value.tensor().size(), 8);
  const std::string bad = folders.scratch.file(
      "model/input_1.pb", external_tensor({{"location", "../secret.bin"}}, 6).SerializeAsString());
  EXPECT_THROW(read_pb(bad), Error);
}

}  // namespace
}  // namespace grurun::onnx_io
