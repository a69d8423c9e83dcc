/*
 * ping HOST -c COUNT: stands in for ping where there is no network. Linux's tests of triggers want
 * a task of that name which sleeps and is woken; what it sends is nothing to them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int count = 1;

	for (int i = 1; i + 1 < argc; i++)
		if (!strcmp(argv[i], "-c"))
			count = atoi(argv[i + 1]);
	for (int i = 1; i <= count; i++) {
		printf("seq=%d\n", i);
		fflush(stdout);
		usleep(200000);
	}
	return 0;
}
