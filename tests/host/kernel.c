/*
 * What the kernel's pure code asks of the kernel, on the host: memory over malloc, counts of files.
 * One thread.
 */
#include <stdlib.h>

#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"

void *kmalloc(size_t size)
{
	return malloc(size ? size : 1);
}

void *kzalloc(size_t size)
{
	return calloc(1, size ? size : 1);
}

void kfree(const void *p)
{
	free((void *)p);
}

struct file *file_get(struct file *f)
{
	f->refs++;
	return f;
}

void file_put(struct file *f)
{
	f->refs--;
}
