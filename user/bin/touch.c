/*
 * touch FILE...: makes files that are not there. The time of those that are stays: nothing here
 * sets it.
 */
#include "user/libc/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int touch(const char *path)
{
	int fd;

	if (access(path, F_OK) == 0)
		return 0;
	fd = open(path, O_WRONLY | O_CREAT, 0666);
	if (fd < 0) {
		fprintf(stderr, "touch: %s: %s\n", path, errno_text(errno));
		return 1;
	}
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	int status = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: touch FILE...\n");
		return 1;
	}
	for (int i = 1; i < argc; i++)
		status |= touch(argv[i]);
	return status;
}
