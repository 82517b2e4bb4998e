// Prints the source file that defines call_filter(): the lists of system calls that sandboxed processes may
// make, as programs for the kernel. A build step, so that a run needs neither libseccomp nor memory for it.
#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "conformance/call_filter.h"

namespace {

using grurun::conformance::SandboxRole;

// Found by running every test and official case under strace. Landlock decides which files can be opened.
constexpr int of_all[] = {
    // memory
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    // files
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(pread64),
    SCMP_SYS(preadv),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(pwrite64),
    SCMP_SYS(open),
    SCMP_SYS(openat),
    SCMP_SYS(openat2),
    SCMP_SYS(close),
    SCMP_SYS(close_range),
    SCMP_SYS(lseek),
    SCMP_SYS(fstat),
    SCMP_SYS(stat),
    SCMP_SYS(lstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(fstatfs),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(getdents64),
    SCMP_SYS(getcwd),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(dup),
    SCMP_SYS(dup3),
    SCMP_SYS(fadvise64),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(pipe2),
    // threads and time
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(membarrier),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    // itself
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(getppid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getrusage),
    SCMP_SYS(getrlimit),
    SCMP_SYS(sysinfo),
    SCMP_SYS(uname),
    SCMP_SYS(getrandom),
    SCMP_SYS(getcpu),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(sigaltstack),
};

/// Of whoever writes files.
constexpr int of_writers[] = {
    SCMP_SYS(ftruncate), SCMP_SYS(fsync),   SCMP_SYS(rename),   SCMP_SYS(renameat),
    SCMP_SYS(renameat2), SCMP_SYS(unlink),  SCMP_SYS(unlinkat), SCMP_SYS(rmdir),
    SCMP_SYS(mkdir),     SCMP_SYS(mkdirat), SCMP_SYS(umask),
};

/// Of whoever starts workers, waits for them and sees them into their sandbox.
constexpr int of_leaders[] = {
    SCMP_SYS(wait4),
    SCMP_SYS(setsid),
    SCMP_SYS(landlock_create_ruleset),
    SCMP_SYS(seccomp),
    SCMP_SYS(landlock_add_rule),
    SCMP_SYS(capset),
    SCMP_SYS(landlock_restrict_self),
};

using Filter = std::unique_ptr<void, void (*)(scmp_filter_ctx)>;

struct Rule {
  int call;
  std::vector<scmp_arg_cmp> arguments;
};

/// Advice that no kernel takes for more than what it says: some reach for the pages of others, or poison
/// them.
constexpr int harmless_advice[] = {MADV_NORMAL,   MADV_RANDOM,       MADV_SEQUENTIAL, MADV_WILLNEED,
                                   MADV_DONTNEED, MADV_HUGEPAGE,     MADV_NOHUGEPAGE, MADV_DONTDUMP,
                                   MADV_FREE,     MADV_POPULATE_READ};

/// Commands of fcntl that look, or change nothing but the descriptor. Others have signals sent to whom the
/// caller names, or hold up those who open the file.
constexpr int harmless_commands[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL};

/// Calls that are allowed for some arguments only.
std::vector<Rule> rules_of(SandboxRole role) {
  constexpr scmp_datum_t new_namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                          CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_PTRACE;
  constexpr scmp_datum_t own = grurun::conformance::own_process_mark;
  std::vector<Rule> rules = {
      {SCMP_SYS(clone), {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | new_namespaces, CLONE_THREAD)}},
      {SCMP_SYS(mmap), {SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)}},
      {SCMP_SYS(mprotect), {SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)}},
      {SCMP_SYS(tgkill), {SCMP_A0(SCMP_CMP_EQ, own, 0)}},
      {SCMP_SYS(prctl), {SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME, 0)}},
      // It may look at its own limits and set none.
      {SCMP_SYS(prlimit64), {SCMP_A0(SCMP_CMP_EQ, 0, 0), SCMP_A2(SCMP_CMP_EQ, 0, 0)}},
      {SCMP_SYS(ioctl), {SCMP_A1(SCMP_CMP_EQ, TCGETS, 0)}},
      {SCMP_SYS(ioctl), {SCMP_A1(SCMP_CMP_EQ, TIOCGWINSZ, 0)}},
      // 0: the thread that calls. Others belong to others.
      {SCMP_SYS(sched_setaffinity), {SCMP_A0(SCMP_CMP_EQ, 0, 0)}},
      {SCMP_SYS(fcntl), {SCMP_A1(SCMP_CMP_EQ, F_SETFL, 0), SCMP_A2(SCMP_CMP_MASKED_EQ, O_ASYNC, 0)}},
  };
  for (const int command : harmless_commands)
    rules.push_back({SCMP_SYS(fcntl), {SCMP_A1(SCMP_CMP_EQ, static_cast<scmp_datum_t>(command), 0)}});
  for (const int advice : harmless_advice)
    rules.push_back({SCMP_SYS(madvise), {SCMP_A2(SCMP_CMP_EQ, static_cast<scmp_datum_t>(advice), 0)}});
  if (role != SandboxRole::leader) {
    rules.push_back({SCMP_SYS(kill), {SCMP_A0(SCMP_CMP_EQ, own, 0)}});
    return rules;
  }
  // A process that shares nothing, and its end. The numbers of workers are not known before.
  constexpr scmp_datum_t all_flags = 0xffffffff,
                         signal_and_ids = 0xff | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
  constexpr scmp_datum_t no_group = 0x80000000;
  rules.push_back({SCMP_SYS(clone), {SCMP_A0(SCMP_CMP_MASKED_EQ, all_flags & ~signal_and_ids, 0)}});
  rules.push_back(
      {SCMP_SYS(kill), {SCMP_A0(SCMP_CMP_MASKED_EQ, no_group, 0), SCMP_A1(SCMP_CMP_EQ, SIGKILL, 0)}});
  rules.push_back({SCMP_SYS(kill), {SCMP_A0(SCMP_CMP_EQ, own, 0)}});
  rules.push_back({SCMP_SYS(prctl), {SCMP_A0(SCMP_CMP_EQ, PR_SET_PDEATHSIG, 0)}});
  rules.push_back({SCMP_SYS(prctl), {SCMP_A0(SCMP_CMP_EQ, PR_SET_NO_NEW_PRIVS, 0)}});
  // Workers lower their own.
  rules.push_back({SCMP_SYS(prlimit64), {SCMP_A0(SCMP_CMP_EQ, 0, 0)}});
  return rules;
}

/// 0, or a negative number of errno.
int fill(scmp_filter_ctx filter, SandboxRole role) {
  // A tree by the numbers of calls: the kernel goes through it for each of them when a process enters.
  int failure = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
  const auto allow = [&](std::span<const int> calls) {
    for (const int call : calls)
      if (failure == 0) failure = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
  };
  allow(of_all);
  if (role != SandboxRole::worker) allow(of_writers);
  if (role == SandboxRole::leader) allow(of_leaders);
  // clone3 hides its flags from the filter; where there is none, clone is called.
  if (failure == 0) failure = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  for (const auto& [call, arguments] : rules_of(role))
    if (failure == 0)
      failure = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, static_cast<unsigned>(arguments.size()),
                                       arguments.data());
  return failure;
}

/// The instructions as they lie in memory; empty where something failed.
std::vector<sock_filter> exported(scmp_filter_ctx filter) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  if (file == nullptr || seccomp_export_bpf(filter, fileno(file.get())) != 0) return {};
  std::vector<sock_filter> program(BPF_MAXINSNS);
  std::rewind(file.get());
  program.resize(std::fread(program.data(), sizeof(sock_filter), program.size(), file.get()));
  return program;
}

constexpr const char* names[] = {"of_worker", "of_command", "of_leader"};

}  // namespace

int main() {
  std::printf(
      "// Written by conformance/generate/write_call_filter.cc.\n"
      "#include \"conformance/call_filter.h\"\n\n"
      "namespace grurun::conformance {\n\n");
  for (const SandboxRole role : {SandboxRole::worker, SandboxRole::command, SandboxRole::leader}) {
    const Filter filter(seccomp_init(SCMP_ACT_ERRNO(EPERM)), seccomp_release);
    const int failure = filter == nullptr ? -ENOMEM : fill(filter.get(), role);
    const std::vector<sock_filter> program =
        failure == 0 ? exported(filter.get()) : std::vector<sock_filter>();
    if (program.empty()) {
      std::fprintf(stderr, "the list of system calls cannot be made: %s\n", std::strerror(-failure));
      return 1;
    }
    std::printf("static constexpr sock_filter %s[] = {\n", names[static_cast<int>(role)]);
    for (const sock_filter& one : program)
      std::printf("    {0x%x, %u, %u, 0x%x},\n", one.code, one.jt, one.jf, one.k);
    std::printf("};\n\n");
  }
  std::printf(
      "std::span<const sock_filter> call_filter(SandboxRole role) {\n"
      "  switch (role) {\n"
      "    case SandboxRole::worker:\n      return of_worker;\n"
      "    case SandboxRole::command:\n      return of_command;\n"
      "    case SandboxRole::leader:\n      break;\n"
      "  }\n"
      "  return of_leader;\n}\n\n}  // namespace grurun::conformance\n");
}
