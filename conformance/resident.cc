#include "conformance/resident.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "onnx_io/bytes.h"

namespace grurun::conformance {

namespace {

/// "RssAnon:     1234 kB" of the text, in bytes.
std::size_t bytes_of(std::string_view text, std::string_view name) {
  const std::size_t at = text.find(name);
  if (at == text.npos) return 0;
  text.remove_prefix(at + name.size());
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  std::size_t kilobytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), kilobytes);
  return kilobytes << 10;
}

/// What the process's file of that name in /proc says; empty where there is none.
std::string told(pid_t process, const char* file) {
  const onnx_io::Descriptor open(
      ::open(fmt::format("/proc/{}/{}", process, file).c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(4096, '\0');
  const ssize_t size = open.valid() ? ::read(open.get(), text.data(), text.size()) : 0;
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return text;
}

}  // namespace

bool holds_more(pid_t process, std::size_t bytes) {
  const std::string status = told(process, "status");
  const std::size_t own = bytes_of(status, "\nRssAnon:");
  if (own > bytes) return true;
  if (own + bytes_of(status, "\nRssShmem:") <= bytes) return false;
  // There a page counts each time that it is mapped; elements that repeat are
  // (tensor/memory/repeated_memory.cc). To count pages once takes the system longer.
  return own + bytes_of(told(process, "smaps_rollup"), "\nPss_Shmem:") > bytes;
}

}  // namespace grurun::conformance
