#include "tests/places/in_tree.h"

namespace grurun::tests {

std::string in_tree(std::string_view path) {
  return std::string(GRURUN_SOURCE_DIR "/").append(path);
}

}  // namespace grurun::tests
