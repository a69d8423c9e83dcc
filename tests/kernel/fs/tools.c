/* A text written to a file: see tools.h. */
#include "tests/kernel/fs/tools.h"
#include "kernel/lib/string.h"

int write_text(const char *path, u32 flags, const char *text)
{
	struct file *f;
	int err = file_open(path, O_WRONLY | flags, 0, &f);

	if (err)
		return err;
	ssize n = kernel_write(f, text, strlen(text));
	file_put(f);
	return n < 0 ? (int)n : 0;
}
