/*
 * catnb FILE [READS [SIZE]]: cat that does not wait. Reads FILE, opened with O_NONBLOCK, until its end, an error or READS
 * reads of SIZE bytes, and says on stderr how it ended when that was an error.
 */
#include "user/libc/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int failed(const char *what)
{
	fprintf(stderr, "catnb: %s: %s\n", what, errno_name(errno));
	return 1;
}

int main(int argc, char **argv)
{
	long reads = argc > 2 ? strtol(argv[2], NULL, 10) : -1;
	long size = argc > 3 ? strtol(argv[3], NULL, 10) : 65536;
	char *buf;
	int fd;

	if (argc < 2 || size < 0) {
		fprintf(stderr, "usage: catnb FILE [READS [SIZE]]\n");
		return 1;
	}
	fd = open(argv[1], O_RDONLY | O_NONBLOCK);
	if (fd < 0)
		return failed("open");
	buf = malloc(size);
	if (!buf)
		return failed("malloc");
	for (; reads != 0; reads--) {
		ssize_t n = read(fd, buf, size);
		if (n < 0)
			return failed("read");
		if (n == 0 || write(STDOUT_FILENO, buf, n) != n)
			return n != 0;
	}
	return 0;
}
