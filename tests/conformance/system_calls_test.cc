// What the list of system calls denies by itself, as on kernels whose Landlock does not bound signals, or
// that have none.
#include "conformance/system_calls.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tensor/sanitizers.h"

namespace grurun::conformance {
namespace {

struct Attempt {
  const char* what;
  std::function<long()> make;
};

/// What each comes to in a process under the list of the role: "WHAT: errno" lines.
std::string under_filter(SandboxRole role, const std::vector<Attempt>& attempts) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    std::string answer;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    filter_system_calls(role);
    for (const auto& [what, make] : attempts) {
      errno = 0;
      const long result = make();
      answer += std::string(what) + ": " + (result < 0 ? std::strerror(errno) : "done") + "\n";
    }
    _exit(write(ends[1], answer.data(), answer.size()) < 0 ? 1 : 0);
  }
  close(ends[1]);
  std::string answer(65536, '\0');
  std::size_t size = 0;
  for (ssize_t got = 1; got > 0; size += static_cast<std::size_t>(got))
    if ((got = read(ends[0], answer.data() + size, answer.size() - size)) < 0) break;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return answer.substr(0, size);
}

std::string all_end(const std::vector<Attempt>& attempts, const char* how) {
  std::string out;
  for (const Attempt& attempt : attempts) out += std::string(attempt.what) + ": " + how + "\n";
  return out;
}

class SystemCalls : public ::testing::TestWithParam<SandboxRole> {
 protected:
  void SetUp() override {
    if (!can_filter_system_calls()) GTEST_SKIP() << "no seccomp";
  }
};

constexpr SandboxRole roles[] = {SandboxRole::worker, SandboxRole::command, SandboxRole::leader};
INSTANTIATE_TEST_SUITE_P(OfEachRole, SystemCalls, ::testing::ValuesIn(roles));

TEST_P(SystemCalls, ThatReachOtherProcessesAreDenied) {
  const pid_t other = getpid();
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const int pipe_end = ends[0];
  static char bytes[256];
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  f_owner_ex owner{F_OWNER_PID, other};
  int on = 1;
  const std::vector<Attempt> attempts = {
      {"kill", [=] { return kill(other, SIGURG); }},
      {"tgkill", [=] { return syscall(SYS_tgkill, other, other, SIGURG); }},
      {"tkill", [=] { return syscall(SYS_tkill, other, SIGURG); }},
      {"rt_sigqueueinfo", [=] { return syscall(SYS_rt_sigqueueinfo, other, SIGURG, bytes); }},
      {"rt_tgsigqueueinfo", [=] { return syscall(SYS_rt_tgsigqueueinfo, other, other, SIGURG, bytes); }},
      {"pidfd_open", [=] { return syscall(434, other, 0); }},
      {"pidfd_send_signal", [=] { return syscall(424, pipe_end, SIGURG, nullptr, 0); }},
      {"F_SETOWN", [=] { return fcntl(pipe_end, F_SETOWN, other); }},
      {"F_SETOWN_EX", [=] { return fcntl(pipe_end, F_SETOWN_EX, &owner); }},
      {"F_SETSIG", [=] { return fcntl(pipe_end, F_SETSIG, SIGKILL); }},
      {"F_SETFL O_ASYNC", [=] { return fcntl(pipe_end, F_SETFL, O_ASYNC); }},
      {"F_SETFL O_ASYNC and more", [=] { return fcntl(pipe_end, F_SETFL, O_ASYNC | O_NONBLOCK); }},
      {"F_NOTIFY", [=] { return fcntl(pipe_end, F_NOTIFY, DN_CREATE); }},
      {"F_SETLEASE", [=] { return fcntl(pipe_end, F_SETLEASE, F_RDLCK); }},
      {"F_SETPIPE_SZ", [=] { return fcntl(pipe_end, F_SETPIPE_SZ, 1 << 20); }},
      {"F_SETLK", [=] { return fcntl(pipe_end, F_SETLK, bytes); }},
      {"F_ADD_SEALS", [=] { return fcntl(pipe_end, F_ADD_SEALS, F_SEAL_WRITE); }},
      {"FIOASYNC", [=]() mutable { return ioctl(pipe_end, FIOASYNC, &on); }},
      {"FIOSETOWN", [=] { return ioctl(pipe_end, 0x8901, &other); }},
      {"SIOCSPGRP", [=] { return ioctl(pipe_end, 0x8902, &other); }},
      {"TIOCSTI", [] { return ioctl(STDERR_FILENO, TIOCSTI, "x"); }},
      {"TIOCLINUX", [] { return ioctl(STDERR_FILENO, TIOCLINUX, bytes); }},
      {"prlimit of another", [=] { return prlimit(other, RLIMIT_CORE, &none, nullptr); }},
      {"sched_setaffinity", [=] { return sched_setaffinity(other, sizeof set, &set); }},
      {"sched_setscheduler", [=] { return syscall(SYS_sched_setscheduler, other, 0, bytes); }},
      {"sched_setparam", [=] { return syscall(SYS_sched_setparam, other, bytes); }},
      {"sched_setattr", [=] { return syscall(SYS_sched_setattr, other, bytes, 0); }},
      {"setpriority", [=] { return setpriority(PRIO_PROCESS, static_cast<id_t>(other), 19); }},
      {"ioprio_set", [=] { return syscall(SYS_ioprio_set, 1, other, 0); }},
      {"ptrace", [=] { return syscall(SYS_ptrace, 16, other, 0, 0); }},
      {"process_vm_readv", [=] { return syscall(SYS_process_vm_readv, other, bytes, 1, bytes, 1, 0); }},
      {"process_vm_writev", [=] { return syscall(SYS_process_vm_writev, other, bytes, 1, bytes, 1, 0); }},
      {"process_madvise", [=] { return syscall(440, pipe_end, bytes, 1, 0, 0); }},
      {"kcmp", [=] { return syscall(SYS_kcmp, other, other, 0, 0, 0); }},
      {"move_pages", [=] { return syscall(SYS_move_pages, other, 0, nullptr, nullptr, nullptr, 0); }},
      {"migrate_pages", [=] { return syscall(SYS_migrate_pages, other, 1, bytes, bytes); }},
      {"perf_event_open", [=] { return syscall(SYS_perf_event_open, bytes, other, -1, -1, 0); }},
      {"timer_create", [] { return syscall(SYS_timer_create, CLOCK_REALTIME, nullptr, bytes); }},
      {"mq_open", [] { return syscall(SYS_mq_open, "q", O_CREAT | O_RDWR, 0600, nullptr); }},
      {"mq_notify", [=] { return syscall(SYS_mq_notify, pipe_end, nullptr); }},
      {"msgget", [] { return syscall(SYS_msgget, 1, 0666 | 01000); }},
      {"shmget", [] { return syscall(SYS_shmget, 1, 4096, 0666 | 01000); }},
      {"semget", [] { return syscall(SYS_semget, 1, 1, 0666 | 01000); }},
      {"socket", [] { return syscall(SYS_socket, 1, 1, 0); }},
      {"execve", [] { return syscall(SYS_execve, "/bin/true", nullptr, nullptr); }},
      {"execveat", [] { return syscall(SYS_execveat, -100, "/bin/true", nullptr, nullptr, 0); }},
      {"unshare", [] { return unshare(CLONE_NEWUSER); }},
      {"setns", [=] { return syscall(SYS_setns, pipe_end, 0); }},
      {"clone into a namespace",
       [] { return syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, 0); }},
      {"clone that shares memory",
       [] { return syscall(SYS_clone, CLONE_VM | SIGCHLD, nullptr, nullptr, nullptr, 0); }},
      {"io_uring_setup", [] { return syscall(425, 1, bytes); }},
      {"bpf", [] { return syscall(SYS_bpf, 0, bytes, sizeof bytes); }},
      {"userfaultfd", [] { return syscall(SYS_userfaultfd, 0); }},
      {"keyctl", [] { return syscall(SYS_keyctl, 0, 0, 0); }},
      {"add_key", [] { return syscall(SYS_add_key, "user", "k", "v", 1, -1); }},
      {"prctl PR_SET_DUMPABLE", [] { return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); }},
      {"prctl PR_SET_PTRACER", [=] { return prctl(0x59616d61, other, 0, 0, 0); }},
      {"personality", [] { return syscall(SYS_personality, 0x0400000); }},
      {"pkey_mprotect", [] { return syscall(SYS_pkey_mprotect, bytes, 4096, PROT_EXEC, -1); }},
      {"madvise MADV_HWPOISON", [] { return madvise(bytes, 4096, MADV_HWPOISON); }},
      {"madvise MADV_MERGEABLE", [] { return madvise(bytes, 4096, MADV_MERGEABLE); }},
      {"memfd_create", [] { return syscall(SYS_memfd_create, "hidden", 0); }},
      {"mlock", [] { return mlock(bytes, sizeof bytes); }},
      {"name_to_handle_at", [] { return syscall(SYS_name_to_handle_at, -100, "/", bytes, bytes, 0); }},
      {"open_by_handle_at", [] { return syscall(SYS_open_by_handle_at, -100, bytes, O_RDONLY); }},
      {"chmod", [] { return syscall(SYS_fchmodat, -100, "/nowhere", 0777); }},
      {"chown", [] { return syscall(SYS_fchownat, -100, "/nowhere", 0, 0, 0); }},
      {"link", [] { return syscall(SYS_linkat, -100, "/nowhere", -100, "/there", 0); }},
      {"symlink", [] { return syscall(SYS_symlinkat, "/nowhere", -100, "/there"); }},
      {"mknod", [] { return syscall(SYS_mknodat, -100, "/there/x", 010600, 0); }},
      {"mount", [] { return syscall(SYS_mount, "a", "/nowhere", "tmpfs", 0, nullptr); }},
      {"chroot", [] { return syscall(SYS_chroot, "/nowhere"); }},
      {"flock", [=] { return syscall(SYS_flock, pipe_end, 2); }},
      {"inotify_init1", [] { return syscall(SYS_inotify_init1, 0); }},
      {"fanotify_init", [] { return syscall(SYS_fanotify_init, 0, 0); }},
  };
  EXPECT_EQ(under_filter(GetParam(), attempts), all_end(attempts, std::strerror(EPERM)));
  close(ends[0]);
  close(ends[1]);
}

TEST_P(SystemCalls, ThatTheEngineAndTheReadersNeedWork) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const std::vector<Attempt> attempts = {
      {"F_GETFD", [&] { return fcntl(ends[0], F_GETFD); }},
      {"F_SETFD", [&] { return fcntl(ends[0], F_SETFD, FD_CLOEXEC); }},
      {"F_GETFL", [&] { return fcntl(ends[0], F_GETFL); }},
      {"F_SETFL", [&] { return fcntl(ends[0], F_SETFL, O_NONBLOCK); }},
      {"F_DUPFD_CLOEXEC", [&] { return fcntl(ends[0], F_DUPFD_CLOEXEC, 0); }},
      {"a thread", [] { return std::thread([] {}).join(), 0; }},
      {"a signal to itself", [] { return kill(getpid(), 0); }},
      {"a look at its limits",
       [] {
         rlimit limit{};
         return getrlimit(RLIMIT_CPU, &limit);
       }},
      {"its own processors",
       [] {
         cpu_set_t set;
         return sched_getaffinity(0, sizeof set, &set) < 0 ? -1 : sched_setaffinity(0, sizeof set, &set);
       }},
  };
  EXPECT_EQ(under_filter(GetParam(), attempts), all_end(attempts, "done"));
  close(ends[0]);
  close(ends[1]);
}

TEST_P(SystemCalls, ThatStartProcessesAndSetLimitsAreALeadersAlone) {
  const std::vector<Attempt> attempts = {
      {"fork",
       [] {
         const pid_t child = fork();
         if (child == 0) _exit(0);
         return child < 0 ? -1 : waitpid(child, nullptr, 0);
       }},
      {"lower a limit",
       [] {
         const rlimit none{0, 0};
         return setrlimit(RLIMIT_CORE, &none);
       }},
  };
  const bool leads = GetParam() == SandboxRole::leader;
  EXPECT_EQ(under_filter(GetParam(), attempts), all_end(attempts, leads ? "done" : std::strerror(EPERM)));
}

TEST_P(SystemCalls, ThatChangeFilesAreNotAWorkers) {
  const std::vector<Attempt> attempts = {
      {"rename", [] { return rename("/nowhere/a", "/nowhere/b"); }},
      {"unlink", [] { return unlink("/nowhere/a"); }},
      {"rmdir", [] { return rmdir("/nowhere/a"); }},
      {"mkdir", [] { return mkdir("/nowhere/a", 0700); }},
  };
  const bool is_worker = GetParam() == SandboxRole::worker;
  EXPECT_EQ(under_filter(GetParam(), attempts), all_end(attempts, std::strerror(is_worker ? EPERM : ENOENT)));
}

}  // namespace
}  // namespace grurun::conformance
