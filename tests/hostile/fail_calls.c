// Loaded before the C library: makes one call fail, the FAIL_AT-th of kind FAIL_CALL that the program makes. It counts from
// when the program sets its streams up: before that, nothing of it runs. The first byte of the file that
// FAIL_NOTE names, of one byte, becomes 1 when one failed, in this process or in one that it started.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static int counting;
static long left = -1;
static char kind[16];  // a sandboxed program overwrites its environment
static volatile char* note;

static int fails(const char* call) {
  if (!counting || left < 0 || strcmp(kind, call) != 0) return 0;
  if (__atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED) != 1) return 0;
  if (note) *note = 1;
  return 1;
}

void (*signal(int number, void (*handler)(int)))(int) {
  static void (*(*real)(int, void (*)(int)))(int);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "signal");
  if (!counting && getenv("FAIL_AT")) {
    strncpy(kind, getenv("FAIL_CALL"), sizeof kind - 1);
    left = atol(getenv("FAIL_AT"));
    if (getenv("FAIL_NOTE")) {
      const long file = syscall(SYS_openat, AT_FDCWD, getenv("FAIL_NOTE"), O_RDWR | O_CLOEXEC);
      note = (volatile char*)syscall(SYS_mmap, NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
      if ((void*)note == MAP_FAILED) note = NULL;
      syscall(SYS_close, file);
    }
    counting = 1;
  }
  return real(number, handler);
}

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);

void* malloc(size_t size) {
  if (fails("malloc")) return errno = ENOMEM, NULL;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  if (fails("malloc")) return errno = ENOMEM, NULL;
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  if (fails("malloc")) return errno = ENOMEM, NULL;
  return __libc_realloc(old, size);
}

#define FAILING(result, name, parameters, arguments, error, failure) \
  result name parameters {                                           \
    static result(*real) parameters;                                 \
    if (!real) *(void**)&real = dlsym(RTLD_NEXT, #name);             \
    if (fails(#name)) {                                              \
      errno = error;                                                 \
      return failure;                                                \
    }                                                                \
    return real arguments;                                           \
  }

FAILING(ssize_t, read, (int file, void* to, size_t size), (file, to, size), EIO, -1)
FAILING(ssize_t, pread, (int file, void* to, size_t size, off_t at), (file, to, size, at), EIO, -1)
FAILING(ssize_t, write, (int file, const void* from, size_t size), (file, from, size), ENOSPC, -1)
FAILING(ssize_t, pwrite, (int file, const void* from, size_t size, off_t at), (file, from, size, at), ENOSPC, -1)
FAILING(void*, mmap, (void* at, size_t size, int access, int flags, int file, off_t from), (at, size, access, flags, file, from), ENOMEM, MAP_FAILED)
FAILING(pid_t, fork, (void), (), EAGAIN, -1)
FAILING(int, pipe2, (int ends[2], int flags), (ends, flags), EMFILE, -1)
FAILING(int, rename, (const char* from, const char* to), (from, to), EIO, -1)

// Some calls have no function of the C library.
long syscall(long number, ...) {
  static long (*real)(long, ...);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "syscall");
  va_list more;
  va_start(more, number);
  const long a = va_arg(more, long), b = va_arg(more, long), c = va_arg(more, long), d = va_arg(more, long), e = va_arg(more, long),
             f = va_arg(more, long);
  va_end(more);
  if (number == SYS_openat2 && fails("openat2")) return errno = EMFILE, -1;
  return real(number, a, b, c, d, e, f);
}

int open(const char* path, int flags, ...) {
  static int (*real)(const char*, int, ...);
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, "open");
  va_list more;
  va_start(more, flags);
  const int mode = va_arg(more, int);
  va_end(more);
  if (fails("open")) return errno = EMFILE, -1;
  return real(path, flags, mode);
}
