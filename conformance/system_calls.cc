#include "conformance/system_calls.h"

#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include "tensor/error.h"
#include "tensor/sanitizers.h"

namespace grurun::conformance {

namespace {

// Found by running every test and official case under strace. Landlock decides which files can be opened.
constexpr int allowed[] = {
    // memory
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(memfd_create),
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
  const auto own = static_cast<scmp_datum_t>(getpid());
  const std::pair<int, scmp_arg_cmp> rules[] = {
      {SCMP_SYS(clone), SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | new_namespaces, CLONE_THREAD)},
      {SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
      {SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0)},
      {SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, own, 0)},
      {SCMP_SYS(kill), SCMP_A0(SCMP_CMP_EQ, own, 0)},
      {SCMP_SYS(prctl), SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME, 0)},
      {SCMP_SYS(prlimit64), SCMP_A0(SCMP_CMP_EQ, 0, 0)},  // its own limits, up to the hard ones
      {SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_EQ, TCGETS, 0)},
      {SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_EQ, TIOCGWINSZ, 0)},
  };
  // clone3 hides its flags from the filter; where there is none, clone is called.
  int failure = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  for (const auto& [call, argument] : rules)
    if (failure == 0) failure = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, argument);
  return failure;
}

}  // namespace

bool runs_under_valgrind() {
  const char* const preloaded = std::getenv("LD_PRELOAD");
  return preloaded != nullptr && std::string_view(preloaded).find("vgpreload") != std::string_view::npos;
}

bool can_filter_system_calls() {
  // The sanitizers start processes and trace them, to find what was not freed.
  if (GRURUN_ASAN || GRURUN_TSAN || runs_under_valgrind()) return false;
  return seccomp_api_get() > 0 && prctl(PR_GET_SECCOMP) >= 0;
}

void filter_system_calls() {
  const Filter filter(seccomp_init(SCMP_ACT_ERRNO(EPERM)), seccomp_release);
  int failure = filter == nullptr ? -ENOMEM : 0;
  for (const int call : allowed)
    if (failure == 0) failure = seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0);
  if (failure == 0) failure = allow_some(filter.get());
  if (failure == 0) failure = seccomp_load(filter.get());
  if (failure == -ENOMEM) fail(ErrorKind::limit, "out of memory for the sandbox's list of system calls");
  if (failure != 0) fail_internal("seccomp refuses the filter: {}", std::strerror(-failure));
}

}  // namespace grurun::conformance
