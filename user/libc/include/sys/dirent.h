/* The part of <dirent.h> that newlib leaves to its system. */
#ifndef _SYS_DIRENT_H
#define _SYS_DIRENT_H

#include <sys/types.h>

#define DT_UNKNOWN 0
#define DT_FIFO	   1
#define DT_CHR	   2
#define DT_DIR	   4
#define DT_REG	   8
#define DT_LNK	   10

typedef struct __dir DIR;

struct dirent {
	unsigned long d_ino;
	unsigned char d_type;
	char d_name[256];
};

#endif
