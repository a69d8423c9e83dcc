/* Pipes between processes: data, end of file, SIGPIPE, O_NONBLOCK. */
#include "tests/programs/check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void parent_reads_child(void)
{
	static char block[3000];
	long total = 0, sum = 0;
	int fd[2], status;
	ssize_t n;

	CHECK_EQ(pipe(fd), 0);
	if (fork() == 0) {
		close(fd[0]);
		for (int i = 0; i < 100; i++) {
			memset(block, i, sizeof(block));
			if (write(fd[1], block, sizeof(block)) != sizeof(block))
				_exit(1);
		}
		_exit(0);
	}
	close(fd[1]);
	while ((n = read(fd[0], block, sizeof(block))) > 0) {
		total += n;
		for (ssize_t i = 0; i < n; i++)
			sum += block[i];
	}
	CHECK_EQ(n, 0);
	CHECK_EQ(total, 300000);
	CHECK_EQ(sum, 3000L * (99 * 100 / 2));
	CHECK(wait(&status) > 0);
	CHECK_EQ(status, 0);
	close(fd[0]);
}

static void nobody_reads(void)
{
	int fd[2], status = 0;

	CHECK_EQ(pipe(fd), 0);
	close(fd[0]);
	if (fork() == 0) {
		write(fd[1], "x", 1);
		_exit(0); /* not reached: SIGPIPE ends it */
	}
	wait(&status);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
	signal(SIGPIPE, SIG_IGN);
	CHECK_ERR(write(fd[1], "x", 1), EPIPE);
	signal(SIGPIPE, SIG_DFL);
	close(fd[1]);
}

static void not_blocking(void)
{
	static char block[65536];
	int fd[2];

	CHECK_EQ(pipe(fd), 0);
	CHECK_EQ(fcntl(fd[0], F_SETFL, O_NONBLOCK), 0);
	CHECK_EQ(fcntl(fd[1], F_SETFL, O_NONBLOCK), 0);
	CHECK_EQ(fcntl(fd[1], F_GETFL), O_WRONLY | O_NONBLOCK);
	CHECK_ERR(read(fd[0], block, 1), EAGAIN);
	CHECK_EQ(write(fd[1], block, 65536), 65536);
	CHECK_ERR(write(fd[1], block, 1), EAGAIN);
	CHECK_EQ(read(fd[0], block, 100), 100);
	CHECK_ERR(write(fd[1], block, 101), EAGAIN);
	CHECK_EQ(write(fd[1], block, 100), 100);
	CHECK_ERR(lseek(fd[0], 0, SEEK_SET), ESPIPE);
	CHECK_ERR(write(fd[0], block, 1), EBADF);
	close(fd[0]);
	close(fd[1]);
}

int main(void)
{
	parent_reads_child();
	nobody_reads();
	not_blocking();
	return check_failures != 0;
}
