/* The shell as a program of the host: build/host/sh [-i] ROOT. Input and output are the console; ROOT is its "/". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/shell/shell.h"
#include "tests/host/shell/posix.h"

int main(int argc, char **argv)
{
	bool interactive = argc > 1 && !strcmp(argv[1], "-i");
	const char *root = argc > 1 + interactive ? argv[1 + interactive] : "";
	int status;

	posix_root(root);
	posix_stdio();
	status = shell_main(!interactive);
	posix_stdio_end();
	if (posix_allocated()) {
		fprintf(stderr, "host sh: %ld blocks not freed\n", posix_allocated());
		return 99;
	}
	return status;
}
