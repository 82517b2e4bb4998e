// Loaded before the C library: the first time that a process takes memory in its sandbox, it tries what code of a stranger
// would, and prints a line for each attempt: "probe ROLE PID: WHAT: denied" or "done".
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;
extern void* __libc_malloc(size_t);

static const char* role;

static void tell(const char* what, long result) {
  char line[256];
  const int size = snprintf(line, sizeof line, "probe %s %d: %s: %s\n", role, (int)syscall(SYS_getpid), what, result < 0 ? "denied" : "done");
  syscall(SYS_write, 2, line, size);
}

// Whether anything can be read there.
static long reads(const char* path) {
  char text[64];
  const long file = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const long got = syscall(SYS_read, file, text, sizeof text);
  syscall(SYS_close, file);
  return got > 0 ? 0 : -1;
}

static void read_of_process(const char* whose, const char* process) {
  static const char* const files[] = {"environ", "maps", "mem", "auxv", "cmdline", "smaps", "root/etc/passwd", "cwd/secret"};
  for (unsigned i = 0; i < sizeof files / sizeof files[0]; ++i) {
    char path[128], what[128];
    snprintf(path, sizeof path, "/proc/%s/%s", process, files[i]);
    snprintf(what, sizeof what, "read %s of %s", files[i], whose);
    tell(what, reads(path));
  }
}

static long has_secret(void) {
  for (char** entry = environ; entry && *entry; ++entry)
    if (strstr(*entry, "GRURUN_TEST_SECRET")) return 0;
  return -1;
}

static long raise_limit(int resource) {
  struct rlimit limit = {0, 0};
  if (syscall(SYS_prlimit64, 0, resource, NULL, &limit) != 0) return -1;
  if (limit.rlim_max == RLIM_INFINITY) return -1;  // there is none to be raised
  limit.rlim_cur = limit.rlim_max = limit.rlim_max + 1000;
  return syscall(SYS_prlimit64, 0, resource, &limit, NULL);
}

static long have_others_signalled(int command, long argument) {
  int ends[2];
  if (syscall(SYS_pipe2, ends, 0) != 0) return -1;
  const long result = syscall(SYS_fcntl, ends[0], command, argument);
  syscall(SYS_close, ends[0]);
  syscall(SYS_close, ends[1]);
  return result;
}

static void attack(void) {
  const long parent = syscall(SYS_getppid);
  char number[16];
  snprintf(number, sizeof number, "%ld", parent);
  read_of_process("the parent", number);
  read_of_process("itself", "self");
  read_of_process("the first process", "1");
  tell("read its environment in memory", has_secret());

  tell("fcntl F_SETOWN", have_others_signalled(F_SETOWN, parent));
  tell("fcntl F_SETSIG", have_others_signalled(F_SETSIG, SIGURG));
  tell("fcntl F_SETFL O_ASYNC", have_others_signalled(F_SETFL, O_ASYNC));
  tell("fcntl F_SETLEASE", have_others_signalled(F_SETLEASE, F_RDLCK));
  tell("fcntl F_NOTIFY", have_others_signalled(F_NOTIFY, DN_CREATE));
  tell("fcntl F_SETPIPE_SZ", have_others_signalled(F_SETPIPE_SZ, 1 << 20));
  int on = 1;
  tell("ioctl FIOASYNC", syscall(SYS_ioctl, 2, FIOASYNC, &on));
  tell("ioctl TIOCSTI", syscall(SYS_ioctl, 2, TIOCSTI, "x"));

  tell("raise its processor time", raise_limit(RLIMIT_CPU));
  tell("raise its memory", raise_limit(RLIMIT_DATA));
  tell("raise its files", raise_limit(RLIMIT_NOFILE));
  struct rlimit none = {RLIM_INFINITY, RLIM_INFINITY};
  tell("set limits of the parent", syscall(SYS_prlimit64, parent, RLIMIT_CORE, &none, NULL));

  tell("signal the parent", syscall(SYS_kill, parent, SIGURG));
  tell("queue a signal to the parent", syscall(SYS_rt_sigqueueinfo, parent, SIGURG, number));
  tell("trace the parent", syscall(SYS_ptrace, 16, parent, 0, 0));
  struct iovec here = {number, sizeof number}, there = {number, sizeof number};
  tell("read memory of the parent", syscall(SYS_process_vm_readv, parent, &here, 1, &there, 1, 0));
  tell("open the parent", syscall(SYS_pidfd_open, parent, 0));
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  tell("pin the parent", syscall(SYS_sched_setaffinity, parent, sizeof first, &first));
  tell("slow the parent", syscall(SYS_setpriority, PRIO_PROCESS, parent, 19));
  tell("slow what runs", syscall(SYS_sched_setscheduler, parent, 0, number));

  tell("connect", syscall(SYS_socket, AF_INET, SOCK_STREAM, 0));
  tell("start a program", syscall(SYS_execve, "/bin/true", NULL, NULL));
  tell("leave its namespace", syscall(SYS_unshare, CLONE_NEWUSER));
  tell("set up a ring", syscall(SYS_io_uring_setup, 1, number));
  tell("load a program", syscall(SYS_bpf, 0, number, sizeof number));
  tell("count events", syscall(SYS_perf_event_open, number, 0, -1, -1, 0));
  tell("make a timer", syscall(SYS_timer_create, CLOCK_REALTIME, NULL, number));
  tell("wait for faults", syscall(SYS_userfaultfd, 0));
  tell("keep a key", syscall(SYS_keyctl, 0, 0, 0));
  tell("allow core files", syscall(SYS_prctl, PR_SET_DUMPABLE, 1));
  tell("poison a page", syscall(SYS_madvise, number, 4096, 100));
  tell("hide memory in a file", syscall(SYS_memfd_create, "hidden", 0));
  tell("run what it wrote", syscall(SYS_mmap, NULL, 4096, 7, 0x22, -1, 0));
  tell("make a file", syscall(SYS_openat, AT_FDCWD, "/tmp/grurun-probe", O_WRONLY | O_CREAT, 0600));
  tell("change a mode", syscall(SYS_chmod, "/tmp", 01777));
  tell("make a link", syscall(SYS_symlink, "/", "/tmp/grurun-probe-link"));
}

// Who leads workers may wait for some. Those that it forks are in its sandbox until they enter theirs.
static int is_in_own_sandbox(void) {
  static int leader;
  if (prctl(PR_GET_SECCOMP) == 0) return 0;
  const int leads = syscall(SYS_wait4, -1, NULL, WNOHANG, NULL) >= 0 || errno == ECHILD;
  if (leads && leader == 0) leader = (int)syscall(SYS_getpid);
  role = leads ? "leader" : "worker";
  return !leads || leader == (int)syscall(SYS_getpid);
}

void* malloc(size_t size) {
  static int tried_by;
  const int error = errno;
  if (tried_by != (int)syscall(SYS_getpid) && is_in_own_sandbox()) {
    tried_by = (int)syscall(SYS_getpid);
    attack();
  }
  errno = error;
  return __libc_malloc(size);
}
