/* POSIX calls for posix*.c. Any thread. */
#define _GNU_SOURCE
#include "tests/host/shell/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static long result(long r)
{
	return r < 0 ? -errno : r;
}

int host_open(const char *path, unsigned flags, unsigned mode)
{
	return result(open(path, flags | O_CLOEXEC, mode));
}

void host_close(int fd)
{
	if (fd > 2)
		close(fd);
}

bool host_ready(int fd, bool write, int ms)
{
	struct pollfd p = {fd, write ? POLLOUT : POLLIN, 0};

	return poll(&p, 1, ms) != 0;
}

long host_read(int fd, void *buf, size_t n)
{
	return result(read(fd, buf, n));
}

long host_write(int fd, const void *buf, size_t n)
{
	signal(SIGPIPE, SIG_IGN);
	return result(write(fd, buf, n));
}

long host_seek(int fd, long off, int whence)
{
	return result(lseek(fd, off, whence));
}

int host_stat(const char *path, bool follow, struct host_stat *h)
{
	struct stat st;
	int r = follow ? stat(path, &st) : lstat(path, &st);

	*h = (struct host_stat){0};
	if (!r)
		*h = (struct host_stat){st.st_ino, st.st_size,
		    st.st_mtim.tv_sec * 1000000000UL + st.st_mtim.tv_nsec, st.st_rdev, st.st_mode,
		    st.st_nlink, st.st_uid, st.st_gid, st.st_dev};
	return result(r);
}

int host_mkdir(const char *path, unsigned mode)
{
	return result(mkdir(path, mode));
}

int host_rmdir(const char *path)
{
	return result(rmdir(path));
}

int host_unlink(const char *path)
{
	return result(unlink(path));
}

int host_rename(const char *from, const char *to)
{
	return result(rename(from, to));
}

int host_symlink(const char *target, const char *path)
{
	return result(symlink(target, path));
}

long host_pread(int fd, void *buf, size_t n, unsigned long pos)
{
	return result(pread(fd, buf, n, pos));
}

long host_pwrite(int fd, const void *buf, size_t n, unsigned long pos)
{
	return result(pwrite(fd, buf, n, pos));
}

long host_readlink(const char *path, char *buf, size_t n)
{
	return result(readlink(path, buf, n));
}

int host_readdir(int fd, unsigned long pos, char name[256], unsigned long *ino, unsigned *type)
{
	DIR *d = fdopendir(dup(fd));
	struct dirent *e = NULL;

	if (!d)
		return -errno;
	rewinddir(d);
	for (unsigned long i = 0; i <= pos; i++)
		if (!(e = readdir(d)))
			break;
	if (e) {
		snprintf(name, 256, "%s", e->d_name);
		*ino = e->d_ino;
		*type = DTTOIF(e->d_type);
	}
	closedir(d);
	return e != NULL;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	remove(path);
	return 0;
}

void host_remove_tree(const char *path)
{
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

int host_access(const char *path, int mask)
{
	return result(access(path, mask));
}

int host_pipe(int fd[2])
{
	return result(pipe2(fd, O_CLOEXEC));
}

int host_spawn(
    const char *path, char *const argv[], char *const envp[], const char *cwd, const int fds[10])
{
	posix_spawn_file_actions_t a;
	int pid, e;

	posix_spawn_file_actions_init(&a);
	posix_spawn_file_actions_addchdir_np(&a, cwd);
	for (int i = 0; i < 3; i++)
		if (fds[i] >= 0)
			posix_spawn_file_actions_adddup2(&a, fds[i], i);
	e = posix_spawn(&pid, path, &a, NULL, argv, envp);
	posix_spawn_file_actions_destroy(&a);
	return e ? -e : pid;
}

int host_reap(int pid)
{
	int status;

	if (waitpid(pid, &status, WNOHANG) != pid)
		return -1;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void host_kill(int pid, int sig)
{
	kill(pid, sig);
}

void host_tty_raw(bool raw)
{
	static struct termios saved;
	static bool have;
	struct termios t;

	if (!have && tcgetattr(0, &saved))
		return;
	have = true;
	t = saved;
	if (raw) {
		t.c_lflag &= ~(ICANON | ECHO | ISIG | IEXTEN);
		t.c_iflag &= ~(ICRNL | IXON);
	}
	tcsetattr(0, TCSADRAIN, &t);
}

bool host_isatty(int fd)
{
	return isatty(fd);
}
