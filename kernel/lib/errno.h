/*
 * Error numbers, with Linux's values, and the text a shell shows for each. Functions inside return
 * them negated. Each row: name, number, text (that of glibc's strerror, which a shell on Linux
 * prints).
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
	E(ENOTBLK, 15, "Block device required")                                                    \
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
	E(ENOLCK, 37, "No locks available")                                                        \
	E(ENOSYS, 38, "Function not implemented")                                                  \
	E(ENOTEMPTY, 39, "Directory not empty")                                                    \
	E(ELOOP, 40, "Too many levels of symbolic links")                                          \
	E(ENOMSG, 42, "No message of desired type")                                                \
	E(EIDRM, 43, "Identifier removed")                                                         \
	E(ECHRNG, 44, "Channel number out of range")                                               \
	E(EL2NSYNC, 45, "Level 2 not synchronized")                                                \
	E(EL3HLT, 46, "Level 3 halted")                                                            \
	E(EL3RST, 47, "Level 3 reset")                                                             \
	E(ELNRNG, 48, "Link number out of range")                                                  \
	E(EUNATCH, 49, "Protocol driver not attached")                                             \
	E(ENOCSI, 50, "No CSI structure available")                                                \
	E(EL2HLT, 51, "Level 2 halted")                                                            \
	E(EBADE, 52, "Invalid exchange")                                                           \
	E(EBADR, 53, "Invalid request descriptor")                                                 \
	E(EXFULL, 54, "Exchange full")                                                             \
	E(ENOANO, 55, "No anode")                                                                  \
	E(EBADRQC, 56, "Invalid request code")                                                     \
	E(EBADSLT, 57, "Invalid slot")                                                             \
	E(EBFONT, 59, "Bad font file format")                                                      \
	E(ENOSTR, 60, "Device not a stream")                                                       \
	E(ENODATA, 61, "No data available")                                                        \
	E(ETIME, 62, "Timer expired")                                                              \
	E(ENOSR, 63, "Out of streams resources")                                                   \
	E(ENONET, 64, "Machine is not on the network")                                             \
	E(ENOPKG, 65, "Package not installed")                                                     \
	E(EREMOTE, 66, "Object is remote")                                                         \
	E(ENOLINK, 67, "Link has been severed")                                                    \
	E(EADV, 68, "Advertise error")                                                             \
	E(ESRMNT, 69, "Srmount error")                                                             \
	E(ECOMM, 70, "Communication error on send")                                                \
	E(EPROTO, 71, "Protocol error")                                                            \
	E(EMULTIHOP, 72, "Multihop attempted")                                                     \
	E(EDOTDOT, 73, "RFS specific error")                                                       \
	E(EBADMSG, 74, "Bad message")                                                              \
	E(EOVERFLOW, 75, "Value too large for defined data type")                                  \
	E(ENOTUNIQ, 76, "Name not unique on network")                                              \
	E(EBADFD, 77, "File descriptor in bad state")                                              \
	E(EREMCHG, 78, "Remote address changed")                                                   \
	E(ELIBACC, 79, "Can not access a needed shared library")                                   \
	E(ELIBBAD, 80, "Accessing a corrupted shared library")                                     \
	E(ELIBSCN, 81, ".lib section in a.out corrupted")                                          \
	E(ELIBMAX, 82, "Attempting to link in too many shared libraries")                          \
	E(ELIBEXEC, 83, "Cannot exec a shared library directly")                                   \
	E(EILSEQ, 84, "Invalid or incomplete multibyte or wide character")                         \
	E(ERESTART, 85, "Interrupted system call should be restarted")                             \
	E(ESTRPIPE, 86, "Streams pipe error")                                                      \
	E(EUSERS, 87, "Too many users")                                                            \
	E(ENOTSOCK, 88, "Socket operation on non-socket")                                          \
	E(EDESTADDRREQ, 89, "Destination address required")                                        \
	E(EMSGSIZE, 90, "Message too long")                                                        \
	E(EPROTOTYPE, 91, "Protocol wrong type for socket")                                        \
	E(ENOPROTOOPT, 92, "Protocol not available")                                               \
	E(EPROTONOSUPPORT, 93, "Protocol not supported")                                           \
	E(ESOCKTNOSUPPORT, 94, "Socket type not supported")                                        \
	E(EOPNOTSUPP, 95, "Operation not supported")                                               \
	E(EPFNOSUPPORT, 96, "Protocol family not supported")                                       \
	E(EAFNOSUPPORT, 97, "Address family not supported by protocol")                            \
	E(EADDRINUSE, 98, "Address already in use")                                                \
	E(EADDRNOTAVAIL, 99, "Cannot assign requested address")                                    \
	E(ENETDOWN, 100, "Network is down")                                                        \
	E(ENETUNREACH, 101, "Network is unreachable")                                              \
	E(ENETRESET, 102, "Network dropped connection on reset")                                   \
	E(ECONNABORTED, 103, "Software caused connection abort")                                   \
	E(ECONNRESET, 104, "Connection reset by peer")                                             \
	E(ENOBUFS, 105, "No buffer space available")                                               \
	E(EISCONN, 106, "Transport endpoint is already connected")                                 \
	E(ENOTCONN, 107, "Transport endpoint is not connected")                                    \
	E(ESHUTDOWN, 108, "Cannot send after transport endpoint shutdown")                         \
	E(ETOOMANYREFS, 109, "Too many references: cannot splice")                                 \
	E(ETIMEDOUT, 110, "Connection timed out")                                                  \
	E(ECONNREFUSED, 111, "Connection refused")                                                 \
	E(EHOSTDOWN, 112, "Host is down")                                                          \
	E(EHOSTUNREACH, 113, "No route to host")                                                   \
	E(EALREADY, 114, "Operation already in progress")                                          \
	E(EINPROGRESS, 115, "Operation now in progress")                                           \
	E(ESTALE, 116, "Stale file handle")                                                        \
	E(EUCLEAN, 117, "Structure needs cleaning")                                                \
	E(ENOTNAM, 118, "Not a XENIX named type file")                                             \
	E(ENAVAIL, 119, "No XENIX semaphores available")                                           \
	E(EISNAM, 120, "Is a named type file")                                                     \
	E(EREMOTEIO, 121, "Remote I/O error")                                                      \
	E(EDQUOT, 122, "Disk quota exceeded")                                                      \
	E(ENOMEDIUM, 123, "No medium found")                                                       \
	E(EMEDIUMTYPE, 124, "Wrong medium type")                                                   \
	E(ECANCELED, 125, "Operation canceled")                                                    \
	E(ENOKEY, 126, "Required key not available")                                               \
	E(EKEYEXPIRED, 127, "Key has expired")                                                     \
	E(EKEYREVOKED, 128, "Key has been revoked")                                                \
	E(EKEYREJECTED, 129, "Key was rejected by service")                                        \
	E(EOWNERDEAD, 130, "Owner died")                                                           \
	E(ENOTRECOVERABLE, 131, "State not recoverable")                                           \
	E(ERFKILL, 132, "Operation not possible due to RF-kill")                                   \
	E(EHWPOISON, 133, "Memory page has hardware error")

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
