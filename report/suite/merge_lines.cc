#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "report/counted.h"
#include "report/judgement_json.h"
#include "report/suite/json_lines.h"
#include "report/suite/merge.h"
#include "report/suite/read_suite.h"
#include "report/suite/suite_json.h"
#include "tensor/error.h"

namespace grurun::report {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Sums up lines without keeping them.
class LineMerge {
 public:
  explicit LineMerge(const std::function<void(const std::string& line)>& write) : write_(write) {}

  void head(const std::string& file, const std::string& line) {
    ordered_json head = ordered_json::parse(line);
    seen_.add(file, part_of(json::parse(line)));
    head.erase("part");
    head["found"] = seen_.found();
    if (head_.is_null()) {
      head_ = std::move(head);
      places_.resize(seen_.found());
      totals_.as_expected = head_.at("stale_expectations").empty();
      write_(head_.dump() + '\n');
    } else if (head != head_) {
      fail_usage("{}: it ran with other expectations, or compares other sides, than the first report", file);
    }
  }

  void test(const std::string& file, const std::string& line) {
    const json test = json::parse(line);
    mark(file, test);
    const auto verdict = conformance::parse_verdict(test.at("verdict").get<std::string>());
    if (!verdict) fail_usage("{}: '{}' is no verdict", file, test.at("verdict").dump());
    std::vector<std::string> operators = test.at("operators");
    count_case(totals_.tally, *verdict, test.at("kind").get<std::string>(),
               counted_operators(test.at("name").get<std::string>(), *verdict, operators));
    totals_.unexpected += test.at("unexpected").get<bool>() ? 1 : 0;
    totals_.with_warnings += test.at("warnings").empty() ? 0 : 1;
    // The place is the last member.
    write_(line.substr(0, line.rfind(",\"place\":")) + "}\n");
  }

  void end(const std::string& file, const json& end) {
    totals_.seconds += end.at("seconds").get<double>();
    totals_.flaky += static_cast<std::size_t>(whole_of(end.at("flaky")));
    unused_.add(end.at("unused_rules").get<std::vector<std::string>>(), unused_in_part_of(end));
    add_sandbox(sandbox_, end.value("sandbox", ""), is_first_end_);
    is_first_end_ = false;
    const conformance::PoolEnd ended = parse_ended(end.at("ended").get<std::string>());
    ended_ = std::max(ended_, ended);
    for (const json& test : end.at("cases_not_run")) {
      mark(file, test);
      ordered_json kept = {{"name", test.at("name")}, {"path", test.at("path")}, {"kind", test.at("kind")}};
      not_run_.push_back(std::move(kept));
    }
  }

  MergedLines finish() {
    seen_.require_all();
    if (marked_ != places_.size()) fail_usage("the shards have {} of {} cases", marked_, places_.size());
    totals_.found = places_.size();
    totals_.not_run = not_run_.size();
    totals_.unused_rules = unused_.lines();
    totals_.as_expected = totals_.as_expected && totals_.not_run == 0 && totals_.unexpected == 0 &&
                          totals_.unused_rules.empty();
    ordered_json last = ordered_json::object();
    add_totals(last, totals_);
    add_end(last, sandbox_, ended_);
    last["cases_not_run"] = std::move(not_run_);
    write_(last.dump() + '\n');
    return {totals_.as_expected, summary()};
  }

 private:
  std::string summary() const {
    std::string text = fmt::format("{} of {}:", counted(totals_.tally.all.total(), "case"), totals_.found);
    const char* separator = " ";
    for (int v = 0; v < conformance::verdict_count; ++v) {
      if (totals_.tally.all.by_verdict[v] == 0) continue;
      text += fmt::format("{}{} {}", separator, totals_.tally.all.by_verdict[v],
                          conformance::verdict_name(static_cast<conformance::Verdict>(v)));
      separator = ", ";
    }
    if (totals_.unexpected > 0) text += fmt::format("; {} not as expected", totals_.unexpected);
    return text + "\n";
  }

  void mark(const std::string& file, const json& test) {
    const auto place = static_cast<std::size_t>(whole_of(test.at("place")));
    if (place >= places_.size() || places_[place])
      fail_usage("{}: {} is there twice, or of another suite", file, test.at("path").get<std::string>());
    places_[place] = true;
    ++marked_;
  }

  const std::function<void(const std::string& line)>& write_;
  ordered_json head_;
  SeenParts seen_;
  UnusedRules unused_;
  std::vector<bool> places_;
  std::size_t marked_ = 0;
  SuiteTotals totals_;
  std::string sandbox_;
  bool is_first_end_ = true;
  conformance::PoolEnd ended_ = conformance::PoolEnd::done;
  ordered_json not_run_ = ordered_json::array();
};

void merge_file(const std::string& file, LineMerge& merge) {
  std::ifstream in(file, std::ios::binary);
  std::string line;
  if (!in || !std::getline(in, line)) fail_usage("{}: the report cannot be read", file);
  merge.head(file, line);
  bool finished = false;
  while (!finished && std::getline(in, line)) {
    finished = line.starts_with("{\"summary\":");
    finished ? merge.end(file, json::parse(line)) : merge.test(file, line);
  }
  if (!finished)
    fail_usage("{}: its last line is missing: the run was ended before it could write it; see --resume",
               file);
}

}  // namespace

MergedLines merge_json_lines(const std::vector<std::string>& files,
                             const std::function<void(const std::string& line)>& write) {
  LineMerge merge(write);
  for (const std::string& file : files) {
    try {
      merge_file(file, merge);
    } catch (const json::exception& error) {
      fail_usage("{}: no report that can be read: {}", file, error.what());
    }
  }
  return merge.finish();
}

}  // namespace grurun::report
