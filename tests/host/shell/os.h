/* POSIX calls for posix*.c, which cannot include their headers beside the kernel's own. Results are negative errno. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct host_stat {
	unsigned long ino, size, mtime_ns, rdev;
	unsigned mode, nlink, uid, gid, dev;
};

int host_open(const char *path, unsigned flags, unsigned mode);
void host_close(int fd);
bool host_ready(int fd, bool write, int ms);
long host_read(int fd, void *buf, size_t n);
long host_write(int fd, const void *buf, size_t n);
long host_pread(int fd, void *buf, size_t n, unsigned long pos);
long host_pwrite(int fd, const void *buf, size_t n, unsigned long pos);
long host_seek(int fd, long off, int whence);
int host_stat(const char *path, bool follow, struct host_stat *st);
int host_mkdir(const char *path, unsigned mode);
int host_rmdir(const char *path);
int host_unlink(const char *path);
int host_rename(const char *from, const char *to);
int host_symlink(const char *target, const char *path);
long host_readlink(const char *path, char *buf, size_t n);
int host_readdir(int fd, unsigned long pos, char name[256], unsigned long *ino, unsigned *type);
void host_remove_tree(const char *path);
int host_access(const char *path, int mask);
int host_pipe(int fd[2]);
int host_spawn(
    const char *path, char *const argv[], char *const envp[], const char *cwd, const int fds[10]);
int host_reap(int pid); /* status as a shell shows it; -1: still running */
void host_kill(int pid, int sig);
void host_tty_raw(bool raw);
bool host_isatty(int fd);
