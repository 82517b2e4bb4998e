#include "conformance/version.h"

namespace grurun::conformance {

const char* version() {
  return GRURUN_VERSION;
}

}  // namespace grurun::conformance
