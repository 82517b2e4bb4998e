// Forms that the standard forbids and that are taken all the same (opset/pages/forms.h), where a run meets
// them.
#pragma once

#include <functional>

#include "opset/findings/finding.h"

namespace grurun::opset {

/// Of the process: whether a form of that table is an error, as the standard has it. False at first.
void refuse_forms(bool refused);

/// Whether they are errors here: in the process, or on this thread.
bool forms_are_refused();

/// While one lives that was made with true, such a form is an error on the thread that made it, too.
class FormsRefused {
 public:
  explicit FormsRefused(bool refused);
  ~FormsRefused();
  FormsRefused(const FormsRefused&) = delete;
  FormsRefused& operator=(const FormsRefused&) = delete;

 private:
  bool outer_;
};

/// While it lives, `tell` is told of each form that planning and running on the thread that made it meets,
/// each time that it does. The outermost one hears nothing while another lives within it.
class FormWatch {
 public:
  explicit FormWatch(OnFinding tell);
  ~FormWatch();
  FormWatch(const FormWatch&) = delete;
  FormWatch& operator=(const FormWatch&) = delete;

 private:
  friend void tell_of_form(Finding finding);
  OnFinding tell_;
  FormWatch* outer_;
};

/// Whether anybody wants to know of forms on this thread: a watch, or where they are refused.
bool forms_are_watched();

/// Tells the thread's FormWatch, if there is one. Throws RuleError where forms are refused.
void tell_of_form(Finding finding);

}  // namespace grurun::opset
