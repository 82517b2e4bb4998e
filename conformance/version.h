#pragma once

namespace grurun::conformance {

/// The version of grurun: "0.1.0".
const char* version();

}  // namespace grurun::conformance
