// What code of a stranger can write in a process that entered the sandbox of a command: the files that flags
// name, by way of what was opened before, and nothing beside them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "cli/sandbox_flags.h"
#include "conformance/sandbox.h"
#include "onnx_io/bytes.h"
#include "onnx_io/kept_outputs.h"
#include "onnx_io/scratch_folder.h"
#include "onnx_io/values/tensor_files.h"
#include "tensor/error.h"
#include "tensor/tensor.h"

namespace grurun::cli {
namespace {

namespace fs = std::filesystem;

std::string tried(long result) {
  return result < 0 ? std::strerror(errno) : "done";
}

std::string written(const std::function<void()>& write) {
  try {
    write();
  } catch (const Error& error) {
    return error.message();
  }
  return "done";
}

class SandboxedOutputs : public ::testing::Test {
 protected:
  void SetUp() override {
    if (conformance::sandbox_support().landlock == 0) GTEST_SKIP() << "no Landlock";
    for (const char* folder : {"model", "out", "elsewhere"}) fs::create_directories(folder_ / folder);
    for (const char* file : {"model/model.onnx", "out/old.json", "out/other.txt", "elsewhere/linked.json"})
      std::ofstream(path(file)) << "before";
    fs::create_symlink(path("elsewhere/linked.json"), path("out/link.json"));
    fs::create_symlink("../elsewhere/made.json", path("out/loose.json"));
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string text_of(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }

  SandboxFiles files() const {
    SandboxFiles out{{path("model/model.onnx")}};
    for (const char* name :
         {"out/new.json", "out/old.json", "out/link.json", "out/loose.json", "out/new.npz"})
      out.written.push_back(path(name));
    out.folders = {path("out/set/one")};
    return out;
  }

  /// What the attempts come to in a process of their own that entered the sandbox; status as waitpid tells.
  std::string in_sandbox(const SandboxFiles& files, const std::function<std::string()>& attempts,
                         int* status) const {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = fork();
    if (child == 0) {
      std::string answer;
      try {
        setpgid(0, 0);
        own_process();
        enter_sandbox({"auto", files});
        answer = attempts();
      } catch (const std::exception& error) {
        answer = error.what();
      }
      const bool is_told =
          write(ends[1], answer.data(), answer.size()) == static_cast<ssize_t>(answer.size());
      onnx_io::end_kept_outputs();
      _exit(is_told ? 0 : 1);
    }
    close(ends[1]);
    std::string answer(65536, '\0');
    std::size_t size = 0;
    for (ssize_t got = 1; got > 0; size += static_cast<std::size_t>(got))
      if ((got = read(ends[0], answer.data() + size, answer.size() - size)) < 0) break;
    close(ends[0]);
    waitpid(child, status, 0);
    return answer.substr(0, size);
  }

  std::vector<std::string> names_in(const std::string& folder) const {
    std::vector<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(path(folder)))
      names.push_back(entry.path().filename().string());
    std::ranges::sort(names);
    return names;
  }

  const fs::path folder_ =
      fs::temp_directory_path() / ("grurun-sandboxed-outputs-" + std::to_string(getpid()));
};

TEST_F(SandboxedOutputs, NothingBesideThemCanBeWritten) {
  const std::string denied = std::strerror(EACCES);
  const std::vector<std::pair<const char*, std::function<long()>>> attempts = {
      {"make a file beside a report", [&] { return open(path("out/x").c_str(), O_WRONLY | O_CREAT, 0600); }},
      {"change a file beside it", [&] { return open(path("out/other.txt").c_str(), O_WRONLY); }},
      {"change the report by its name", [&] { return open(path("out/old.json").c_str(), O_WRONLY); }},
      {"remove a file beside it", [&] { return unlink(path("out/other.txt").c_str()); }},
      {"move the report",
       [&] { return rename(path("out/old.json").c_str(), path("out/other.txt").c_str()); }},
      {"make a folder beside it", [&] { return mkdir(path("out/more").c_str(), 0700); }},
      {"remove a folder", [&] { return rmdir(path("elsewhere").c_str()); }},
      {"change the model", [&] { return open(path("model/model.onnx").c_str(), O_WRONLY); }},
      {"make a file beside the model",
       [&] { return open(path("model/x").c_str(), O_WRONLY | O_CREAT, 0600); }},
      {"make a file where a link leads",
       [&] { return open(path("elsewhere/x").c_str(), O_WRONLY | O_CREAT, 0600); }},
      {"read what is beside the report", [&] { return open(path("out/other.txt").c_str(), O_RDONLY); }},
  };
  int status = 0;
  const std::string answers = in_sandbox(
      files(),
      [&] {
        std::string out;
        for (const auto& [what, attempt] : attempts) out += fmt::format("{}: {}\n", what, tried(attempt()));
        return out;
      },
      &status);
  std::string wanted;
  for (const auto& [what, attempt] : attempts) wanted += fmt::format("{}: {}\n", what, denied);
  EXPECT_EQ(answers, wanted);
  EXPECT_EQ(status, 0);
  // Files that no command wrote leave what was there.
  EXPECT_EQ(names_in("out"), (std::vector<std::string>{"link.json", "loose.json", "old.json", "other.txt"}));
  for (const char* name : {"out/old.json", "out/other.txt", "elsewhere/linked.json", "model/model.onnx"})
    EXPECT_EQ(text_of(name), "before") << name;
}

TEST_F(SandboxedOutputs, AreWrittenWhole) {
  int status = 0;
  const Tensor values = Tensor::from<float>(Shape{2}, {1, 2});
  const std::string answers = in_sandbox(
      files(),
      [&] {
        std::string out;
        for (const char* name :
             {"out/new.json", "out/old.json", "out/link.json", "out/loose.json", "out/set/one/file"})
          out += written([&] { onnx_io::write_file(path(name), {"aft", "er"}); }) + "\n";
        return out + written([&] { onnx_io::write_values(path("out/new.npz"), {{"X", Value(values)}}); });
      },
      &status);
  EXPECT_EQ(answers, "done\ndone\ndone\ndone\ndone\ndone");
  for (const char* name :
       {"out/new.json", "out/old.json", "elsewhere/linked.json", "elsewhere/made.json", "out/set/one/file"})
    EXPECT_EQ(text_of(name), "after") << name;
  EXPECT_EQ(onnx_io::read_values(path("out/new.npz")).at(0).name, "X");
  EXPECT_EQ(names_in("out"), (std::vector<std::string>{"link.json", "loose.json", "new.json", "new.npz",
                                                       "old.json", "other.txt", "set"}));
}

TEST_F(SandboxedOutputs, NothingIsLeftOfAProcessThatIsKilled) {
  int status = 0;
  SandboxFiles outputs = files();
  outputs.scratch = {path("scratch")};
  fs::create_directories(path("scratch"));
  // The whole group is killed, as timeout does it.
  std::thread killer([&] {
    std::string process;
    for (int i = 0; i < 1000 && process.empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      process = text_of("scratch/process");
    }
    if (!process.empty()) kill(-std::stoi(process), SIGKILL);
  });
  in_sandbox(
      outputs,
      [&]() -> std::string {
        onnx_io::write_file(path("scratch/process"), {std::to_string(getpid())});
        std::this_thread::sleep_for(std::chrono::seconds(20));
        return "";
      },
      &status);
  killer.join();
  EXPECT_TRUE(WIFSIGNALED(status));
  const std::vector<std::string> wanted{"link.json", "loose.json", "old.json", "other.txt"};
  for (int i = 0; i < 500 && (names_in("out") != wanted || fs::exists(path("scratch"))); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(names_in("out"), wanted);
  EXPECT_FALSE(fs::exists(path("scratch")));
  EXPECT_EQ(text_of("out/old.json"), "before");
}

TEST_F(SandboxedOutputs, ThatCannotBeMadeSaySoWhenTheyAreWritten) {
  SandboxFiles outputs = files();
  outputs.written = {path("out/other.txt/x.json")};
  int status = 0;
  const std::string answer = in_sandbox(
      outputs, [&] { return written([&] { onnx_io::write_file(outputs.written[0], {"x"}); }); }, &status);
  EXPECT_EQ(answer, fmt::format("cannot write {}: {}", outputs.written[0], std::strerror(ENOTDIR)));
}

}  // namespace
}  // namespace grurun::cli
