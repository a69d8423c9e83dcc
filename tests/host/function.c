/* Functions of the host's tests: trace/host_function.h. Some have a hook. */
#include "trace/host_function.h"

static const struct {
	const char *name;
	bool hooked;
} functions[] = {
    {"first_function", true},
    {"second_function", false},
    {"third_function", true},
};

unsigned host_function_count(void)
{
	return ARRAY_SIZE(functions);
}

const char *host_function(unsigned i, u64 *addr)
{
	*addr = 0x1000 + 0x100 * (u64)i;
	return functions[i].hooked ? functions[i].name : NULL;
}
