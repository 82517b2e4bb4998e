#include "conformance/discover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tensor/error.h"
#include "tests/places/scratch.h"

namespace grurun::conformance {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;
using tests::Scratch;

void add_case(const Scratch& scratch, const std::string& folder, int sets = 1) {
  scratch.file(folder + "/model.onnx", "model");
  for (int i = 0; i < sets; ++i)
    scratch.file(folder + "/test_data_set_" + std::to_string(i) + "/output_0.pb", "");
}

void link(const Scratch& scratch, const std::string& to, const std::string& name) {
  fs::create_directories(fs::path(scratch.path(name)).parent_path());
  fs::create_symlink(scratch.path(to), scratch.path(name));
}

std::vector<std::string> names(const Discovery& found) {
  std::vector<std::string> out;
  for (const Case& test : found.cases) out.push_back(test.full_name());
  return out;
}

std::vector<std::pair<std::string, std::string>> unseen(const Discovery& found) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const Case& test : found.unseen) out.emplace_back(test.full_name(), test.problem);
  return out;
}

TEST(Discover, FoldersOfTheSystemAreNotWalked) {
  const Scratch s;
  add_case(s, "data/test_a");
  for (const char* const folder : {"/proc", "/proc/self", "/sys", "/sys/fs/cgroup", "/dev", "/dev/pts"}) {
    if (!fs::is_directory(folder)) continue;
    fs::create_symlink(folder, s.path("data/link"));
    const Discovery found = discover({s.path("data")});
    EXPECT_THAT(names(found), ElementsAre("data/test_a")) << folder;
    EXPECT_THAT(unseen(found), IsEmpty()) << folder;
    EXPECT_THAT(found.no_cases.at("a folder of the system"), ElementsAre(s.path("data/link"))) << folder;
    fs::remove(s.path("data/link"));
  }
  for (const char* const folder : {"/proc", "/proc/self/fd", "/sys", "/dev"})
    EXPECT_THAT([&] { discover({folder}); },
                testing::ThrowsMessage<Error>(HasSubstr("a folder of the system")))
        << folder;
}

TEST(Discover, EndsAtItsDeadline) {
  const Scratch s;
  add_case(s, "data/test_a");
  const auto now = std::chrono::steady_clock::now();
  EXPECT_THAT([&] { discover({s.path("data")}, now - std::chrono::seconds(1)); },
              testing::ThrowsMessage<Error>(HasSubstr("the time of --max-run-time was up")));
  EXPECT_THAT(names(discover({s.path("data")}, now + std::chrono::hours(1))), ElementsAre("data/test_a"));
}

TEST(Discover, CasesByFolderWithKindAndName) {
  const Scratch s;
  add_case(s, "data/node/test_b");
  add_case(s, "data/node/test_a");
  add_case(s, "data/simple/any name at all");
  add_case(s, "data/deep/er/x");
  s.file("data/readme.txt", "");
  const Discovery found = discover({s.path("data")});
  EXPECT_THAT(names(found), ElementsAre("er/x", "node/test_a", "node/test_b", "simple/any name at all"));
  EXPECT_THAT(found.no_cases, IsEmpty());
  EXPECT_EQ(found.cases[1].path, s.path("data/node/test_a"));
  EXPECT_EQ(found.cases[1].model, s.path("data/node/test_a/model.onnx"));
}

TEST(Discover, SeveralSetsAreOneCaseInOrderOfNumber) {
  const Scratch s;
  add_case(s, "node/test_a", 11);
  s.file("node/test_a/test_data_set_extra/output_0.pb", "");
  const Discovery found = discover({s.path("node")});
  ASSERT_EQ(found.cases.size(), 1u);
  std::vector<std::string> sets;
  for (const std::string& set : found.cases[0].data_sets) sets.push_back(fs::path(set).filename());
  EXPECT_THAT(sets,
              ElementsAre("test_data_set_0", "test_data_set_1", "test_data_set_2", "test_data_set_3",
                          "test_data_set_4", "test_data_set_5", "test_data_set_6", "test_data_set_7",
                          "test_data_set_8", "test_data_set_9", "test_data_set_10", "test_data_set_extra"));
}

TEST(Discover, PathsMayBeKindsCasesModelFilesAndRelative) {
  const Scratch s;
  add_case(s, "node/test_a");
  add_case(s, "node/test_b");
  for (const std::string path :
       {"node/test_a", "node/test_a/", "node/../node/test_a/.", "node/test_a/model.onnx"})
    EXPECT_THAT(names(discover({s.path(path)})), ElementsAre("node/test_a")) << path;
  const fs::path before = fs::current_path();
  fs::current_path(s.path("node/test_a"));
  EXPECT_THAT(names(discover({"."})), ElementsAre("node/test_a"));
  EXPECT_THAT(names(discover({"model.onnx"})), ElementsAre("node/test_a"));
  EXPECT_THAT(names(discover({"../test_b"})), ElementsAre("node/test_b"));
  fs::current_path(before);
  EXPECT_THAT(names(discover({s.path("node/test_b"), s.path("node")})),
              ElementsAre("node/test_b", "node/test_a"));
}

TEST(Discover, FollowsLinksWithoutGoingRound) {
  const Scratch s;
  add_case(s, "store/test_a");
  link(s, "store/test_a", "linked/test_renamed");
  link(s, "store", "linked/all");
  link(s, "linked", "linked/round");
  link(s, "linked", "store/back");
  link(s, "nowhere", "linked/broken");
  link(s, "linked", "entry");
  const Discovery found = discover({s.path("entry")});
  EXPECT_THAT(names(found), ElementsAre("all/test_a", "entry/test_renamed"));
  EXPECT_THAT(unseen(found),
              ElementsAre(Pair("entry/broken", HasSubstr("cannot be followed: No such file"))));
  link(s, "store/test_a", "one");
  EXPECT_EQ(discover({s.path("one")}).cases.at(0).name, "one");
}

TEST(Discover, WhatMayHideACaseOrADataSetIsUnseen) {
  const Scratch s;
  add_case(s, "node/test_a");
  link(s, "nowhere", "node/test_a/test_data_set_1");
  s.file("node/test_a/test_data_set_2", "a link, in a checkout that has none");
  s.file("node/test_a/test_data_set_0.zip", "");
  fs::create_symlink("round", s.path("node/round"));
  s.file("node/test_b/test_data_set_0/output_0.pb", "");
  link(s, "nowhere", "node/test_b/model.onnx");
  const auto of_a = {Pair("test_a/test_data_set_1", HasSubstr("link cannot be followed: No such file")),
                     Pair("test_a/test_data_set_2", HasSubstr("must be a folder"))};
  const Discovery found = discover({s.path("node"), s.path("node/test_a")});
  EXPECT_THAT(names(found), ElementsAre("node/test_a"));
  EXPECT_THAT(
      unseen(found),
      UnorderedElementsAre(*of_a.begin(), *(of_a.begin() + 1),
                           Pair("node/round", HasSubstr("cannot be followed: Too many levels")),
                           Pair("test_b/model.onnx", HasSubstr("link cannot be followed: No such file"))));
  EXPECT_THAT(unseen(discover({s.path("node/test_a/model.onnx")})), ElementsAreArray(of_a));
}

TEST(Discover, CasesWithinACaseButNotWithinItsDataSets) {
  const Scratch s;
  add_case(s, "data/outer");
  add_case(s, "data/outer/inner");
  add_case(s, "data/outer/deep/er/x");
  add_case(s, "data/outer/test_data_set_0/hidden");
  s.file("data/outer/flat.onnx", "");
  s.file("data/outer/flat_output_0.pb", "");
  s.file("data/outer/spare.onnx", "");
  s.file("data/outer/model.xml", "");
  s.file("data/outer/data.json", R"({"url": "elsewhere"})");
  link(s, "data/outer", "data/outer/itself");
  const Discovery found = discover({s.path("data")});
  EXPECT_THAT(names(found), ElementsAre("data/outer", "outer/flat", "er/x", "outer/inner", "outer/itself"));
  EXPECT_THAT(found.no_cases, ElementsAre(Pair("a model without expected outputs",
                                               ElementsAre(EndsWith("outer/spare.onnx")))));
  EXPECT_THAT(names(discover({s.path("data/outer/inner"), s.path("data/outer")})),
              ElementsAre("outer/inner", "data/outer", "outer/flat", "er/x", "outer/itself"));
  EXPECT_THAT(names(discover({s.path("data/outer/model.onnx")})), ElementsAre("data/outer"));
}

TEST(Discover, CasesThatAreNamedAsDataSetsAndDataSetsThatAreNot) {
  const Scratch s;
  add_case(s, "node/test_data_set_foo");
  add_case(s, "node/test_a");
  s.file("node/test_a/test_data_set1/output_0.pb", "");
  s.file("node/test_a/Test_data_set_1/output_0.pb", "");
  const Discovery found = discover({s.path("node")});
  EXPECT_THAT(names(found), ElementsAre("node/test_a", "node/test_data_set_foo"));
  const char* const wanted = "the name of a data set is test_data_set_K";
  EXPECT_THAT(unseen(found), UnorderedElementsAre(Pair("test_a/test_data_set1", wanted),
                                                  Pair("test_a/Test_data_set_1", wanted)));
}

TEST(Discover, LaddersOfLinksEnd) {
  const Scratch s;
  add_case(s, "d30/test_a");
  for (int i = 0; i < 30; ++i) {
    for (const char* name : {"/a", "/b"})
      link(s, "d" + std::to_string(i + 1), "d" + std::to_string(i) + name);
  }
  EXPECT_EQ(discover({s.path("d0")}).cases.size(), 1u);
}

TEST(Discover, FlatLayoutWithTolerancesFromReal) {
  const Scratch s;
  s.file("data/light/light_a.onnx", "");
  s.file("data/light/light_a_output_0.pb", "");
  s.file("data/light/light_b.onnx", "");
  s.file("data/light/light_b_output_0.pb", "");
  s.file("data/light/plain.onnx", "");
  s.file("data/real/test_a/data.json",
         R"({"url": "x/light/light_a.onnx", "rtol": 0.002, "model_name": "a"})");
  s.file("data/real/test_b/data.json", R"({"url": "https://host/b.tar.gz", "rtol": 0.5})");
  for (const std::string path : {"data", "data/light"}) {
    const Discovery found = discover({s.path(path)});
    EXPECT_THAT(names(found), ElementsAre("light/light_a", "light/light_b"));
    EXPECT_TRUE(found.cases[0].flat);
    EXPECT_EQ(found.cases[0].model,
              s.path(path == "data" ? "data/light/light_a.onnx" : path + "/light_a.onnx"));
    EXPECT_EQ(found.cases[0].tolerance.rtol, 0.002);
    EXPECT_EQ(found.cases[0].tolerance.atol, std::nullopt);
    EXPECT_EQ(found.cases[1].tolerance.rtol, std::nullopt);
    EXPECT_THAT(found.no_cases.at("a model without expected outputs"), ElementsAre(EndsWith("plain.onnx")));
    if (path == "data") {
      EXPECT_THAT(found.no_cases.at("only a url"), ElementsAre(EndsWith("real/test_b")));
    }
  }
  const Discovery single = discover({s.path("data/light/light_a.onnx")});
  EXPECT_THAT(names(single), ElementsAre("light/light_a"));
  EXPECT_EQ(single.cases[0].tolerance.rtol, 0.002);
}

TEST(Discover, DataJsonOfACase) {
  const Scratch s;
  add_case(s, "node/test_a");
  s.file("node/test_a/data.json", R"({"rtol": 0.5, "atol": 0.25})");
  add_case(s, "node/test_b");
  s.file("node/test_b/data.json", R"({"rtol": "wide"})");
  const Discovery found = discover({s.path("node")});
  EXPECT_EQ(found.cases.at(0).tolerance.rtol, 0.5);
  EXPECT_EQ(found.cases.at(0).tolerance.atol, 0.25);
  EXPECT_THAT(found.cases.at(1).problem, testing::HasSubstr("data.json"));
  fs::remove(s.path("node/test_a/data.json"));
  s.fifo("node/test_a/data.json");
  EXPECT_THAT(discover({s.path("node")}).cases.at(0).problem, testing::HasSubstr("not a regular file"));
}

TEST(Discover, DataJsonThatBreaksARuleSaysWhich) {
  std::vector<std::pair<std::string, const char*>> rows = {
      {R"({"rtol": -1})", "data.json: rtol must be a number from 0, not -1"},
      {R"({"atol": -1e-9})", "data.json: atol must be a number from 0, not -1e-09"},
      {R"({"rtol": "wide"})", "data.json: rtol must be a number from 0, not a string"},
      {R"({"atol": null})", "data.json: atol must be a number from 0, not null"},
      {R"({"rtol": 1e999})", "data.json: a number beyond the range of float64, at byte 14"},
      {R"({"url": 1})", "data.json: url must be a string, not an integer"},
      {"[1]", "data.json: it must hold a JSON object, not an array"},
      {"{\"rtol\": 1",
       "data.json: no JSON, at byte 11: syntax error while parsing object - unexpected end of input; "
       "expected '}'"},
      {"",
       "data.json: no JSON, at byte 1: syntax error while parsing value - unexpected end of input; expected "
       "'[', '{', or a literal"},
      {R"({"rtol": 1e-9, "rtol": 1e9})", "data.json: the key \"rtol\" is there twice in one object"},
      {R"({"a": [{"b": 1, "b": 1}]})", "data.json: the key \"b\" is there twice in one object"},
      {R"({"rtol": 0, "url": "a", "more": {"rtol": 1}})", ""},
      {R"({"rtol": 0, "atol": 0})", ""},
      {"{}", ""},
  };
  const std::string most = "{\"mor\": \"" + std::string((std::size_t{1} << 20) - 11, 'u') + "\"}";
  rows.emplace_back(most, "");
  rows.emplace_back(most + " ", "data.json: it has 1048577 bytes, and a data.json has at most 1 MiB");
  for (const auto& [text, problem] : rows) {
    const Scratch s;
    add_case(s, "node/test_a");
    s.file("node/test_a/data.json", text);
    const std::string got = discover({s.path("node")}).cases.at(0).problem;
    EXPECT_THAT(got, EndsWith(problem)) << text;
    EXPECT_EQ(got.empty(), *problem == '\0') << text << got;
  }
  const Scratch s;
  s.file("data/light/light_a.onnx", "");
  s.file("data/light/light_a_output_0.pb", "");
  s.file("data/real/test_a/data.json", R"({"url": "x/light_a.onnx", "rtol": -1})");
  EXPECT_THAT(discover({s.path("data/light")}).cases.at(0).problem, EndsWith("from 0, not -1"));
}

// It may hold the tolerances of a case that then runs with others.
TEST(Discover, ADataJsonThatCannotBeReadIsUnseenWhetherItsFolderWasNamedOrNot) {
  const Scratch s;
  s.file("data/light/light_a.onnx", "");
  s.file("data/light/light_a_output_0.pb", "");
  s.file("data/real/test_a/data.json", "{\"url\": \"x/light_a.onnx\", \"rtol\"");
  s.file("data/real/test_b/data.json", R"({"url": "x/other.onnx"})");
  for (const char* path : {"data", "data/light", "data/light/light_a.onnx"}) {
    const Discovery found = discover({s.path(path)});
    EXPECT_THAT(names(found), ElementsAre("light/light_a")) << path;
    EXPECT_THAT(unseen(found), ElementsAre(Pair("real/test_a", HasSubstr("data.json: no JSON, at byte "))))
        << path;
    EXPECT_EQ(found.no_cases.contains("only a url"), path == std::string("data"));
  }
}

TEST(Discover, TellsWhatLooksLikeACaseAndIsNone) {
  const Scratch s;
  s.file("a/model.onnx", "");
  s.file("b/test_data_set_0/output_0.pb", "");
  s.file("c/gone_output_1.pb", "");
  s.file("c/gone_output_0.pb", "");
  const Discovery found = discover({s.folder()});
  EXPECT_THAT(found.cases, IsEmpty());
  EXPECT_THAT(found.no_cases.at("expected outputs without a model"),
              ElementsAre(EndsWith("c/gone_output_0.pb")));
  EXPECT_THAT(found.no_cases.at("a model without expected outputs"), ElementsAre(EndsWith("a/model.onnx")));
  EXPECT_THAT(found.no_cases.at("test_data_set_* without a model, or with several and none is model.onnx"),
              ElementsAre(EndsWith("b")));
}

TEST(Discover, TheOnlyModelBesideDataSetsIsTheirsWhateverItsName) {
  const Scratch s;
  const auto add = [&](const std::string& folder, const std::vector<std::string>& models) {
    for (const std::string& model : models) s.file(folder + "/" + model, "");
    s.file(folder + "/test_data_set_0/output_0.pb", "");
  };
  add("zoo/resnet", {"resnet50.onnx", "labels.txt"});
  add("zoo/packed", {"net.onnx.gz"});
  add("zoo/text", {"net.textproto"});
  add("zoo/named", {"model.onnx", "other.onnx"});
  add("zoo/several", {"a.onnx", "b.onnx"});
  add("zoo/two", {"a.onnx", "a.onnxtxt"});
  add("zoo/flat", {"a.onnx", "a_output_0.pb", "net.onnx"});
  const Discovery found = discover({s.path("zoo")});
  EXPECT_THAT(names(found), UnorderedElementsAre("flat/a", "zoo/flat", "zoo/named", "zoo/packed",
                                                 "zoo/resnet", "zoo/text"));
  EXPECT_EQ(std::ranges::count(found.cases, s.path("zoo/resnet/resnet50.onnx"), &Case::model), 1);
  EXPECT_THAT(found.no_cases.at("test_data_set_* without a model, or with several and none is model.onnx"),
              UnorderedElementsAre(EndsWith("several"), EndsWith("two")));
  EXPECT_THAT(names(discover({s.path("zoo/packed/net.onnx.gz")})), ElementsAre("zoo/packed"));
}

TEST(Discover, AModelBesideAnyOfItsOutputsIsACase) {
  const Scratch s;
  s.file("light/a.onnx", "");
  s.file("light/a_output_1.pb", "");
  EXPECT_THAT(names(discover({s.path("light")})), ElementsAre("light/a"));
}

TEST(Discover, TellsPathsWithoutACase) {
  const Scratch s;
  add_case(s, "node/test_a");
  s.file("empty/readme.txt", "");
  const auto without_case = [&](const std::vector<std::string>& below) {
    std::vector<std::string> paths;
    for (const std::string& path : below) paths.push_back(s.path(path));
    return discover(paths).without_case;
  };
  EXPECT_THAT(without_case({"node", "empty"}), ElementsAre(s.path("empty")));
  EXPECT_THAT(without_case({"node", "node/test_a", "node"}), IsEmpty()) << "found before";
}

TEST(Discover, UsageErrors) {
  const Scratch s;
  s.file("model.onnx", "");
  s.file("notes.txt", "");
  link(s, "nowhere", "broken");
  for (const std::string name : {"missing", "model.onnx", "notes.txt", "broken"}) {
    try {
      discover({s.path(name)});
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << name;
      EXPECT_THAT(error.what(), testing::HasSubstr(name));
    }
  }
}

}  // namespace
}  // namespace grurun::conformance
