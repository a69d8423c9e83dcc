/*
 * A program of the host's with shared libraries, which come with it in the archive: its interpreter
 * runs first, maps them, and gives it their functions and the variables of a thread.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

static __thread int of_the_thread = 5;

int main(int argc, char **argv)
{
	const char *name = (const char *)getauxval(AT_EXECFN);
	volatile double half = 0.5;

	errno = 0;
	if (strtol("99999999999999999999", NULL, 10) <= 0 || errno != ERANGE)
		return 1;
	if (argc != 1 || !getauxval(AT_BASE) || !getauxval(AT_PHDR) || strcmp(name, argv[0]))
		return 2;
	of_the_thread++;
	printf("shared libraries: cos %.3f, %d\n", cos(half), of_the_thread);
	return of_the_thread == 6 && cos(half) > 0.87 && cos(half) < 0.88 ? 0 : 3;
}
