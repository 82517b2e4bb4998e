// Every format that a report has, against a golden file each.
#pragma once

#include <fmt/format.h>

#include <string>

#include "conformance/version.h"
#include "report/format.h"
#include "tests/report/golden.h"

namespace grurun::report {

/// tests/report/formats/golden/SUBJECT.FORMAT.txt, with the program's version left out. Pages with a script
/// are tested in a browser (tests/report/test_suite_page.py).
template <typename Subject>
void expect_golden_rows(const std::string& subject_name, const Subject& subject, bool with_page = false) {
  for (const Format<Subject>& format : formats<Subject>()) {
    if (format.name == "html" && !with_page) continue;
    std::string text = format.make(subject);
    const std::string version = conformance::version();
    for (std::size_t at = text.find('"' + version + '"'); at != text.npos;
         at = text.find('"' + version + '"', at + 1))
      text.replace(at + 1, version.size(), "VERSION");
    expect_golden(fmt::format("formats/golden/{}.{}.txt", subject_name, format.name), text);
  }
}

}  // namespace grurun::report
