#include "onnx_io/models/lookalikes.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "onnx_io/models/model.h"
#include "tensor/error.h"

namespace grurun::onnx_io {
namespace {

using namespace std::string_literals;

struct Row {
  std::string begin;
  const char* told;
};

// Each as the program that makes such files begins them.
std::vector<Row> rows() {
  return {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", "git lfs pull"},
      {"\x28\0\0\0ORTM\0\0"s, ".ort"},
      {"\x1c\0\0\0TFL3\x14\0"s, "TensorFlow Lite"},
      {"BZh91AY&SY", "bunzip2"},
      {"\xFD"
       "7zXZ\0\0"s,
       "unxz"},
      {"net/model.onnx" + std::string(243, '\0') + "ustar\0"s + "00", "tar archive"},
      {"PK\x03\x04\x14\0\0\0\0\0"s + "model.onnx", "zip archive"},
      {"PK\x03\x04\0\0\x08\x08\0\0"s + "net/data.pkl", "PyTorch archive"},
      {"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", "PyTorch archive"},
      {"\x40\0\0\0\0\0\0\0"s + R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "safetensors"},
      {"\x0a\x0e\x0a\x01x\x12\x0bPlaceholder\x0a\x04\x0a\x02yy", "TensorFlow graph"},
      {"\x08\x01\x12\x08\x0a\x06\x22\x04"
       "1.15",
       "SavedModel"},
      {"\x89HDF\x0d\x0a\x1a\x0a", "HDF5"},
      {"GGUF\x03\0\0\0"s, "GGUF"},
      {"\x93NUMPY\x01\0"s, ".npy"},
      {"<!DOCTYPE html>", "HTML"},
  };
}

TEST(Lookalikes, AreToldWhatTheyAre) {
  for (const Row& row : rows()) {
    try {
      parse_model(row.begin.data(), row.begin.size(), "");
      ADD_FAILURE() << row.told << ": was read as a model";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_model) << row.told;
      EXPECT_THAT(error.message(), testing::StartsWith("no ONNX model: it is ")) << row.told;
      EXPECT_THAT(error.message(), testing::HasSubstr(row.told));
    }
  }
}

TEST(Lookalikes, WhatIsNotKnownIsNotGuessed) {
  for (const std::string& begin : {""s, "\x08\x07"s, "\x0a"s, "\x0a\xff\xff\xff"s, "\x08\x01\x12\x07pytorch"s,
                                   "PK"s, std::string(512, '\0')})
    EXPECT_EQ(lookalike(begin), nullptr) << begin;
}

}  // namespace
}  // namespace grurun::onnx_io
