#include "opset/findings/form_watch.h"

#include <atomic>
#include <utility>

#include "opset/findings/rule_error.h"

namespace grurun::opset {

namespace {

std::atomic<bool> all_refused = false;
thread_local bool refused_here = false;
thread_local FormWatch* innermost = nullptr;

}  // namespace

void refuse_forms(bool refused) {
  all_refused = refused;
}

bool forms_are_refused() {
  return all_refused || refused_here;
}

FormsRefused::FormsRefused(bool refused) : outer_(refused_here) {
  refused_here = refused_here || refused;
}

FormsRefused::~FormsRefused() {
  refused_here = outer_;
}

FormWatch::FormWatch(OnFinding tell) : tell_(std::move(tell)), outer_(std::exchange(innermost, this)) {}

FormWatch::~FormWatch() {
  innermost = outer_;
}

bool forms_are_watched() {
  return innermost != nullptr || forms_are_refused();
}

void tell_of_form(Finding finding) {
  if (forms_are_refused()) throw RuleError(std::move(finding.message), std::move(finding.code));
  if (innermost != nullptr && innermost->tell_) innermost->tell_(finding);
}

}  // namespace grurun::opset
