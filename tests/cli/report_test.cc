// Every command writes every report that it has, and refuses others with the list of those.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "report/findings/check_format.h"
#include "report/format.h"
#include "report/run/run_format.h"
#include "report/schema/ops_matrix.h"
#include "report/schema/schema_selection.h"
#include "tests/cli/command_line.h"

namespace grurun::cli::testing {
namespace {

/// One command line, the formats that it has, and whether each run of it says the same.
struct Command {
  std::string line;
  std::vector<std::string_view> formats;
  bool repeats = true;
};

class ReportFlag : public CommandLine {
 protected:
  void SetUp() override {
    write_model("add.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
add (float[2,3] X, float[2,3] Y) => (float[2,3] Z) { Z = Add(X, Y) }
)");
    ASSERT_EQ(shell(R"(mkdir -p c && cp add.onnx c/model.onnx &&
      "$GRURUN" c/model.onnx -q --save-inputs c/test_data_set_0 --save-outputs c/test_data_set_0 2> log &&
      "$GRURUN" conformance c --json old.json > log)")
                  .code,
              0);
  }

  static std::vector<Command> commands() {
    using namespace report;
    return {
        {"conformance c", format_names<conformance::SuiteResult>(), false},
        {"report show old.json", format_names<conformance::SuiteResult>()},
        {"report diff old.json old.json", format_names<SuiteDiff>()},
        {"report headroom old.json", format_names<HeadroomView>()},
        {"compare c/test_data_set_0 c/test_data_set_0", format_names<ComparedFiles>()},
        {"bench add.onnx --min-time 0 --runs 1", format_names<trial::BenchResult>(), false},
        {"check add.onnx", format_names<std::vector<CheckedModel>>()},
        {"check --list-rules", format_names<Rules>()},
        {"schema GRU", format_names<SchemaView>()},
        {"schema GRU --diff 7 14", format_names<DiffView>()},
        {"schema --diff-opset 21 22", format_names<OpsetDiffView>()},
        {"inspect add.onnx", format_names<Inspected>()},
        {"ops GRU", format_names<OpsMatrix>()},
        {"c/model.onnx --inputs c/test_data_set_0 --expected c/test_data_set_0", format_names<RunReport>()}};
  }

  Outcome run(const std::string& line) const { return shell("\"$GRURUN\" " + line); }
};

TEST_F(ReportFlag, EveryCommandWritesEveryFormatThatItHas) {
  for (const Command& command : commands()) {
    std::string flags;
    for (const std::string_view format : command.formats) flags += fmt::format(" --report {0}=r.{0}", format);
    const Outcome plain = run(command.line);
    const Outcome outcome = run(command.line + flags);
    EXPECT_EQ(outcome.code, 0) << command.line << flags << outcome.err;
    if (command.repeats) {
      EXPECT_EQ(outcome.out, plain.out) << command.line << ": text is printed all the same";
    }
    for (const std::string_view format : command.formats) {
      const std::string file = fmt::format("r.{}", format), text = read(file);
      const Outcome printed = run(fmt::format("{} --output-format {}", command.line, format));
      EXPECT_EQ(printed.code, 0) << printed.err;
      if (command.repeats) {
        EXPECT_EQ(printed.out, text) << command.line << " " << format;
        EXPECT_EQ(run(fmt::format("{} --report {}=-", command.line, format)).out, text) << command.line;
      } else {
        EXPECT_EQ(printed.out.substr(0, 6), text.substr(0, 6)) << command.line << " " << format;
      }
      if (format == "json" || format == "sarif") {
        EXPECT_TRUE(nlohmann::json::accept(text)) << command.line << " " << format << ": " << text;
        EXPECT_TRUE(report::is_report(text)) << command.line << " " << format << ": " << text.substr(0, 200);
        // One that is there is removed, whatever else is wrong.
        EXPECT_NE(run(fmt::format("{} --report {}={} --no-such-flag", command.line, format, file)).code, 0);
        EXPECT_FALSE(std::filesystem::exists(folder() / file)) << command.line << " " << format;
      }
      std::filesystem::remove(folder() / file);
    }
  }
}

TEST_F(ReportFlag, AFormatThatACommandDoesNotHaveIsRefusedWithTheListOfThose) {
  for (const Command& command : commands()) {
    for (const std::string flag : {"--report xml=r.xml", "--output-format xml"}) {
      const Outcome outcome = run(command.line + " " + flag);
      EXPECT_TRUE(fails(outcome, 2, "usage", "has no such format; it has text")) << command.line;
      for (const std::string_view format : command.formats)
        EXPECT_NE(outcome.err.find(format), std::string::npos) << command.line << ": " << outcome.err;
    }
  }
  EXPECT_FALSE(std::filesystem::exists(folder() / "r.xml"));
}

TEST_F(ReportFlag, ARunReportsHowItEnded) {
  write_model("unknown.onnx", R"(
<ir_version: 8, opset_import: ["" : 14]>
g (float[2] X) => (float[2] Z) { Z = NoSuchOperator(X) }
)");
  const auto report = [&](const std::string& line, int code) {
    const Outcome outcome = run(line + " --report json=-");
    EXPECT_EQ(outcome.code, code) << line << outcome.err;
    const nlohmann::json json = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(json["exit_status"], code) << line;
    return json;
  };
  const auto passed = report("c/model.onnx --inputs c/test_data_set_0 --expected c/test_data_set_0", 0);
  EXPECT_EQ(passed["verdict"], "passed");
  EXPECT_EQ(passed["message"], "");
  EXPECT_EQ(passed["model"], "c/model.onnx");
  const auto& output = passed["outputs"][0];
  EXPECT_EQ(output["name"], "Z");
  EXPECT_EQ(output["type"], "tensor(float)");
  EXPECT_EQ(output["shape"], nlohmann::json({2, 3}));
  EXPECT_EQ(output["total"], 6);
  const auto differs = report("add.onnx --seed 1 --expected c/test_data_set_0", 1);
  EXPECT_EQ(differs["verdict"], "differs");
  EXPECT_EQ(differs["outputs"][0]["ok"], false);
  EXPECT_EQ(differs["outputs"][0]["expected_type"], "tensor(float) [2,3]");
  const auto ran = report("add.onnx --seed 1", 0);
  EXPECT_EQ(ran["verdict"], "ran");
  EXPECT_EQ(ran["outputs"][0]["compared"], false);
  EXPECT_FALSE(ran["outputs"][0].contains("ok"));
  const auto invalid = report("unknown.onnx", 3);
  EXPECT_EQ(invalid["verdict"], "invalid");
  EXPECT_NE(invalid["message"].get<std::string>().find("no operator 'NoSuchOperator'"), std::string::npos);
  EXPECT_TRUE(invalid["outputs"].empty());
  EXPECT_EQ(report("add.onnx --max-memory 1", 5)["verdict"], "timed-out");
  const Outcome usage = run("add.onnx --inputs missing --report json=r.json");
  EXPECT_EQ(usage.code, 2);
  EXPECT_FALSE(std::filesystem::exists(folder() / "r.json")) << "a wrong argument has no report";
  EXPECT_EQ(run("add.onnx --save-outputs none/z.npy --report json=r.json").code, 2);
  EXPECT_EQ(nlohmann::json::parse(read("r.json"))["exit_status"], 2) << "it ran";
}

TEST_F(ReportFlag, WhatCannotBeIsRefused) {
  write("binary", std::string("\0\1\2", 3));
  write("weights", "weights");
  const std::pair<const char*, const char*> cases[] = {
      {"check add.onnx --report json", "--report takes FORMAT=FILE, as in json=report.json; got 'json'"},
      {"check add.onnx --report =r", "--report takes FORMAT=FILE"},
      {"check add.onnx --report json=", "--report json=: no file is named"},
      {"check add.onnx --report json=r --report sarif=./r",
       "--report json and --report sarif both write ./r"},
      {"check add.onnx --report json=- --report sarif=-",
       "--report json and --report sarif cannot both go to standard output; give one of them a file"},
      {"check add.onnx --report json=- --output-format sarif", "cannot both go to standard output"},
      {"conformance c --json - --report junit=-",
       "--json and --report junit cannot both go to standard output"},
      {"conformance c --json r --report json=r", "--json and --report json both write r"},
      {"bench add.onnx --trace - --json -", "--json and --trace cannot both go to standard output"},
      {"check add.onnx --report text=add.onnx",
       "--report text add.onnx would write over what the model reads"},
      {"inspect add.onnx --report json=add.onnx", "would write over what the model reads"},
      {"conformance c --report text=c/model.onnx", "would write over what a case reads"},
      {"check add.onnx --report json=weights", "weights: the file that is there is no such report"},
      {"check add.onnx --report text=binary", "binary: the file that is there is no such report"},
      {"add.onnx --report json=r --save-outputs r.npz --trace-gates r",
       "--trace-gates takes a file that ends"},
      {"add.onnx --report json=z.npz --save-outputs z.npz",
       "--report json and --save-outputs both write z.npz"},
      {"add.onnx --report text=add.onnx", "--report text add.onnx would write over what the model reads"},
      {"ops GRU --report json=none/r", "none/r: the report cannot be written there"},
      {"conformance c --list --report json=r", "--list runs no case, so that there is nothing to report"},
  };
  for (const auto& [line, fragment] : cases) EXPECT_TRUE(fails(run(line), 2, "usage", fragment)) << line;
  EXPECT_EQ(read("weights"), "weights");
  EXPECT_EQ(read("binary").size(), 3u);
}

TEST_F(ReportFlag, ATextThatIsThereIsReplaced) {
  write("r.txt", "of before");
  EXPECT_EQ(run("check add.onnx --report text=r.txt").code, 0);
  EXPECT_EQ(read("r.txt"), "add.onnx: ok\n");
  EXPECT_EQ(run("check missing.onnx add.onnx --report text=r.txt").code, 2);
  EXPECT_NE(read("r.txt").find(", 1 could not be read\n"), std::string::npos) << read("r.txt");
}

}  // namespace
}  // namespace grurun::cli::testing
