/*
 * catnb FILE [READS [SIZE]]: cat that does not wait. Reads FILE, opened with O_NONBLOCK, until its
 * end, an error or READS reads of SIZE bytes, and says on stderr how it ended when that was an
 * error.
 *
 * For a CPU's trace_pipe_raw, READS is by default the number of pages of 4 kB that the ring has and
 * two more: then all that was there at the start has been read, also where larger sub-buffers come
 * in parts. Without that limit a traced catnb would find the events of its own system calls for
 * ever.
 */
#include "user/libc/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int failed(const char *what)
{
	fprintf(stderr, "catnb: %s: %s\n", what, errno_name(errno));
	return 1;
}

/*
 * How many reads take all that a ring holds; -1: it is no ring, or has no file of its size beside
 * it.
 */
static long reads_of_ring(const char *file)
{
	const char *slash = strrchr(file, '/');
	int dir = slash ? (int)(slash + 1 - file) : 0;
	char path[512], kib[32];

	if (strcmp(file + dir, "trace_pipe_raw"))
		return -1;
	snprintf(path, sizeof(path), "%.*sbuffer_size_kb", dir, file);
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, kib, sizeof(kib) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return -1;
	kib[n] = '\0';
	return strtol(kib, NULL, 10) / 4 + 2; /* the reader's, and one that was begun */
}

int main(int argc, char **argv)
{
	long reads = argc > 2 ? strtol(argv[2], NULL, 10) : argc > 1 ? reads_of_ring(argv[1]) : -1;
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
