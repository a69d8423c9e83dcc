/* Path text: one component at a time. Pure; see the header. */
#include "kernel/fs/path.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"

int path_push(char *path, size_t size, const char *name, size_t len)
{
	size_t at = strlen(path);

	if (len == 1 && name[0] == '.')
		return 0;
	if (len == 2 && name[0] == '.' && name[1] == '.') {
		while (at > 1 && path[at - 1] != '/')
			at--;
		path[at > 1 ? at - 1 : 1] = '\0';
		return 0;
	}
	if (at == 1)
		at = 0; /* the root's own slash is the separator */
	if (len >= size || at + 1 + len >= size)
		return -ENAMETOOLONG;
	path[at] = '/';
	memcpy(path + at + 1, name, len);
	path[at + 1 + len] = '\0';
	return 0;
}
