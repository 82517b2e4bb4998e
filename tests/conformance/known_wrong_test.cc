#include "conformance/known_wrong.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "tests/places/in_tree.h"
#include "tests/places/scratch.h"

namespace grurun::conformance {
namespace {

using testing::HasSubstr;
using tests::Scratch;

Case case_in(const Scratch& scratch) {
  scratch.file("case/model.onnx", "m");
  scratch.file("case/test_data_set_0/input_0.pb", "i");
  scratch.file("case/test_data_set_0/output_1.pb", "p");
  scratch.file("case/test_data_set_0/output_0.pb", "o");
  Case test;
  test.model = scratch.path("case/model.onnx");
  test.data_sets = {scratch.path("case/test_data_set_0")};
  return test;
}

// What coreutils' sha256sum prints for these three files.
TEST(KnownWrong, DigestIsThatOfModelAndExpectedFiles) {
  const Scratch scratch;
  const Case test = case_in(scratch);
  EXPECT_EQ(case_digest(test), "8035c90d7c8bfc49f38a3387e6b3ebaad70bc82a49bb1be644de3121faeb401b");
  EXPECT_EQ(find_known_wrong(test), nullptr);
}

TEST(KnownWrong, DigestChangesWithTheExpectedValuesButNotWithTheInputs) {
  const Scratch scratch;
  const Case test = case_in(scratch);
  const std::string before = case_digest(test);
  scratch.file("case/test_data_set_0/input_0.pb", "other");
  EXPECT_EQ(case_digest(test), before);
  scratch.file("case/test_data_set_0/output_0.pb", "other");
  EXPECT_NE(case_digest(test), before);
}

TEST(KnownWrong, NothingIsReadOfWhatIsNoRegularFile) {
  const Scratch scratch;
  const Case test = case_in(scratch);
  for (const std::string name : {"model.onnx", "test_data_set_0/output_1.pb"}) {
    const std::string path = scratch.path("case/" + name);
    std::filesystem::remove(path);
    scratch.fifo("case/" + name);  // read, it would be waited for
    EXPECT_EQ(find_known_wrong(test), nullptr) << name;
    std::filesystem::remove(path);
    std::filesystem::create_symlink("/dev/zero", path);  // read, it would fill the memory
    EXPECT_EQ(find_known_wrong(test), nullptr) << name;
    std::filesystem::remove(path);
    scratch.file("case/" + name, "regular");
  }
}

TEST(KnownWrong, CaseWithoutItsFilesIsNotKnown) {
  Case test;
  test.model = "nowhere/model.onnx";
  EXPECT_EQ(find_known_wrong(test), nullptr);
}

TEST(KnownWrong, TableIsSortedAndEveryRowHasARuleAndEveryRuleARow) {
  const auto cases = known_wrong_cases();
  std::set<std::string> used, known;
  std::string last;
  for (const KnownWrongCase& row : cases) {
    EXPECT_EQ(std::string(row.digest).size(), 64u) << row.name;
    EXPECT_LT(last, row.digest);
    last = row.digest;
    used.insert(row.rule);
  }
  for (const KnownWrongRule& rule : known_wrong_rules()) known.insert(rule.id);
  EXPECT_EQ(used, known);
}

TEST(KnownWrong, ReadmeTellsTheirNumber) {
  std::ifstream file(tests::in_tree("README.md"));
  const std::string readme{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_THAT(readme, HasSubstr(std::to_string(known_wrong_cases().size()) + " official cases"));
}

}  // namespace
}  // namespace grurun::conformance
