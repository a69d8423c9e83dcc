/* rmdir DIR...: removes empty directories. */
#include "user/libc/syscall.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int status = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: rmdir DIR...\n");
		return 1;
	}
	for (int i = 1; i < argc; i++) {
		if (rmdir(argv[i])) {
			fprintf(stderr, "rmdir: '%s': %s\n", argv[i], errno_text(errno));
			status = 1;
		}
	}
	return status;
}
