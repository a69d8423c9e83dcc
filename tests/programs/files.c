/* The file calls as a program sees them: results, errno, struct layouts, bad pointers. */
#include "tests/programs/check.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Nothing is ever mapped there, and memory that is not ours; volatile so that the compiler does not
 * know it.
 */
static void *volatile bad = (void *)0x10, *volatile kernel = (void *)0xffff888000000000;

static void reading_and_writing(void)
{
	char buf[32] = "";
	int fd = open("f", O_RDWR | O_CREAT | O_EXCL, 0640);

	CHECK(fd >= 3);
	CHECK_EQ(write(fd, "0123456789", 10), 10);
	CHECK_EQ(lseek(fd, 3, SEEK_SET), 3);
	CHECK_EQ(read(fd, buf, 4), 4);
	CHECK(memcmp(buf, "3456", 4) == 0);
	CHECK_EQ(pwrite(fd, "AB", 2, 0), 2);
	CHECK_EQ(pread(fd, buf, 32, 8), 2);
	CHECK_EQ(lseek(fd, 0, SEEK_CUR), 7);
	CHECK_EQ(lseek(fd, -1, SEEK_END), 9);
	CHECK_ERR(lseek(fd, -11, SEEK_END), EINVAL);
	CHECK_ERR(lseek(fd, 0, 77), EINVAL);
	CHECK_EQ(ftruncate(fd, 4), 0);
	CHECK_EQ(lseek(fd, 5000, SEEK_SET), 5000);
	CHECK_EQ(write(fd, "z", 1), 1);
	CHECK_EQ(pread(fd, buf, 4, 2), 4);
	CHECK(memcmp(buf, "23\0\0", 4) == 0);
	CHECK_EQ(close(fd), 0);
	CHECK_ERR(close(fd), EBADF);
	CHECK_ERR(read(fd, buf, 1), EBADF);
	CHECK_ERR(open("f", O_RDWR | O_CREAT | O_EXCL, 0640), EEXIST);
	fd = open("f", O_WRONLY | O_APPEND);
	CHECK_EQ(write(fd, "end", 3), 3);
	CHECK_EQ(lseek(fd, 0, SEEK_CUR), 5004);
	CHECK_ERR(read(fd, buf, 1), EBADF);
	CHECK_EQ(fcntl(fd, F_GETFL), O_WRONLY | O_APPEND);
	close(fd);
	fd = open("f", O_RDONLY | O_TRUNC);
	CHECK_EQ(lseek(fd, 0, SEEK_END), 0);
	close(fd);
	CHECK_EQ(unlink("f"), 0);
}

static void bad_pointers(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600);
	struct stat st;

	CHECK_EQ(write(fd, "12345678", 8), 8);
	CHECK_ERR(write(fd, bad, 1), EFAULT);
	CHECK_ERR(write(fd, kernel, 1), EFAULT);
	CHECK_ERR(pread(fd, bad, 8, 0), EFAULT);
	CHECK_ERR(pread(fd, kernel, 8, 0), EFAULT);
	CHECK_ERR(open(bad, O_RDONLY), EFAULT);
	CHECK_ERR(open(kernel, O_RDONLY), EFAULT);
	CHECK_ERR(syscall_result(syscall2(SYS_newstat, (long)"f", (long)bad)), EFAULT);
	CHECK_ERR(syscall_result(syscall2(SYS_newstat, (long)"f", (long)kernel)), EFAULT);
	CHECK_ERR(pipe(bad), EFAULT);
	CHECK_ERR(mkdir(bad, 0700), EFAULT);
	CHECK_ERR(chdir(kernel), EFAULT);
	CHECK_ERR(read(fd, (void *)-1, 1), EFAULT);
	CHECK_EQ(fstat(fd, &st), 0);
	CHECK_EQ(st.st_size, 8); /* nothing of that changed the file */
	close(fd);
	unlink("f");
}

static void names(void)
{
	char name[300], path[5000];
	struct stat a, b;

	memset(name, 'n', sizeof(name));
	name[255] = '\0';
	CHECK_EQ(mkdir(name, 0700), 0);
	CHECK_EQ(rmdir(name), 0);
	name[255] = 'n';
	name[256] = '\0';
	CHECK_ERR(mkdir(name, 0700), ENAMETOOLONG);
	memset(path, '/', sizeof(path));
	strcpy(path + 4095 - 3, "tmp");
	CHECK_EQ(stat(path, &a), 0);
	memset(path, '/', sizeof(path));
	strcpy(path + 4096 - 3, "tmp");
	CHECK_ERR(stat(path, &a), ENAMETOOLONG);
	CHECK_ERR(stat("", &a), ENOENT);
	CHECK_EQ(symlink("loop", "loop"), 0);
	CHECK_ERR(stat("loop", &a), ELOOP);
	CHECK_EQ(lstat("loop", &a), 0);
	CHECK(S_ISLNK(a.st_mode));
	CHECK_EQ(readlink("loop", name, 2), 2);
	CHECK_ERR(readlink("/tmp", name, 10), EINVAL);
	CHECK_EQ(unlink("loop"), 0);
	CHECK_EQ(mkdir("d", 0755), 0);
	CHECK_ERR(mkdir("d", 0755), EEXIST);
	CHECK_ERR(unlink("d"), EISDIR);
	CHECK_ERR(open("d", O_RDWR), EISDIR);
	CHECK_ERR(open("d/x/y", O_RDONLY), ENOENT);
	close(open("d/f", O_CREAT | O_WRONLY, 0644));
	CHECK_ERR(rmdir("d"), ENOTEMPTY);
	CHECK_ERR(open("d/f/y", O_RDONLY), ENOTDIR);
	CHECK_EQ(stat("d/f", &a), 0);
	CHECK_EQ(rename("d/f", "g"), 0);
	CHECK_EQ(stat("g", &b), 0);
	CHECK_EQ(a.st_ino, b.st_ino);
	CHECK_ERR(rename("g", "d"), EISDIR);
	CHECK_ERR(rename("d", "d/e"), EINVAL);
	CHECK_EQ(unlink("g"), 0);
	CHECK_EQ(rmdir("d"), 0);
	CHECK_ERR(access("d", F_OK), ENOENT);
}

static void stat_layout(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0604);
	struct stat st;

	CHECK_EQ(ftruncate(fd, 5000), 0);
	CHECK_EQ(fstat(fd, &st), 0);
	CHECK_EQ(st.st_mode, S_IFREG | 0604);
	CHECK_EQ(st.st_size, 5000);
	CHECK_EQ(st.st_nlink, 1);
	CHECK_EQ(st.st_blksize, 4096);
	CHECK_EQ(st.st_uid, 0);
	close(fd);
	CHECK_EQ(stat("/dev/null", &st), 0);
	CHECK_EQ(st.st_mode, S_IFCHR | 0666);
	CHECK_EQ(st.st_rdev, 0x103);
	CHECK_EQ(stat("/", &st), 0);
	CHECK(S_ISDIR(st.st_mode) && st.st_nlink >= 7);
	unlink("f");
}

/* Nobody looks at what is written to it; zero takes as much. */
static void null_takes_all(void)
{
	static const char *const names[] = {"/dev/null", "/dev/zero"};
	struct iovec vec[2] = {{bad, 5000}, {bad, 70000}};

	for (int i = 0; i < 2; i++) {
		int fd = open(names[i], O_WRONLY);

		CHECK_EQ(write(fd, bad, 100000), 100000);
		CHECK_EQ(write(fd, NULL, 0), 0);
		CHECK_EQ(pwrite(fd, bad, 10, 5), 10);
		CHECK_EQ(writev(fd, vec, 2), 75000);
		CHECK_EQ(write(fd, kernel, 10), -1);
		CHECK_EQ(errno, EFAULT);
		close(fd);
		fd = open(names[i], O_RDONLY);
		CHECK_EQ(write(fd, "x", 1), -1);
		CHECK_EQ(errno, EBADF);
		close(fd);
	}
}

static void directories(void)
{
	char name[16], cwd[64];
	int found = 0, dots = 0;
	struct dirent *e;
	DIR *d;

	CHECK_EQ(mkdir("d", 0755), 0);
	CHECK_EQ(chdir("d"), 0);
	for (int i = 0; i < 150; i++) {
		snprintf(name, sizeof(name), "entry-%d", i);
		close(open(name, O_CREAT | O_WRONLY, 0644));
	}
	d = opendir(".");
	while ((e = readdir(d))) {
		dots += e->d_name[0] == '.' && e->d_type == DT_DIR;
		if (strncmp(e->d_name, "entry-", 6) == 0 && e->d_type == DT_REG) {
			found++;
			unlink(e->d_name); /* while it is read */
		}
	}
	CHECK_EQ(closedir(d), 0);
	CHECK_EQ(found, 150);
	CHECK_EQ(dots, 2);
	CHECK(getcwd(cwd, sizeof(cwd)) != NULL);
	CHECK(strcmp(cwd, "/tmp/files.test/d") == 0);
	CHECK(getcwd(cwd, 5) == NULL && errno == ERANGE);
	CHECK_EQ(chdir(".."), 0);
	CHECK_EQ(rmdir("d"), 0);
	CHECK_ERR(syscall_result(syscall3(SYS_getdents64, 0, (long)cwd, 64)), ENOTDIR);
}

/* Descriptors: lowest free, shared positions over dup and fork, closed by exec when told. */
static void descriptors(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600), copy = dup(fd), status;

	CHECK_EQ(copy, fd + 1);
	CHECK_EQ(write(fd, "abc", 3), 3);
	CHECK_EQ(lseek(copy, 0, SEEK_CUR), 3);
	CHECK_EQ(dup2(fd, 20), 20);
	CHECK_EQ(dup2(fd, fd), fd);
	CHECK_ERR(dup2(99, 5), EBADF);
	CHECK_ERR(dup2(fd, 100000), EBADF);
	CHECK_EQ(fcntl(20, F_SETFD, 1), 0);
	CHECK_EQ(fcntl(20, F_GETFD), 1);
	CHECK_EQ(fcntl(fd, F_GETFD), 0);
	if (fork() == 0) {
		lseek(fd, 1, SEEK_SET);
		close(20);
		_exit(0);
	}
	wait(&status);
	CHECK_EQ(lseek(copy, 0, SEEK_CUR), 1); /* the child moved it */
	CHECK_EQ(fcntl(20, F_GETFD), 1);       /* and closed only its own */
	close(20);
	close(copy);
	CHECK_EQ(unlink("f"), 0);
	CHECK_EQ(pwrite(fd, "still here", 10, 0), 10);
	close(fd);
}

/* A file mapped shared, seen through memory, through the descriptor and by a child. */
static void shared_mapping(void)
{
	int fd = open("f", O_RDWR | O_CREAT, 0600), status;
	char c = 0, *a, *b;

	CHECK_EQ(write(fd, "hello", 5), 5);
	a = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	b = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(a != MAP_FAILED && b != MAP_FAILED && a != b);
	CHECK(memcmp(a, "hello\0", 6) == 0);
	CHECK_EQ(pwrite(fd, "J", 1, 0), 1);
	CHECK(a[0] == 'J' && b[0] == 'J');
	if (fork() == 0) {
		a[1] = 'E';
		_exit(0);
	}
	wait(&status);
	CHECK_EQ(b[1], 'E');
	CHECK(pread(fd, &c, 1, 1) == 1 && c == 'E');
	if (fork() == 0) {
		a[4096] = 1; /* a page after the end of the file */
		_exit(0);
	}
	wait(&status);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	CHECK_EQ(ftruncate(fd, 0), 0);
	CHECK_EQ(ftruncate(fd, 5), 0);
	CHECK(pread(fd, &c, 1, 1) == 1 && c == 0);
	CHECK_EQ(unlink("f"), 0);
	close(fd);
	a[1] = 'x'; /* the pages are still ours */
	CHECK_EQ(b[1], 'x');
	CHECK_EQ(munmap(a, 8192), 0);
	CHECK_EQ(munmap(b, 4096), 0);
	fd = open("/bin/true", O_RDONLY);
	a = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	CHECK(a != MAP_FAILED && memcmp(a, "\177ELF", 4) == 0);
	CHECK_ERR(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), EACCES);
	CHECK_EQ(munmap(a, 4096), 0);
	close(fd);
}

/*
 * One write to a file of tracefs is one, however long: a list of pids is not cut within a number.
 */
static void long_write(void)
{
	static char text[200000], got[64];
	int fd = open("/sys/kernel/tracing/set_event_pid", O_RDWR | O_TRUNC);

	memset(text, ' ', sizeof(text));
	memcpy(text + 65533, "123456", 6); /* around 64 KiB */
	memcpy(text + sizeof(text) - 2, "78", 2);
	CHECK_EQ(write(fd, text, sizeof(text)), (long)sizeof(text));
	CHECK_EQ(pread(fd, got, sizeof(got), 0), 10);
	CHECK(!memcmp(got, "78\n123456\n", 10));
	text[sizeof(text) - 1] = 'x';
	CHECK_ERR(write(fd, text, sizeof(text)), EINVAL);
	close(fd);
	close(open("/sys/kernel/tracing/set_event_pid", O_WRONLY | O_TRUNC));
}

int main(void)
{
	CHECK_EQ(mkdir("/tmp/files.test", 0755), 0);
	CHECK_EQ(chdir("/tmp/files.test"), 0);
	reading_and_writing();
	bad_pointers();
	names();
	stat_layout();
	null_takes_all();
	directories();
	descriptors();
	shared_mapping();
	long_write();
	CHECK_EQ(chdir("/"), 0);
	CHECK_EQ(rmdir("/tmp/files.test"), 0);
	return check_failures != 0;
}
