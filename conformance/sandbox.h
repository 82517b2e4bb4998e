// What a process that reads strangers' models may still do: read their folders, compute, and answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/call_filter.h"

namespace grurun::conformance {

enum class SandboxMode : std::uint8_t {
  automatic,  // as much as the kernel has
  strict,     // all of it, or Error(unsupported)
  off,
};

/// "auto", "strict", "off".
std::optional<SandboxMode> parse_sandbox_mode(std::string_view name);

struct SandboxPaths {
  std::vector<std::string> read{};   // files, and folders with all below them
  std::vector<std::string> write{};  // folders in which files may be made and replaced
  /// In folders that are read, whoever made them: what they lead to is read, but for the system's files and a
  /// folder that they lie in, "/" say.
  std::vector<std::string> links{};
  bool reads_all = false;  // whatever is not the system's: not /proc, /sys and devices
};

/// What is in force.
struct SandboxState {
  int landlock = 0;  // version of the kernel's interface; 0: none
  bool seccomp = false;

  /// "Landlock 7, seccomp", "none".
  std::string text() const;
};

/// What this kernel and build have; nothing is entered.
SandboxState sandbox_support();

/// A sandbox made ready once, for this process or those that it forks. Where it is in force:
/// - Landlock: only these paths can be opened, no TCP port, and processes outside get no signal;
/// - seccomp (libseccomp): system calls that are not on the list of the role fail. No network, no exec, no
///   ptrace, no new namespace, no signal to others, no code that was written first; but for a leader no fork;
/// - no new privileges, no capabilities but those for files, and no limit of the process that can be raised;
/// - nothing of the environment but what grurun looks at (privileges.h).
class Sandbox {
 public:
  /// Throws Error(unsupported) where strict is asked for and the kernel has less.
  Sandbox(SandboxMode mode, SandboxRole role, const SandboxPaths& paths);
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  /// Of the calling process, which must have no other thread. Throws Error(internal) when the kernel refuses
  /// what it has.
  void enter() const;

  const SandboxState& state() const { return state_; }

 private:
  SandboxRole role_;
  int ruleset_ = -1;
  SandboxState state_;
};

}  // namespace grurun::conformance
