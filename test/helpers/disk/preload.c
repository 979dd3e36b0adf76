/*
 * A disk that is slow or fails, for one process: loaded into it with LD_PRELOAD, this replaces the calls by which files are
 * written and synced. Only files whose path begins with DISK_FILES are concerned; every other call is passed on as it is.
 *
 *   DISK_SYNC_US   a sync takes at least so many microseconds
 *   DISK_STALL_US  once in so many microseconds the disk stalls, for a twentieth, a tenth or three twentieths of that time in turn:
 *                  a sync that begins meanwhile waits for the end
 *   DISK_RATE      and, beyond them, as long as what was written since the last one takes at so many bytes per second
 *   DISK_FAIL      "sync" or "write": the calls of this kind numbered DISK_NTH up to DISK_LAST, counted over all threads,
 *   DISK_ERRNO     return -1 with this errno; a failing call does nothing
 *   DISK_LASTS_US  in place of DISK_LAST: how long calls fail from the DISK_NTH on
 *   DISK_LOG       each concerned call is noted there as a line: "sync 3 ok", "write 7 failed"
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { SYNC, WRITE };
static const char *const NAMES[] = { "sync", "write" };

_Static_assert(sizeof(off_t) == 8, "offsets of 64 bits");

static char files[4096];
static size_t files_length;
static long sync_us, stall_us, rate, nth, last, lasts_us;
static int fail_kind = -1, fail_errno, log_fd = -1, writes_matter;
static atomic_long counts[2], unsynced;
/* When the first call failed, in microseconds; 0: none has. */
static atomic_llong failing_since;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);

static long number_of(const char *name) {
  const char *text = getenv(name);
  return text == NULL ? 0 : atol(text);
}

__attribute__((constructor)) static void prepare(void) {
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite");
  real_writev = dlsym(RTLD_NEXT, "writev");
  real_pwritev = dlsym(RTLD_NEXT, "pwritev");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  snprintf(files, sizeof files, "%s", getenv("DISK_FILES") == NULL ? "" : getenv("DISK_FILES"));
  files_length = strlen(files);
  sync_us = number_of("DISK_SYNC_US");
  stall_us = number_of("DISK_STALL_US");
  rate = number_of("DISK_RATE");
  nth = number_of("DISK_NTH");
  last = number_of("DISK_LAST");
  lasts_us = number_of("DISK_LASTS_US");
  fail_errno = (int)number_of("DISK_ERRNO");
  const char *kind = getenv("DISK_FAIL");
  if (kind != NULL) fail_kind = strcmp(kind, "write") == 0 ? WRITE : SYNC;
  const char *log = getenv("DISK_LOG");
  if (log != NULL) log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  writes_matter = rate > 0 || fail_kind == WRITE || log_fd >= 0;
  /* The programs that this process starts have a disk like any other. */
  unsetenv("LD_PRELOAD");
}

static int is_concerned(int fd) {
  char link[32], path[4096];
  if (files_length == 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path);
  return length >= (ssize_t)files_length && memcmp(path, files, files_length) == 0;
}

static int is_in_window(long number) {
  if (number < nth) return 0;
  if (lasts_us == 0) return number <= last;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  long long us = now.tv_sec * 1000000LL + now.tv_nsec / 1000, since = 0;
  return atomic_compare_exchange_strong(&failing_since, &since, us) || us < since + lasts_us;
}

/* Counts and notes a call; whether it shall fail, errno being set then. */
static int fails(int kind) {
  long number = atomic_fetch_add(&counts[kind], 1) + 1;
  int failing = kind == fail_kind && is_in_window(number);
  if (log_fd >= 0) {
    char line[64];
    int length = snprintf(line, sizeof line, "%s %ld %s\n", NAMES[kind], number, failing ? "failed" : "ok");
    if (real_write(log_fd, line, (size_t)length) < 0) abort();
  }
  if (failing) errno = fail_errno;
  return failing;
}

static void wait_until(struct timespec at, long long us) {
  at.tv_sec += us / 1000000;
  at.tv_nsec += us % 1000000 * 1000;
  if (at.tv_nsec >= 1000000000) {
    at.tv_sec++;
    at.tv_nsec -= 1000000000;
  }
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR) continue;
}

static int sync_with(int (*real)(int), int fd) {
  struct timespec begun;
  if (!is_concerned(fd)) return real(fd);
  if (fails(SYNC)) return -1;
  clock_gettime(CLOCK_MONOTONIC, &begun);
  long long us = sync_us;
  if (rate > 0) us += atomic_exchange(&unsynced, 0) * 1000000LL / rate;
  if (stall_us > 0) {
    long long now = begun.tv_sec * 1000000LL + begun.tv_nsec / 1000;
    long long left = stall_us / 20 * (1 + now / stall_us % 3) - now % stall_us;
    if (left > 0) wait_until(begun, left);
  }
  int result = real(fd);
  int error = errno;
  if (us > 0) wait_until(begun, us);
  errno = error;
  return result;
}

/* What a call has to begin with: whether it fails. */
static int write_fails(int fd, size_t length) {
  if (!writes_matter || !is_concerned(fd)) return 0;
  atomic_fetch_add(&unsynced, (long)length);
  return fails(WRITE);
}

static size_t length_of(const struct iovec *parts, int count) {
  size_t length = 0;
  for (int at = 0; at < count; at++) length += parts[at].iov_len;
  return length;
}

int fsync(int fd) { return sync_with(real_fsync, fd); }
int fdatasync(int fd) { return sync_with(real_fdatasync, fd); }

ssize_t write(int fd, const void *data, size_t length) {
  return write_fails(fd, length) ? -1 : real_write(fd, data, length);
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t at) {
  return write_fails(fd, length) ? -1 : real_pwrite(fd, data, length, at);
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  return write_fails(fd, length_of(parts, count)) ? -1 : real_writev(fd, parts, count);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
  return write_fails(fd, length_of(parts, count)) ? -1 : real_pwritev(fd, parts, count, at);
}

#ifdef __GLIBC__
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t at) {
  return write_fails(fd, length) ? -1 : real_pwrite(fd, data, length, at);
}
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at) {
  return write_fails(fd, length_of(parts, count)) ? -1 : real_pwritev(fd, parts, count, at);
}
#endif
