/* See kernel_file.h. */
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/machine/kernel_file.h"

#define CPIO_MAGIC	"070701"
#define CPIO_HEADER	110
#define CPIO_NAME_FIELD 94 /* where the size of the name is, 8 digits of hex */
#define CPIO_NAME_MOST	4096

/* The name of an entry of an archive; NULL: this is none. */
static const char *entry_name(const uint8_t *at, const uint8_t *end)
{
	char digits[9] = "";

	if (end - at < CPIO_HEADER)
		return NULL;
	memcpy(digits, at + CPIO_NAME_FIELD, 8);
	size_t n = strtoul(digits, NULL, 16);
	if (!n || n > CPIO_NAME_MOST || (size_t)(end - at - CPIO_HEADER) < n ||
	    at[CPIO_HEADER + n - 1])
		return NULL;
	return (const char *)at + CPIO_HEADER;
}

/* Looks at every entry that may begin somewhere in the bytes. */
static bool has_entry(const uint8_t *data, size_t size, const char *path, bool *any)
{
	const uint8_t *end = data + size, *at = data;

	path += strspn(path, "/");
	for (; (at = memmem(at, end - at, CPIO_MAGIC, strlen(CPIO_MAGIC))); at++) {
		const char *name = entry_name(at, end);

		*any |= !!name;
		if (name && !strcmp(name + strspn(name, "/"), path))
			return true;
	}
	return false;
}

bool archive_has(const uint8_t *archive, size_t size, const char *path)
{
	bool any = false;

	return has_entry(archive, size, path, &any);
}

bool kernel_has_program(const uint8_t *kernel, size_t size, const char *name)
{
	char path[CPIO_NAME_MOST];
	bool any = false;

	snprintf(path, sizeof(path), "%s%s", *name == '/' ? "" : "bin/", name);
	return has_entry(kernel, size, path, &any) || !any;
}
