/* Vectors of buffers. newlib has no such header. */
#ifndef _SYS_UIO_H
#define _SYS_UIO_H

#include <sys/types.h>

struct iovec {
	void *iov_base;
	size_t iov_len;
};

ssize_t writev(int fd, const struct iovec *vec, int count);

#endif
