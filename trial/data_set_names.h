// Names of data sets, and of the files in them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace grurun::trial {

inline constexpr std::string_view data_set_prefix = "test_data_set_";
inline constexpr std::string_view input_prefix = "input_";
inline constexpr std::string_view output_prefix = "output_";

/// test_data_set_*: as ONNX's own runner finds them, whatever follows.
bool is_data_set(std::string_view name);

/// test_data_set_0, not test_data_set_0.zip.
bool is_numbered_data_set(std::string_view name);

/// What may have been meant as a data set: test_data_0, Test_Data_Set_0.
bool is_like_data_set(std::string_view name);

/// test_data_set_2 before test_data_set_10; names of data sets without a number after them.
bool data_set_order(const std::string& a, const std::string& b);

/// K of <prefix>K.pb and, as only grurun reads and writes it, <prefix>K.npy; nullopt for other names, and for
/// a number beyond 64 bits.
std::optional<std::size_t> file_number(std::string_view name, std::string_view prefix);

/// Whether a file of a data set, by the begin of its name and its ending, may have been meant as a value of
/// <prefix>, though the name is none of theirs: input0.pb, Input_0.npy, input_0.json.
bool is_misnamed(const std::string& name, std::string_view prefix);

/// X of X.npy, X.pb and other files of values: what such a file holds of a model that has a value of that
/// name may have been meant as its, though a data set tells by numbers. nullopt for other names, and for
/// input_K.pb and output_K.pb.
std::optional<std::string> value_of_file(const std::string& name);

/// X of X_output_K.pb, as the flat layout names the expected outputs of X.onnx; nullopt for other names.
std::optional<std::string> model_of_output(std::string_view name);

/// X_output_K.pb.
std::string output_of_model(const std::string& model, std::size_t number);

}  // namespace grurun::trial
