/* The kernel's name and version: uname, /proc/version, the first line of the log. Plain data. */
#pragma once

#define KERNEL_NAME    "Trapline"
#define KERNEL_RELEASE "0.1.0"
/*
 * What uname() says: the Linux release whose system calls these are. A C library refuses to start
 * under one it finds too old.
 */
#define ABI_RELEASE    "6.1.0-trapline"
