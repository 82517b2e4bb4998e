// What a report must be, in files beside the tests.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/places/in_tree.h"

namespace grurun::report {

/// Compares a report with tests/report/FILE; GRURUN_UPDATE_GOLDEN=1 writes it anew.
inline void expect_golden(const std::string& file, const std::string& text) {
  const std::string path = tests::in_tree("tests/report/" + file);
  if (std::getenv("GRURUN_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream in(path);
  std::ostringstream golden;
  golden << in.rdbuf();
  EXPECT_EQ(text, golden.str()) << path;
}

}  // namespace grurun::report
