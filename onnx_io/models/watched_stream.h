// Bytes for protobuf's parsers, which know no end but that of their stream.
#pragma once

#include <google/protobuf/io/zero_copy_stream.h>

#include <cstdint>

#include "tensor/interruption.h"

namespace grurun::onnx_io {

/// Ends where reading is interrupted: whoever parses it calls look_for_interruption() behind, which tells
/// why.
class WatchedStream : public google::protobuf::io::ZeroCopyInputStream {
 public:
  /// of must outlive this.
  explicit WatchedStream(google::protobuf::io::ZeroCopyInputStream* of) : of_(of) {}

  bool Next(const void** data, int* size) override {
    try {
      look_for_interruption();
    } catch (...) {  // not through a parser
      return false;
    }
    return of_->Next(data, size);
  }
  void BackUp(int count) override { of_->BackUp(count); }
  bool Skip(int count) override { return of_->Skip(count); }
  std::int64_t ByteCount() const override { return of_->ByteCount(); }

 private:
  google::protobuf::io::ZeroCopyInputStream* of_;
};

}  // namespace grurun::onnx_io
