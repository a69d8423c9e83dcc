/*
 * crash [WAY]: crashes the kernel, as `echo c > /proc/sysrq-trigger` does; or in another WAY: see
 * /proc/trapline/crash.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "c";
	int fd = open(argc > 1 ? "/proc/trapline/crash" : "/proc/sysrq-trigger", O_WRONLY);

	if (argc > 2) {
		fprintf(stderr, "usage: crash [WAY]\n");
		return 1;
	}
	if (fd >= 0 && write(fd, way, strlen(way)) >= 0)
		return 0;
	fprintf(stderr, "crash: %s: %s\n", way, strerror(errno));
	return 1;
}
