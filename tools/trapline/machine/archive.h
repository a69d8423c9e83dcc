/*
 * Builds the cpio archive ("newc") for a machine's -initrd, and puts programs of the host into it.
 */
#pragma once

#include "tools/trapline/lib/util.h"

/* Adds a file or (S_IFDIR) a directory at an absolute path in the guest. */
void archive_put(
    struct bytes *archive, const char *path, uint32_t mode, const void *data, size_t size);
/*
 * Adds a file of the host, under another name. False, after a message: it cannot be read, or is no
 * file.
 */
bool archive_copy(struct bytes *archive, const char *path, const char *host_file);
void archive_end(struct bytes *archive);

/*
 * `path`, relative to `directory`, as a normalised absolute path: without ".", ".." and repeated
 * slashes. The caller frees it.
 */
char *path_absolute(const char *directory, const char *path);
/* Why the guest cannot run an ELF file; NULL: it can. */
const char *program_refusal(const uint8_t *data, size_t size);
/* True if the file is a shell script. */
bool program_is_script(const uint8_t *data, size_t size);

/* An entry of an archive of our own. Its pointers point into the archive. */
struct archive_entry {
	const char *path;
	uint32_t mode;
	const uint8_t *data;
	size_t size;
};
/*
 * Reads the entry at *at, and moves *at past it. False: no entry is left, or the archive breaks
 * off.
 */
bool archive_next(const uint8_t *archive, size_t size, size_t *at, struct archive_entry *e);
