/*
 * uev: a program of user events, driven one system call at a time from a shell. The first call
 * leaves a process behind that holds the files; each call gives it one request and prints what came
 * of it. Exit status 0: all system calls succeeded, 1: one failed, 2: not a request.
 *
 *   uev open H                    opens user_events_data as H to read and write
 *   uev openro H | openwr H       ... to read, to write
 *   uev close H
 *   uev reg H NAME 'DEFINITION'   DIAG_IOCSREG; what it gave is remembered as NAME
 *   uev regsize H SIZE 'DEF'      the same, user_reg.size is SIZE
 *   uev regtail H BYTE 'DEF'      the same with 8 bytes more, all BYTE
 *   uev regbig H N                the same, a definition of N bytes
 *   uev regbadptr H | regbadname H  the struct, the name at an address where nothing is
 *   uev del H NAME | delbadptr H  DIAG_IOCSDEL
 *   uev ioctl H NR                ioctl '*', NR
 *   uev write H NAME ITEM...      the index, then the items
 *   uev writev H NAME ITEM... [/ ITEM...]  the index and each group of items as a vector of its own
 *   uev writeidx H INDEX ITEM...  with an index of one's own
 *   uev rawwrite H ITEM...        the items alone
 *   uev pwrite H OFFSET NAME ITEM...
 *   uev writebad H NAME N         N bytes after the index, which are not mapped
 *   uev read H N
 *   uev smap [LENGTH] | smaprw    maps user_events_status, a page; to be written, too
 *   uev sopen                     opens it
 *   uev bit NAME                  the event's bit there
 *   uev page N                    the first N bytes there
 *   uev pid                       of the process that holds the files
 *
 * ITEM: u8:N s8:N u16:N ... s64:N, str:TEXT, strz:TEXT (with its NUL), zero:N, fill:N:BYTE,
 * hex:0011aaff,
 *       dloc:OFFSET:LENGTH, rloc:OFFSET:LENGTH (the words of __data_loc and __rel_loc fields)
 *
 * Its parts are in user/uev/.
 */
#include "user/bin/uev/uev.h"

int main(int argc, char **argv)
{
	return ask(argc - 1, argv + 1);
}
