/*
 * hello: the C library at work in ring 3: printf with floats, malloc, a stdio file, setjmp. Says so
 * line by line.
 */
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int use_heap(void)
{
	char *p = malloc(100000), *q;

	if (!p)
		return 1;
	memset(p, 'x', 100000);
	q = realloc(p, 300000);
	if (!q || q[99999] != 'x')
		return 1;
	printf("malloc: %d bytes, grown to %d\n", 100000, 300000);
	free(q);
	return 0;
}

static int use_file(void)
{
	char path[32], line[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/hello.%d", (int)getpid());
	f = fopen(path, "w+");
	if (!f)
		return 1;
	fprintf(f, "%s %.3f\n", "written and read:", sqrt(2));
	rewind(f);
	if (!fgets(line, sizeof(line), f))
		return 1;
	fclose(f);
	unlink(path);
	fputs(line, stdout);
	return 0;
}

static int use_jump(void)
{
	static jmp_buf where;
	volatile int depth = 0;
	int back = setjmp(where);

	if (back == 0) {
		depth = 7;
		longjmp(where, 42);
	}
	printf("longjmp: %d, depth %d\n", back, depth);
	return back != 42 || depth != 7;
}

int main(int argc, char **argv)
{
	printf("Hello from ring 3: %s, %d argument%s\n", argv[0], argc - 1, argc == 2 ? "" : "s");
	for (int i = 1; i < argc; i++)
		printf("  argument %d: %s\n", i, argv[i]);
	printf("floats: %f %g %e %.10g\n", 3.14159, 1e-5, 12345.678, atan(1) * 4);
	if (use_heap() || use_file() || use_jump()) {
		fprintf(stderr, "hello: something is wrong\n");
		return 1;
	}
	return 0;
}
