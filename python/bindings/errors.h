// Errors of the rooms below as Python's exceptions.
#pragma once

namespace grurun::python {

/// From now on an Error that leaves a bound function is the exception of its kind in grurun._errors, with the
/// line that the command prints as its message; std::bad_alloc is one of the kind limit, an error of the file
/// system one of the kind usage.
void register_errors();

}  // namespace grurun::python
