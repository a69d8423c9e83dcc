/*
 * Error numbers, with Linux's values (contract C2), and the text a shell shows for each. Functions inside return them
 * negated. Each row: name, number, text (the text of glibc's strerror, which transcripts show).
 */
#pragma once

#define ERRNO_LIST(E)                                                                              \
	E(EPERM, 1, "Operation not permitted")                                                     \
	E(ENOENT, 2, "No such file or directory")                                                  \
	E(ESRCH, 3, "No such process")                                                             \
	E(EINTR, 4, "Interrupted system call")                                                     \
	E(EIO, 5, "Input/output error")                                                            \
	E(ENXIO, 6, "No such device or address")                                                   \
	E(E2BIG, 7, "Argument list too long")                                                      \
	E(ENOEXEC, 8, "Exec format error")                                                         \
	E(EBADF, 9, "Bad file descriptor")                                                         \
	E(ECHILD, 10, "No child processes")                                                        \
	E(EAGAIN, 11, "Resource temporarily unavailable")                                          \
	E(ENOMEM, 12, "Cannot allocate memory")                                                    \
	E(EACCES, 13, "Permission denied")                                                         \
	E(EFAULT, 14, "Bad address")                                                               \
	E(EBUSY, 16, "Device or resource busy")                                                    \
	E(EEXIST, 17, "File exists")                                                               \
	E(EXDEV, 18, "Invalid cross-device link")                                                  \
	E(ENODEV, 19, "No such device")                                                            \
	E(ENOTDIR, 20, "Not a directory")                                                          \
	E(EISDIR, 21, "Is a directory")                                                            \
	E(EINVAL, 22, "Invalid argument")                                                          \
	E(ENFILE, 23, "Too many open files in system")                                             \
	E(EMFILE, 24, "Too many open files")                                                       \
	E(ENOTTY, 25, "Inappropriate ioctl for device")                                            \
	E(ETXTBSY, 26, "Text file busy")                                                           \
	E(EFBIG, 27, "File too large")                                                             \
	E(ENOSPC, 28, "No space left on device")                                                   \
	E(ESPIPE, 29, "Illegal seek")                                                              \
	E(EROFS, 30, "Read-only file system")                                                      \
	E(EMLINK, 31, "Too many links")                                                            \
	E(EPIPE, 32, "Broken pipe")                                                                \
	E(EDOM, 33, "Numerical argument out of domain")                                            \
	E(ERANGE, 34, "Numerical result out of range")                                             \
	E(EDEADLK, 35, "Resource deadlock avoided")                                                \
	E(ENAMETOOLONG, 36, "File name too long")                                                  \
	E(ENOSYS, 38, "Function not implemented")                                                  \
	E(ENOTEMPTY, 39, "Directory not empty")                                                    \
	E(ELOOP, 40, "Too many levels of symbolic links")                                          \
	E(ENODATA, 61, "No data available")                                                        \
	E(EOVERFLOW, 75, "Value too large for defined data type")                                  \
	E(EILSEQ, 84, "Invalid or incomplete multibyte or wide character")                         \
	E(EOPNOTSUPP, 95, "Operation not supported")                                               \
	E(EADDRINUSE, 98, "Address already in use")                                                \
	E(EADDRNOTAVAIL, 99, "Cannot assign requested address")                                    \
	E(ETIMEDOUT, 110, "Connection timed out")                                                  \
	E(ECANCELED, 125, "Operation canceled")

#ifndef EPERM
enum {
#define E(name, number, text) name = number,
	ERRNO_LIST(E)
#undef E
};
#endif

/* The text of errno `e` (positive); "Unknown error" for one not in the list. */
const char *errno_text(int e);
/* The name, "EINVAL"; NULL for one not in the list. */
const char *errno_name(int e);
