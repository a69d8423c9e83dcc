/* Error numbers: newlib's follow Linux's up to 34 and then go their own way. */
#include "user/libc/syscall.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct {
	unsigned char newlib, linux_nr;
} differing[] = {
    {EDEADLK, 35},
    {ENAMETOOLONG, 36},
    {ENOLCK, 37},
    {ENOSYS, 38},
    {ENOTEMPTY, 39},
    {ELOOP, 40},
    {ENOMSG, 42},
    {EIDRM, 43},
    {ENODATA, 61},
    {ETIME, 62},
    {EPROTO, 71},
    {EBADMSG, 74},
    {EOVERFLOW, 75},
    {EILSEQ, 84},
    {EMSGSIZE, 90},
    {EOPNOTSUPP, 95},
    {EADDRINUSE, 98},
    {EADDRNOTAVAIL, 99},
    {ENOBUFS, 105},
    {ETIMEDOUT, 110},
    {ECONNREFUSED, 111},
    {EALREADY, 114},
    {EINPROGRESS, 115},
    {ECANCELED, 125},
};

int errno_to_linux(int e)
{
	for (unsigned i = 0; i < sizeof(differing) / sizeof(differing[0]); i++) {
		if (differing[i].newlib == e)
			return differing[i].linux_nr;
	}
	return e;
}

int errno_from_linux(int e)
{
	for (unsigned i = 0; i < sizeof(differing) / sizeof(differing[0]); i++) {
		if (differing[i].linux_nr == e)
			return differing[i].newlib;
	}
	return e;
}

long syscall_result(long r)
{
	if (r >= 0 || r < -4095)
		return r;
	errno = errno_from_linux(-r);
	return -1;
}

const char *errno_text(int e)
{
	static const struct {
		int number;
		const char *text;
	} texts[] = {
	    {EPERM, "Operation not permitted"},
	    {EIO, "Input/output error"},
	    {E2BIG, "Argument list too long"},
	    {EBADF, "Bad file descriptor"},
	    {ECHILD, "No child processes"},
	    {EAGAIN, "Resource temporarily unavailable"},
	    {ENOMEM, "Cannot allocate memory"},
	    {EXDEV, "Invalid cross-device link"},
	    {ENOTTY, "Inappropriate ioctl for device"},
	    {EDOM, "Numerical argument out of domain"},
	    {ERANGE, "Numerical result out of range"},
	    {ENAMETOOLONG, "File name too long"},
	    {ELOOP, "Too many levels of symbolic links"},
	};

	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (texts[i].number == e)
			return texts[i].text;
	}
	return strerror(e);
}

const char *errno_name(int e)
{
	static const struct {
		int number;
		const char *name;
	} names[] = {
#define E(x) {x, #x}
	    E(EPERM),
	    E(ENOENT),
	    E(EINTR),
	    E(EIO),
	    E(E2BIG),
	    E(EBADF),
	    E(EAGAIN),
	    E(ENOMEM),
	    E(EACCES),
	    E(EFAULT),
	    E(EBUSY),
	    E(EEXIST),
	    E(ENODEV),
	    E(EINVAL),
	    E(EMFILE),
	    E(ENOTTY),
	    E(EFBIG),
	    E(ENOSPC),
	    E(ESPIPE),
	    E(ERANGE),
	    E(ENOSYS),
	    E(EOVERFLOW),
	    E(ECANCELED),
	    E(EADDRINUSE),
	    E(EOPNOTSUPP),
	    E(EILSEQ),
	    E(ENAMETOOLONG),
#undef E
	};
	static char other[16];

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].number == e)
			return names[i].name;
	}
	snprintf(other, sizeof(other), "errno=%d", errno_to_linux(e));
	return other;
}
