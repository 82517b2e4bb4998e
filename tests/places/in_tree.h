#pragma once

#include <string>
#include <string_view>

namespace grurun::tests {

// The path of a file or folder of the repository, which is given from its root: "docs/schema.md". One source
// knows where the repository lies, so that clones compile the others alike.
std::string in_tree(std::string_view path);

}  // namespace grurun::tests
