// The page that shows a suite's report in a browser: report/suite/html, put together by CMake.
#pragma once

namespace grurun::report {

/// With "@REPORT@" where the report stands as JSON.
extern const char* const html_page;

}  // namespace grurun::report
