/*
 * What comes along into a machine: a cpio archive ("newc") for -initrd, and programs of the host's
 * in it.
 */
#pragma once

#include "tools/trapline/lib/util.h"

/* A file or (S_IFDIR) a directory at an absolute path of the guest's. */
void archive_put(
    struct bytes *archive, const char *path, uint32_t mode, const void *data, size_t size);
/* A file of the host's, under another name. False, said: it cannot be read, or is no file. */
bool archive_copy(struct bytes *archive, const char *path, const char *host_file);
void archive_end(struct bytes *archive);

/*
 * `path` from `directory` on, without what means nothing in it: "." and ".." and slashes of which
 * one is enough. To be freed.
 */
char *path_absolute(const char *directory, const char *path);
/* Why an ELF file does not run there; NULL: it may. */
const char *program_refusal(const uint8_t *data, size_t size);
/* Is it a script for a shell? */
bool program_is_script(const uint8_t *data, size_t size);

/* An entry of an archive that we made. Its pointers lead into the archive. */
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
