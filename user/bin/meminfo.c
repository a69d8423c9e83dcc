/* meminfo: memory in use, and the map of physical addresses: /proc/meminfo, /proc/iomem. */
#include "user/command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool plain_line(char *line, void *unused)
{
	(void)unused;
	puts(line);
	return false;
}

/* A line of /proc/iomem that lies in no other, with its size. */
static bool map_line(char *line, void *unused)
{
	const char *name = strstr(line, " : ");
	uint64_t start, end;
	char *dash, *after;

	(void)unused;
	if (*line == ' ' || !name)
		return false;
	start = strtoull(line, &dash, 16);
	if (*dash != '-')
		return false;
	end = strtoull(dash + 1, &after, 16);
	if (after == name)
		printf("%016" PRIx64 "-%016" PRIx64 " %12" PRIu64 " kB  %s\n", start, end,
		    (end - start + 1) >> 10, name + 3);
	return false;
}

int main(int argc, char **argv)
{
	command_begin(argv[0], "");
	if (argc > 1)
		return command_usage();
	return command_each_line("/proc/meminfo", plain_line, NULL) ||
	       command_each_line("/proc/iomem", map_line, NULL);
}
