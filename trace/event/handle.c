/* A table of the valid handles, by number. Task context under host_lock. */
#include "trace/event/handle.h"

#define CHAINS 512 /* a power of two; there are about as many events */

static struct trace_handle *chains[CHAINS];
static u64 last_number;

static struct trace_handle **chain_of(u64 number)
{
	return &chains[number % CHAINS];
}

void trace_handle_begin(struct trace_handle *handle)
{
	struct trace_handle **chain;

	handle->number = ++last_number;
	chain = chain_of(handle->number);
	handle->next = *chain;
	*chain = handle;
}

void trace_handle_end(struct trace_handle *handle)
{
	struct trace_handle **at = chain_of(handle->number);

	while (*at && *at != handle)
		at = &(*at)->next;
	if (*at)
		*at = handle->next;
	handle->number = 0;
}

bool trace_handle_is_valid(u64 number)
{
	struct trace_handle *handle = *chain_of(number);

	while (handle && handle->number != number)
		handle = handle->next;
	return handle;
}
