#include "cli/warnings.h"

#include "cli/streams.h"
#include "report/bounded.h"
#include "report/findings/check_format.h"

namespace grurun::cli {
namespace {

constexpr std::size_t most = report::most_in_text;

}  // namespace

void Warnings::tell_of(const opset::Finding& finding) {
  if (++count_ <= most) tell("grurun: {}\n", report::finding_line(finding));
}

Warnings::~Warnings() {
  if (count_ > most) tell("grurun: and {} more warnings\n", count_ - most);
}

}  // namespace grurun::cli
