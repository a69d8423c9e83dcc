/* The functions of this kernel for the tracer: trace/host_function.h. Any context. */
#include "trace/host_function.h"
#include "kernel/base/sym.h"

unsigned host_function_count(void)
{
	return sym_count();
}

const char *host_function(unsigned i, u64 *addr)
{
	const char *name;
	u64 size;

	return sym_hooked(i) && sym_nth(i, &name, addr, &size) ? name : NULL;
}
