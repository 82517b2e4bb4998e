#include "onnx_io/unpack.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "tensor/error.h"
#include "tensor/interruption.h"
#include "tensor/memory/memory.h"

namespace grurun::onnx_io {

namespace {

constexpr std::size_t first_room = std::size_t{256} << 10;

[[noreturn]] void fail_damaged(const char* format, const char* reason) {
  fail_invalid("it is compressed with {} and damaged: {}", format, reason);
}

/// What has been unpacked, in a block that doubles.
class Unpacked {
 public:
  explicit Unpacked(std::size_t most)
      : most_(most), block_(std::make_shared<memory::Block>(std::min(most + 1, first_room))) {}

  std::byte* end() const { return static_cast<std::byte*>(block_->data()) + size_; }
  std::size_t room() const { return block_->size() - size_; }
  void add(std::size_t bytes) { size_ += bytes; }

  /// Called where there is none left and something may follow.
  void make_room() {
    // One byte more than may be there tells a file that ends at the limit from a longer one.
    if (block_->size() > most_) fail(ErrorKind::limit, "unpacked it has more than {} bytes", most_);
    auto larger = std::make_shared<memory::Block>(std::min(2 * block_->size(), most_ + 1));
    std::memcpy(larger->data(), block_->data(), size_);
    block_ = std::move(larger);
  }

  Bytes take() {
    if (size_ > most_) fail(ErrorKind::limit, "unpacked it has more than {} bytes", most_);
    return {static_cast<const std::byte*>(block_->data()), size_, block_};
  }

 private:
  std::size_t most_;
  std::shared_ptr<memory::Block> block_;
  std::size_t size_ = 0;
};

struct Inflater {
  Inflater() {
    if (::inflateInit2(&stream, 15 + 16) != Z_OK) fail_internal("zlib does not start");
  }
  ~Inflater() { ::inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  z_stream stream{};
};

// A gzip file may hold several members, which belong together.
Bytes unpacked_gzip(std::string_view packed, std::size_t most) {
  constexpr std::size_t most_at_once = std::size_t{1} << 30;  // zlib counts in 32 bits
  Inflater inflater;
  z_stream& stream = inflater.stream;
  Unpacked out(most);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  const char* const end = packed.data() + packed.size();
  for (;;) {
    look_for_interruption();
    const auto rest = static_cast<std::size_t>(end - reinterpret_cast<const char*>(stream.next_in));
    stream.avail_in = static_cast<uInt>(std::min(rest, most_at_once));
    if (out.room() == 0) out.make_room();
    const std::size_t room = std::min(out.room(), most_at_once);
    stream.next_out = reinterpret_cast<Bytef*>(out.end());
    stream.avail_out = static_cast<uInt>(room);
    const int status = ::inflate(&stream, Z_NO_FLUSH);
    out.add(room - stream.avail_out);
    if (status == Z_MEM_ERROR) fail(ErrorKind::limit, "there is no memory to unpack it");
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
      fail_damaged("gzip", stream.msg != nullptr ? stream.msg : "no gzip data");
    const bool at_end = reinterpret_cast<const char*>(stream.next_in) == end;
    if (status == Z_STREAM_END) {
      if (at_end) return out.take();
      ::inflateReset(&stream);
    } else if (at_end && stream.avail_out != 0) {
      fail_damaged("gzip", "it ends too early");
    }
  }
}

Bytes unpacked_zstd(std::string_view packed, std::size_t most) {
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  if (context == nullptr) fail(ErrorKind::limit, "there is no memory to unpack it");
  Unpacked out(most);
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  for (;;) {
    look_for_interruption();
    if (out.room() == 0) out.make_room();
    ZSTD_outBuffer to{out.end(), out.room(), 0};
    const std::size_t status = ZSTD_decompressStream(context.get(), &to, &in);
    if (ZSTD_isError(status) != 0) fail_damaged("zstd", ZSTD_getErrorName(status));
    out.add(to.pos);
    if (in.pos < in.size) continue;
    if (status == 0) return out.take();
    if (to.pos < to.size) fail_damaged("zstd", "it ends too early");
  }
}

}  // namespace

std::optional<Compression> compression_of(std::string_view begin) {
  if (begin.starts_with("\x1f\x8b")) return Compression::gzip;
  if (begin.starts_with("\x28\xb5\x2f\xfd")) return Compression::zstd;
  return std::nullopt;
}

Bytes unpacked(Compression compression, std::string_view packed, std::size_t most) {
  return compression == Compression::gzip ? unpacked_gzip(packed, most) : unpacked_zstd(packed, most);
}

}  // namespace grurun::onnx_io
