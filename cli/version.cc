#include "cli/version.h"

#include <fmt/format.h>

#include <map>

#include "conformance/memory_groups.h"
#include "conformance/sandbox.h"
#include "conformance/version.h"
#include "engine/kernels/machine/parallel.h"
#include "engine/kernels/machine/simd.h"
#include "onnx_io/models/model.h"
#include "opset/schema/registry.h"

namespace grurun::cli {

std::string version_line() {
  return std::string("grurun ") + conformance::version();
}

std::string version_details() {
  std::map<std::string, std::int64_t> newest;
  for (const opset::SchemaInfo* schema : opset::all_schemas()) {
    newest[schema->domain] = opset::newest_opset(schema->domain).value_or(schema->since_version);
  }
  std::string out = version_line() + "\nONNX " GRURUN_ONNX_VERSION "; newest opsets:";
  for (const auto& [domain, version] : newest) {
    out += fmt::format(" {} {}{}", onnx_io::shown_domain(domain), version,
                       domain == newest.rbegin()->first ? "" : ",");
  }
  const std::vector<std::string> sets = kernels::simd_targets();
  const conformance::GroupPlace groups = conformance::find_group_place();
  return out + fmt::format("\nInstruction sets: {}; {} is used\n{} threads\nSandbox: {}\nControl groups: {}",
                           fmt::join(sets, ", "), kernels::simd_target(), kernels::usable_cpus(),
                           conformance::sandbox_support().text(),
                           groups.version == 0 ? "none, " + groups.reason
                                               : fmt::format("version {}", groups.version));
}

}  // namespace grurun::cli
