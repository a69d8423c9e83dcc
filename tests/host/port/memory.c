/* Memory for the core from the C library. */
#include <stdlib.h>
#include <string.h>

#include "trace/host_memory.h"

void *host_alloc(size_t size)
{
	return calloc(1, size);
}

void host_free(void *p)
{
	free(p);
}

void *host_page_alloc(void)
{
	void *page = aligned_alloc(PAGE_SIZE, PAGE_SIZE);

	return page ? memset(page, 0, PAGE_SIZE) : NULL;
}

void host_page_free(void *p)
{
	free(p);
}
