#include "trial/data_set_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace grurun::trial {
namespace {

TEST(DataSetNames, FilesHaveNumbers) {
  const struct {
    const char* name;
    std::optional<std::size_t> number;
    bool is_misnamed;
  } rows[] = {
      {"input_0.pb", 0, false},
      {"input_12.npy", 12, false},
      {"input_01.pb", 1, false},
      {"input_18446744073709551615.pb", SIZE_MAX, false},
      {"input_18446744073709551616.pb", std::nullopt, true},
      {"input_.pb", std::nullopt, true},
      {"input_.npy", std::nullopt, true},
      {"input_-1.pb", std::nullopt, true},
      {"input_+1.pb", std::nullopt, true},
      {"input_1x.pb", std::nullopt, true},
      {"input_0x1.pb", std::nullopt, true},
      {"input_1.npz", std::nullopt, true},
      {"Input_1.pb", std::nullopt, true},
      {"input1.pb", std::nullopt, true},
      {"input_1.PB", std::nullopt, true},
      {"input_1.pb.bak", std::nullopt, false},
      {"input_", std::nullopt, false},
      {"output_1.pb", std::nullopt, false},
      {"output1.pb", std::nullopt, false},
      {"readme.pb", std::nullopt, false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(file_number(row.name, input_prefix), row.number) << row.name;
    EXPECT_EQ(is_misnamed(row.name, input_prefix), row.is_misnamed) << row.name;
  }
}

TEST(DataSetNames, FilesMayBeNamedAfterValues) {
  EXPECT_EQ(value_of_file("h.npy"), "h");
  EXPECT_EQ(value_of_file("a.b.pb"), "a.b");
  EXPECT_EQ(value_of_file("X.npz"), "X");
  EXPECT_EQ(value_of_file("X.json"), "X");
  for (const char* name : {"input_0.pb", "output_3.npy", "h", "h.txt", "h.pb.bak"})
    EXPECT_EQ(value_of_file(name), std::nullopt) << name;
}

TEST(DataSetNames, SetsAreOrderedByTheirNumbers) {
  std::vector<std::string> names = {"test_data_set_10", "test_data_set_x", "test_data_set_2",
                                    "test_data_set_0",  "test_data_set_",  "test_data_set_02"};
  for (const std::string& name : names) EXPECT_TRUE(is_data_set(name)) << name;
  std::sort(names.begin(), names.end(), data_set_order);
  EXPECT_EQ(names, (std::vector<std::string>{"test_data_set_0", "test_data_set_02", "test_data_set_2",
                                             "test_data_set_10", "test_data_set_", "test_data_set_x"}));
  EXPECT_TRUE(is_numbered_data_set("test_data_set_3"));
  for (const char* name : {"test_data_set_", "test_data_set_3.zip", "test_data_3"})
    EXPECT_FALSE(is_numbered_data_set(name)) << name;
  EXPECT_TRUE(is_like_data_set("Test_Data_3"));
  EXPECT_FALSE(is_data_set("Test_Data_Set_3"));
}

TEST(DataSetNames, OutputsOfTheFlatLayoutNameTheirModel) {
  EXPECT_EQ(model_of_output("a_output_0.pb"), "a");
  EXPECT_EQ(model_of_output("a_output_1_output_12.pb"), "a_output_1");
  EXPECT_EQ(model_of_output(output_of_model("light_x", 3)), "light_x");
  for (const char* name :
       {"output_0.pb", "a_output_.pb", "a_output_0.npy", "a_output_x.pb", "a_output_0", "a_output_"})
    EXPECT_EQ(model_of_output(name), std::nullopt) << name;
}

}  // namespace
}  // namespace grurun::trial
