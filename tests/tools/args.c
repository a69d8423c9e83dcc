/*
 * A program for tests/drive/trapline-test, linked with -static: prints what it was given, copies
 * its input, says a line on the standard error, and ends with the number that is its first
 * argument.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char directory[4096];
	int c;

	printf("in %s\n", getcwd(directory, sizeof(directory)));
	for (int i = 0; i < argc; i++)
		printf("[%s]\n", argv[i]);
	while ((c = getchar()) != EOF)
		putchar(c);
	fprintf(stderr, "on the standard error\n");
	return argc > 1 ? atoi(argv[1]) : 0;
}
