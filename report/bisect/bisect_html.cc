#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/bisect/bisect_words.h"
#include "report/bounded.h"
#include "tensor/printable.h"

namespace grurun::report {

using trial::Bisection;
using trial::ValueDifference;

namespace {

std::string in_html(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

constexpr const char* page_begin = R"(<!DOCTYPE html>
<html lang="en">
<!-- grurun bisect: report -->
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>grurun bisect</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; color: #222; background: #fff }
table { border-collapse: collapse; width: 100% } td, th { border-bottom: 1px solid #ddd; padding: .3rem .5rem; text-align: left; vertical-align: top; overflow-wrap: anywhere }
.bar { height: .8rem; background: #7a9cc6; min-width: 1px } .differs .bar { background: #d9822b } .made .bar { background: #c23030 }
.chart { width: 12rem } .made td:first-child { font-weight: 600 } code { white-space: pre-wrap }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } td, th { border-color: #444 } }
</style>
)";

/// 1 for an error as large as what is expected, 0 for one of a float's rounding.
double bar_length(double relative_error) {
  constexpr double decades = 8;
  if (relative_error == 0) return 0;
  return std::clamp(1 + std::log10(relative_error) / decades, 0.0, 1.0);
}

std::string html_row(const ValueDifference& value, const char* kind) {
  const double error = trial::relative_error(value.in_run);
  return fmt::format(
      "<tr{}><td>{}<td>{}<td class=chart><div class=bar style=\"width:{:.0f}%\"></div><td>{:.3g}<td>{}\n",
      kind, in_html(value.label), in_html(value.value), 100 * bar_length(error), error,
      in_html(how_far(value.in_run)));
}

}  // namespace

std::string bisect_html(const BisectReport& report) {
  std::string text = page_begin;
  text += fmt::format("<h1>grurun bisect {}</h1>\n<p>{}</p>\n", in_html(report.model),
                      in_html(first_line(report)));
  if (report.found) {
    text += "<ul>\n";
    for (const std::string& line : found_lines(*report.found)) text += fmt::format("<li>{}\n", in_html(line));
    text += "</ul>\n";
  }
  if (!report.bisection) return text;
  const Bisection& bisection = *report.bisection;
  const std::vector<const ValueDifference*> looked = looked_at(bisection);
  for (const ValueDifference* difference : first_of(looked, most_in_text)) {
    text += fmt::format("<h2>{}</h2>\n<p>In the run: {}; {}</p>\n<ul>\n", in_html(shown(*difference)),
                        in_html(amount(difference->in_run)), in_html(alone(*difference)));
    for (const std::string& line : detail_lines(*difference))
      text += fmt::format("<li><code>{}</code>\n", in_html(line));
    text += "</ul>\n";
  }
  text += left_out(looked.size(), most_in_text, "<p>");
  if (!bisection.ranking.empty())
    text += "<h2>Where error is made</h2>\n<table>\n<tr><th>node<th>value<th>alone<th>in the run\n";
  for (const ValueDifference& each : first_of(bisection.ranking, most_in_text))
    text += fmt::format("<tr><td>{}<td>{}<td>{}<td>{}\n", in_html(each.label), in_html(each.value),
                        in_html(how_far(*each.alone)), in_html(how_far(each.in_run)));
  if (!bisection.ranking.empty())
    text += "</table>\n" + left_out(bisection.ranking.size(), most_in_text, "<p>");
  text +=
      "<h2>Error along the graph</h2>\n<p>Of each value in the run, relative to what is expected; the bar is "
      "logarithmic, from 1e-8 to 1.</p>\n<table>\n<tr><th>node<th>value<th colspan=2>relative error<th>\n";
  for (const ValueDifference& value : first_of(bisection.along, most_in_json)) {
    const auto found = std::ranges::find(bisection.differences, value.value, &ValueDifference::value);
    const bool differs = found != bisection.differences.end();
    text += html_row(value, !differs ? "" : found->is_made_here() ? " class=made" : " class=differs");
  }
  return text + "</table>\n" + left_out(bisection.along.size(), most_in_json, "<p>");
}

}  // namespace grurun::report
