/* Directory streams over getdents64. */
#include "kernel/abi/linux.h"
#include "user/libc/syscall.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct __dir {
	int fd;
	long have, at; /* bytes of buf filled and used */
	struct dirent entry;
	_Alignas(8) char buf[4096];
};

DIR *opendir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : calloc(1, sizeof(*d));

	if (d)
		d->fd = fd;
	else if (fd >= 0)
		close(fd);
	return d;
}

struct dirent *readdir(DIR *d)
{
	const struct abi_dirent64 *e;

	if (d->at >= d->have) {
		d->have =
		    syscall_result(syscall3(SYS_getdents64, d->fd, (long)d->buf, sizeof(d->buf)));
		d->at = 0;
		if (d->have <= 0)
			return NULL;
	}
	e = (const struct abi_dirent64 *)(d->buf + d->at);
	d->at += e->d_reclen;
	d->entry.d_ino = e->d_ino;
	d->entry.d_type = e->d_type;
	strncpy(d->entry.d_name, e->d_name, sizeof(d->entry.d_name) - 1);
	return &d->entry;
}

void rewinddir(DIR *d)
{
	lseek(d->fd, 0, SEEK_SET);
	d->at = d->have = 0;
}

int dirfd(DIR *d)
{
	return d->fd;
}

int closedir(DIR *d)
{
	int r = close(d->fd);

	free(d);
	return r;
}
