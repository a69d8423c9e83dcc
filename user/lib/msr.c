#include "user/libc/syscall.h"
#include "user/msr.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAMES  "/proc/trapline/msr"
#define FAILED 4 /* what msr-tools end with */

struct msr_name {
	const char *name;
	uint64_t number;
	bool found;
};

static bool msr_line(char *line, void *ctx)
{
	struct msr_name *m = ctx;
	char *name, *bare;

	m->number = strtoull(line, &name, 16);
	if (name == line)
		return false;
	name += strspn(name, " ");
	name[strcspn(name, " ")] = '\0';
	bare = strchr(name, '_');
	m->found = !strcasecmp(name, m->name) || (bare && !strcasecmp(bare + 1, m->name));
	return m->found;
}

bool msr_number(const char *s, uint64_t *out)
{
	struct msr_name m = {.name = s};

	if (*s >= '0' && *s <= '9')
		return command_number(s, 0, out);
	if (command_each_line(NAMES, msr_line, &m))
		return false;
	*out = m.number;
	if (!m.found)
		command_fail("no register is known by the name '%s' (" NAMES ")", s);
	return m.found;
}

/* 0 or errno's number. */
static int msr_on(struct msr_call *c, uint64_t cpu)
{
	char path[40];
	int e;

	snprintf(path, sizeof(path), "/dev/cpu/%" PRIu64 "/msr", cpu);
	e = command_access(path, c->msr, &c->value, sizeof(c->value), c->write);
	if (e == EIO && c->write)
		command_fail("CPU %" PRIu64 " cannot set MSR 0x%08" PRIx64 " to 0x%016" PRIx64, cpu,
		    c->msr, c->value);
	else if (e == EIO)
		command_fail("CPU %" PRIu64 " cannot read MSR 0x%08" PRIx64, cpu, c->msr);
	else if (e == ENOENT && !c->all)
		command_fail("there is no CPU %" PRIu64, cpu);
	else if (e && e != ENOENT)
		command_fail("%s: %s", path, errno_text(e));
	else if (!e && !c->write)
		printf(c->format, c->value);
	return e;
}

int msr_run(struct msr_call *c)
{
	int e;

	if (c->msr > 0xffffffff)
		return command_fail("registers have numbers of 32 bits");
	do {
		e = msr_on(c, c->cpu++);
	} while (!e && c->all);
	return e && !(e == ENOENT && c->all) ? FAILED : 0;
}
