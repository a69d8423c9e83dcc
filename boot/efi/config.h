/*
 * trapline.cfg, the loader's configuration: a line, a word, its value.
 *
 *     # from here to the end of the line: nothing, if it is the first character
 *     timeout 3                       seconds until the default entry starts; 0: at once; "never":
 *                                     only by a key
 *     default 1                       which entry that is
 *     lastboot 4096                   KiB of memory that a warm reset keeps; 0: none
 *     kernel kernel.elf 1c291ca3      a file beside this one, and its CRC-32, if it is to be
 *     checked archive archive.cpio
 *     cmdline loglevel=7              before the first entry: for all of them
 *     entry Record the boot           a line of the menu ...
 *     cmdline trace_event=boot:*      ... and the kernel's words, in as many lines as it takes
 *
 * Pure: no firmware, no allocation.
 */
#pragma once

#include "boot/boot_info.h"

#include <stdbool.h>
#include <stddef.h>

#define CONFIG_MAX_SIZE	    65536 /* bytes of the file */
#define CONFIG_MAX_ENTRIES  9	  /* one for each digit */
#define CONFIG_MAX_TITLE    64
#define CONFIG_MAX_PATH	    64
#define CONFIG_MAX_TIMEOUT  3600
#define CONFIG_NEVER	    (~0u)
#define CONFIG_LASTBOOT	    4096	/* KiB, where the file says nothing */
#define CONFIG_MAX_LASTBOOT (64u << 10) /* KiB */

struct config_file {
	char path[CONFIG_MAX_PATH]; /* "": none */
	bool has_crc;
	uint32_t crc;
};

struct config_entry {
	char title[CONFIG_MAX_TITLE];
	char cmdline[BOOT_MAX_CMDLINE];
};

struct config {
	uint32_t timeout; /* seconds, or CONFIG_NEVER */
	uint32_t chosen;  /* index of the default entry; there always is one */
	uint32_t lastboot_kib;
	struct config_file kernel, archive;
	char common[BOOT_MAX_CMDLINE];
	uint32_t entry_count; /* at least 1 */
	struct config_entry entries[CONFIG_MAX_ENTRIES];
};

/* Told of each line that is no good, which then counts for nothing; line 0: the file as a whole. */
typedef void config_complain(void *arg, uint32_t line, const char *what);

/* The configuration without a file: kernel.elf, no archive, one entry without a command line. */
void config_default(struct config *c);
/* config_default(), and then what the file says. */
void config_parse(
    struct config *c, const char *text, size_t size, config_complain *complain, void *arg);
/* Appends words to a command line, with a blank between. False, and nothing changed: no room. */
bool config_append(char cmdline[BOOT_MAX_CMDLINE], const char *words);
