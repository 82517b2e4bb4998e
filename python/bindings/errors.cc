#include "python/bindings/errors.h"

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include <filesystem>
#include <new>

#include "python/bindings/values.h"
#include "tensor/error.h"

namespace nb = nanobind;

namespace grurun::python {
namespace {

const char* class_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "UsageError";
    case ErrorKind::invalid_model:
      return "InvalidModelError";
    case ErrorKind::unsupported:
      return "UnsupportedError";
    case ErrorKind::limit:
      return "LimitError";
    case ErrorKind::internal:
      break;
  }
  return "InternalError";
}

void raise(const Error& error) {
  try {
    const nb::object type = nb::module_::import_("grurun._errors").attr(class_name(error.kind()));
    nb::list context;
    for (const std::string& where : error.context()) context.append(to_text(where));
    PyErr_SetObject(type.ptr(), type(to_text(error.what()), context).ptr());
  } catch (nb::python_error& failed) {
    failed.restore();
  }
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    raise(error);
  } catch (const std::bad_alloc&) {
    raise(Error(ErrorKind::limit, "out of memory"));
  } catch (const std::filesystem::filesystem_error& error) {
    raise(Error(ErrorKind::usage, fmt::format("{}: {}", error.path1().string(), error.code().message())));
  }
}

}  // namespace

void register_errors() {
  nb::register_exception_translator(translate);
}

}  // namespace grurun::python
