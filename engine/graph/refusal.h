// How a kernel refuses what the standard forbids: without words, which are those of its operator's page.
#pragma once

#include "tensor/error.h"

namespace grurun::engine {

/// What refuse throws. Where it leaves the kernel, it becomes what the page says of the node
/// (refuse_by_rule). Where the page has nothing to say, it stays what it is, an internal error: a rule was
/// forgotten.
class Refusal final : public Error {
 public:
  Refusal() : Error(ErrorKind::internal, "the kernel refuses what no rule of its page forbids") {}
};

[[noreturn]] inline void refuse() {
  throw Refusal();
}

}  // namespace grurun::engine
