// Prints the source file that defines call_filter(): the list of system calls that a sandboxed process may
// make, as a program for the kernel. A build step, so that a run needs neither libseccomp nor memory for it.
#include <linux/filter.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "conformance/call_filter.h"

namespace {

// Found by running every test and official case under strace. Landlock decides which files can be opened.
constexpr int allowed[] = {
    // memory
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(mincore),
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
    SCMP_SYS(fcntl),
    SCMP_SYS(ftruncate),
    SCMP_SYS(fsync),
    SCMP_SYS(fadvise64),
    SCMP_SYS(rename),
    SCMP_SYS(renameat),
    SCMP_SYS(renameat2),
    SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),
    SCMP_SYS(rmdir),
    SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat),
    SCMP_SYS(umask),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(pipe2),
    // threads and time
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_setaffinity),
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

using Filter = std::unique_ptr<void, void (*)(scmp_filter_ctx)>;

/// Calls of which some arguments alone are allowed. 0, or a negative number of errno.
int allow_some(scmp_filter_ctx filter) {
  constexpr scmp_datum_t new_namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                          CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_PTRACE;
  constexpr scmp_datum_t own = grurun::conformance::own_process_mark;
  const std::pair<int, std::vector<scmp_arg_cmp>> rules[] = {
      {SCMP_SYS(clone), {SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | new_namespaces, CLONE_THREAD)}},
      {SCMP_SYS(mmap), {SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)}},
      {SCMP_SYS(mprotect), {SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)}},
      {SCMP_SYS(tgkill), {SCMP_A0(SCMP_CMP_EQ, own, 0)}},
      {SCMP_SYS(kill), {SCMP_A0(SCMP_CMP_EQ, own, 0)}},
      {SCMP_SYS(prctl), {SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME, 0)}},
      // It may look at its own limits, and set that of its processor time for each case.
      {SCMP_SYS(prlimit64), {SCMP_A0(SCMP_CMP_EQ, 0, 0), SCMP_A2(SCMP_CMP_EQ, 0, 0)}},
      {SCMP_SYS(prlimit64), {SCMP_A0(SCMP_CMP_EQ, 0, 0), SCMP_A1(SCMP_CMP_EQ, RLIMIT_CPU, 0)}},
      {SCMP_SYS(ioctl), {SCMP_A1(SCMP_CMP_EQ, TCGETS, 0)}},
      {SCMP_SYS(ioctl), {SCMP_A1(SCMP_CMP_EQ, TIOCGWINSZ, 0)}},
  };
  // clone3 hides its flags from the filter; where there is none, clone is called.
  int failure = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  for (const auto& [call, arguments] : rules)
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

}  // namespace

int main() {
  const Filter filter(seccomp_init(SCMP_ACT_ERRNO(EPERM)), seccomp_release);
  int failure = filter == nullptr ? -ENOMEM : 0;
  // A tree by the numbers of calls: the kernel goes through it for each of them when a process enters.
  if (failure == 0) failure = seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
  for (const int call : allowed)
    if (failure == 0) failure = seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0);
  if (failure == 0) failure = allow_some(filter.get());
  const std::vector<sock_filter> program = failure == 0 ? exported(filter.get()) : std::vector<sock_filter>();
  if (program.empty()) {
    std::fprintf(stderr, "the list of system calls cannot be made: %s\n", std::strerror(-failure));
    return 1;
  }
  std::printf(
      "// Written by conformance/generate/write_call_filter.cc.\n"
      "#include \"conformance/call_filter.h\"\n\n"
      "namespace grurun::conformance {\n\n"
      "std::span<const sock_filter> call_filter() {\n"
      "  static constexpr sock_filter program[] = {\n");
  for (const sock_filter& one : program)
    std::printf("      {0x%x, %u, %u, 0x%x},\n", one.code, one.jt, one.jf, one.k);
  std::printf("  };\n  return program;\n}\n\n}  // namespace grurun::conformance\n");
}
