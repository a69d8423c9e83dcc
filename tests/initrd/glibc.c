/*
 * A program for Linux, built with `gcc -static` against glibc and brought in by -initrd: stdio,
 * malloc, a file, fork and wait work as they stand. tests/kernel/process/programs.c runs it and
 * looks at the status.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int read_file(void)
{
	char line[64] = "";
	FILE *f = fopen("/initrd/text", "r");

	if (!f || !fgets(line, sizeof(line), f))
		return 1;
	fclose(f);
	printf("file: %s", line);
	return strcmp(line, "a line from the initrd\n") != 0;
}

static int use_memory(void)
{
	char *small = malloc(100), *big = malloc(1 << 20); /* by brk, and by mmap */

	if (!small || !big)
		return 1;
	memset(big, 'b', 1 << 20);
	strcpy(small, "malloc works");
	printf("%s: %c\n", small, big[(1 << 20) - 1]);
	free(small);
	free(big);
	return 0;
}

static int use_fork(void)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		printf("child of %s\n", getppid() > 0 ? "a parent" : "nobody");
		exit(5);
	}
	if (waitpid(pid, &status, 0) != pid)
		return 1;
	printf("child: exit status %d\n", WEXITSTATUS(status));
	return !WIFEXITED(status) || WEXITSTATUS(status) != 5;
}

int main(int argc, char **argv)
{
	struct stat st;

	printf("Hello from glibc: %s, %d arguments, %.3f\n", argv[0], argc - 1, 1 / 3.0);
	if (read_file() || use_memory() || use_fork())
		return 1;
	return stat("/initrd/text", &st) || st.st_size != 23;
}
