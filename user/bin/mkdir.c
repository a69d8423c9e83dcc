/*
 * mkdir [-p] DIR...: makes directories; -p: those above too, and no complaint about one that is
 * there.
 */
#include "user/libc/syscall.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int complain(const char *dir)
{
	fprintf(stderr, "mkdir: can't create directory '%s': %s\n", dir, errno_text(errno));
	return 1;
}

static bool is_directory(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Makes all directories above `dir`; the text is whole again when this returns. */
static void make_above(char *dir)
{
	for (char *p = strchr(dir + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(dir, 0777); /* what fails here fails for `dir` itself, which complains */
		*p = '/';
	}
}

int main(int argc, char **argv)
{
	bool parents = argc > 1 && strcmp(argv[1], "-p") == 0;
	int first = parents ? 2 : 1, status = 0;

	if (first >= argc) {
		fprintf(stderr, "usage: mkdir [-p] DIR...\n");
		return 1;
	}
	for (int i = first; i < argc; i++) {
		if (parents)
			make_above(argv[i]);
		if (mkdir(argv[i], 0777) && !(parents && errno == EEXIST && is_directory(argv[i])))
			status = complain(argv[i]);
	}
	return status;
}
