#include "cli/guard.h"

#include <fmt/format.h>

#include <filesystem>
#include <new>

#include "cli/streams.h"
#include "tensor/error.h"
#include "tensor/memory/heap.h"

namespace grurun::cli {
namespace {

int report(const Error& error) {
  tell("grurun: {}\n", error.what());
  return exit_code(error.kind());
}

int report(ErrorKind kind, const std::string& message) {
  return report(Error(kind, message));
}

}  // namespace

int run_guarded(const Action& action) {
  try {
    const int code = action();
    finish_stdout();
    return code;
  } catch (const Error& error) {
    return report(error);
  } catch (const std::bad_alloc&) {
    return report(ErrorKind::limit, memory::out_of_memory_text());
  } catch (const std::filesystem::filesystem_error& error) {
    return report(ErrorKind::usage, fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::exception& error) {
    return report(ErrorKind::internal, error.what());
  } catch (...) {
    return report(ErrorKind::internal, "an exception of unknown type");
  }
}

}  // namespace grurun::cli
