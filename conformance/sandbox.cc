#include "conformance/sandbox.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "conformance/privileges.h"
#include "conformance/system_calls.h"
#include "engine/kernels/machine/parallel.h"
#include "onnx_io/bytes.h"
#include "onnx_io/folder.h"
#include "onnx_io/system_folders.h"
#include "tensor/error.h"
#include "tensor/memory/container_limits.h"
#include "tensor/sanitizers.h"

namespace grurun::conformance {

namespace {

// What newer kernels have than the headers of the oldest system that this is built on.
constexpr std::uint64_t may_move = 1 << 13, may_truncate = 1 << 14, may_control_devices = 1 << 15;
constexpr std::uint64_t all_of_network = 3;  // to bind and to connect
constexpr std::uint64_t abstract_sockets = 1, signals = 2;

struct RulesetAttributes {
  std::uint64_t files;
  std::uint64_t network;
  std::uint64_t scoped;
};

constexpr std::uint64_t may_read = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t may_write = may_read | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG |
                                    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
                                    LANDLOCK_ACCESS_FS_REMOVE_DIR;

int landlock_version() {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return version > 0 ? static_cast<int>(version) : 0;
}

/// What the version knows; all of it is forbidden but where a rule allows it.
RulesetAttributes attributes_of(int version) {
  RulesetAttributes attributes{(1 << 13) - 1, 0, 0};
  if (version >= 2) attributes.files |= may_move;
  if (version >= 3) attributes.files |= may_truncate;
  if (version >= 5) attributes.files |= may_control_devices;
  if (version >= 4) attributes.network = all_of_network;
  if (version >= 6) attributes.scoped = abstract_sockets | signals;
  return attributes;
}

std::size_t size_of_attributes(int version) {
  return version >= 6 ? 24 : version >= 4 ? 16 : 8;
}

/// A path that is not there gives nothing to read.
void allow(int ruleset, const std::string& path, std::uint64_t access) {
  const onnx_io::Descriptor file(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat info {};
  if (!file.valid() || fstat(file.get(), &info) != 0) return;
  if (!S_ISDIR(info.st_mode))
    access &= LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | may_truncate;
  landlock_path_beneath_attr rule{};
  rule.allowed_access = access;
  rule.parent_fd = file.get();
  syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

void allow_link(int ruleset, const std::string& link, onnx_io::SystemFolders& system) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path place = fs::canonical(link, error);
  if (error || system.hold(place.string())) return;
  const fs::path folder = fs::canonical(onnx_io::folder_of(link), error);
  if (error || std::ranges::mismatch(place, folder).in1 == place.end()) return;
  allow(ruleset, place.string(), may_read);
}

// What the C library looks at while it runs. Nothing of a process is among it: /proc/PID holds the
// environment.
constexpr const char* of_the_system[] = {"/proc/meminfo", "/sys/devices/system/cpu"};

bool is_root(const std::string& path) {
  struct stat info {
  }, root{};
  return ::stat(path.c_str(), &info) == 0 && ::stat("/", &root) == 0 && info.st_dev == root.st_dev &&
         info.st_ino == root.st_ino;
}

/// Folders can be listed, and files read but those of the system. Of the folder for devices that one alone is
/// left which holds files of users.
void allow_all_but_system(int ruleset) {
  constexpr std::array<std::string_view, 3> of_kernel = {"proc", "sys", "dev"};
  allow(ruleset, "/", LANDLOCK_ACCESS_FS_READ_DIR);
  allow(ruleset, "/dev/shm", may_read);
  for (const onnx_io::FolderEntry& entry : onnx_io::entries_of("/"))
    if (std::ranges::count(of_kernel, entry.name) == 0) allow(ruleset, "/" + entry.name, may_read);
}

}  // namespace

std::optional<SandboxMode> parse_sandbox_mode(std::string_view name) {
  if (name == "auto") return SandboxMode::automatic;
  if (name == "strict") return SandboxMode::strict;
  if (name == "off") return SandboxMode::off;
  return std::nullopt;
}

std::string SandboxState::text() const {
  std::string out = landlock > 0 ? fmt::format("Landlock {}", landlock) : "";
  if (seccomp) out += out.empty() ? "seccomp" : ", seccomp";
  return out.empty() ? "none" : out;
}

SandboxState sandbox_support() {
  // A sanitizer reads the program's own file, and starts others, when it has something to tell.
  if (GRURUN_ASAN || GRURUN_TSAN || runs_under_valgrind()) return {};
  return {landlock_version(), can_filter_system_calls()};
}

Sandbox::Sandbox(SandboxMode mode, SandboxRole role, const SandboxPaths& paths) : role_(role) {
  if (mode == SandboxMode::off) return;
  state_ = sandbox_support();
  if (mode == SandboxMode::strict && (state_.landlock == 0 || !state_.seccomp))
    fail_unsupported("--sandbox strict: this kernel or build has {}, not both Landlock and seccomp; use auto",
                     state_.text());
  // Both are known from then on, without a look at files of this process.
  usable_memory();
  kernels::usable_cpus();
  if (state_.landlock == 0) return;
  const RulesetAttributes attributes = attributes_of(state_.landlock);
  ruleset_ = static_cast<int>(
      syscall(SYS_landlock_create_ruleset, &attributes, size_of_attributes(state_.landlock), 0));
  if (ruleset_ < 0) fail_internal("no Landlock ruleset: {}", std::strerror(errno));
  for (const char* const path : of_the_system) allow(ruleset_, path, may_read);
  allow(ruleset_, "/dev/null", may_write);
  if (paths.reads_all) allow_all_but_system(ruleset_);
  // A model may lie in "/", as it does in a container that begins there.
  for (const std::string& path : paths.read)
    is_root(path) ? allow_all_but_system(ruleset_) : allow(ruleset_, path, may_read);
  onnx_io::SystemFolders system;
  for (const std::string& link : paths.links) allow_link(ruleset_, link, system);
  const std::uint64_t write = may_write | (state_.landlock >= 3 ? may_truncate : 0);
  for (const std::string& path : paths.write) allow(ruleset_, path, write);
}

Sandbox::~Sandbox() {
  if (ruleset_ >= 0) close(ruleset_);
}

void Sandbox::enter() const {
  if (state_.landlock == 0 && !state_.seccomp) return;
  // What the process has at most held, for bench. It is this process's own only when asked for here.
  if (role_ == SandboxRole::command && ruleset_ >= 0) allow(ruleset_, "/proc/self/status", may_read);
  clear_environment();
  make_limits_final();
  drop_capabilities();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    fail_internal("privileges cannot be given up: {}", std::strerror(errno));
  if (ruleset_ >= 0 && syscall(SYS_landlock_restrict_self, ruleset_, 0) != 0)
    fail_internal("Landlock: {}", std::strerror(errno));
  if (state_.seccomp) filter_system_calls(role_);
}

}  // namespace grurun::conformance
