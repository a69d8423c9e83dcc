#include "user/command.h"
#include "user/libc/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *command, *usage_text;

void command_begin(const char *path, const char *usage)
{
	const char *slash = strrchr(path, '/');

	command = slash ? slash + 1 : path;
	usage_text = usage;
	optind = 1; /* newlib begins with 0 */
}

int command_fail(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "%s: ", command);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 1;
}

int command_fail_errno(const char *what)
{
	return command_fail("%s: %s", what, errno_text(errno));
}

int command_usage(void)
{
	return command_fail("usage: %s %s", command, usage_text);
}

/* The C library's getopt() does not report which letter it does not know. */
int command_option(int argc, char **argv, const char *options)
{
	static const char *letters = ""; /* still to come of a word of options */
	const char *known;

	if (!*letters) {
		if (optind >= argc || argv[optind][0] != '-' || !argv[optind][1])
			return -1;
		letters = argv[optind++] + 1;
		if (!strcmp(letters, "-")) {
			letters = "";
			return -1;
		}
	}
	known = strchr(options, *letters);
	if (!known || *known == ':') {
		command_fail("unrecognized option: %c (see `help %s`)", *letters, command);
		return 0;
	}
	letters++;
	if (known[1] != ':')
		return *known;
	optarg = *letters ? (char *)letters : optind < argc ? argv[optind++] : NULL;
	letters = "";
	if (optarg)
		return *known;
	command_fail("option %c needs an argument (see `help %s`)", *known, command);
	return 0;
}

bool command_number(const char *s, int base, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(s, &end, base);
	if (*s >= '0' && *s <= '9' && !*end && !errno)
		return true;
	command_fail("invalid number '%s'", s);
	return false;
}

int command_each_line(const char *path, bool (*fn)(char *line, void *ctx), void *ctx)
{
	char line[1024];
	FILE *f = fopen(path, "r");
	int bad;

	if (!f)
		return command_fail("can't open '%s': %s", path, errno_text(errno));
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (fn(line, ctx))
			break;
	}
	bad = ferror(f);
	fclose(f);
	return bad ? command_fail_errno(path) : 0;
}

int command_access(const char *path, uint64_t at, void *data, size_t n, bool write)
{
	int fd = open(path, write ? O_WRONLY : O_RDONLY), e;
	ssize_t done;

	if (fd < 0)
		return errno;
	done = write ? pwrite(fd, data, n, at) : pread(fd, data, n, at);
	e = done < 0 ? errno : (size_t)done == n ? 0 : EIO;
	close(fd);
	return e;
}
