/* newlib's header, and what it declares for some systems only. */
#include_next <sys/stat.h>
#ifndef _SYS_STAT_H_MORE
#define _SYS_STAT_H_MORE

int lstat(const char *__restrict path, struct stat *__restrict st);

#endif
