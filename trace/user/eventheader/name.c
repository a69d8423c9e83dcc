/* The name of an EventHeader tracepoint. Pure: any context. */
#include "kernel/lib/string.h"
#include "trace/user/eventheader/eventheader.h"

/* Lower-case hex digits at *p, at most `max` of them; false: none, or too many. */
static bool eh_take_hex(const char **p, unsigned max, u64 *out)
{
	unsigned n = 0;
	u64 v = 0;

	for (; is_digit(**p) || (**p >= 'a' && **p <= 'f'); ++*p, n++)
		v = v << 4 | (u64)(is_digit(**p) ? **p - '0' : **p - 'a' + 10);
	*out = v;
	return n && n <= max;
}

static bool are_options(const char *p)
{
	while (*p >= 'A' && *p <= 'Z')
		for (p++; is_digit(*p) || (*p >= 'a' && *p <= 'z'); p++)
			;
	return !*p;
}

bool eh_name_parse(const char *tracepoint, struct eh_name *out)
{
	const char *p = strrchr(tracepoint, '_');
	u64 level;

	if (!p || p == tracepoint || strlen(tracepoint) >= EVENTHEADER_NAME_MAX)
		return false;
	out->provider = tracepoint;
	out->provider_len = p - tracepoint;
	if (*++p != 'L')
		return false;
	p++;
	if (!eh_take_hex(&p, 2, &level) || !level || *p++ != 'K' ||
	    !eh_take_hex(&p, 16, &out->keyword))
		return false;
	out->level = level;
	out->options = p;
	return are_options(p);
}
