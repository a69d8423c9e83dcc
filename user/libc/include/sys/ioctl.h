/* Requests have Linux's numbers. newlib has no such header. */
#ifndef _SYS_IOCTL_H
#define _SYS_IOCTL_H

int ioctl(int fd, unsigned long request, ...);

#endif
