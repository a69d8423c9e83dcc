/* Messages, command lines, memory, input. See util.h. */
#include "tools/trapline/lib/util.h"
#include "tools/trapline/lib/output.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_STEP    (1 << 20)
#define SECONDS_MOST 1e9

const char *program = "trapline";
bool say_nothing;

static void vsay(const char *fmt, va_list ap)
{
	if (say_nothing)
		return;
	fflush(stdout);
	fprintf(stderr, "%s: ", program);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(fmt, ap);
	va_end(ap);
}

void die(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(fmt, ap);
	va_end(ap);
	unfinished_remove();
	exit(status);
}

void say_errno(const char *name)
{
	say("%s: %s", name, strerror(errno));
}

static int point_to_help(const char *command)
{
	if (!say_nothing)
		fprintf(stderr, "`trapline %s --help` says how it is used.\n", command);
	return EXIT_USAGE;
}

int bad_usage(const char *command, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsay(fmt, ap);
	va_end(ap);
	return point_to_help(command);
}

int common_option(const char *command, int option, const char *usage)
{
	switch (option) {
	case OPTION_HELP:
		fputs(usage, stdout);
		return EXIT_FINE;
	case OPTION_PROGRESS:
		progress_as_lines();
		return -1;
	default: /* getopt_long() has said what is wrong */
		return point_to_help(command);
	}
}

bool parse_number(const char *text, uint64_t most, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end && !errno && *out <= most;
}

bool parse_seconds(const char *text, uint64_t *ns)
{
	char *end;
	double seconds = strtod(text, &end);

	if (!(isdigit((unsigned char)*text) || *text == '.') || *end ||
	    !(seconds >= 0 && seconds <= SECONDS_MOST))
		return false;
	*ns = seconds * 1e9 + .5; /* 1.001 * 1e9 is less than 1001000000 */
	return true;
}

void *xmalloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		die(EXIT_TROUBLE, "out of memory");
	return p;
}

void *xrealloc(void *p, size_t size)
{
	p = realloc(p, size ? size : 1);
	if (!p)
		die(EXIT_TROUBLE, "out of memory");
	return p;
}

char *xstrndup(const char *s, size_t n)
{
	size_t length = strnlen(s, n);
	char *copy = xmalloc(length + 1);

	return memcpy(copy, s, length);
}

size_t count_up_to(const void *array, size_t count, size_t size, size_t offset, uint64_t key)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const char *element = (const char *)array + middle * size;
		if (*(const uint64_t *)(element + offset) <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint8_t *bytes_more(struct bytes *b, size_t n)
{
	if (b->room - b->size < n) {
		b->room = b->room * 2 + n + 256;
		b->data = xrealloc(b->data, b->room);
	}
	b->size += n;
	return b->data + b->size - n;
}

void bytes_put(struct bytes *b, const void *data, size_t n)
{
	if (n)
		memcpy(bytes_more(b, n), data, n);
}

void bytes_zeros(struct bytes *b, size_t n)
{
	if (n)
		memset(bytes_more(b, n), 0, n);
}

void bytes_free(struct bytes *b)
{
	free(b->data);
	*b = (struct bytes){.data = NULL};
}

/* ---- input ---- */

/* What has no size of its own is read to its end. */
static bool read_all(struct in *in, int fd)
{
	uint8_t *data = NULL;
	size_t have = 0, room = 0;
	ssize_t got;

	do {
		if (room - have < READ_STEP) {
			room += room + READ_STEP;
			data = xrealloc(data, room);
		}
		got = read(fd, data + have, room - have);
		have += got > 0 ? got : 0;
	} while (got > 0 || (got < 0 && errno == EINTR));
	*in = (struct in){.data = data, .size = have};
	return got == 0;
}

static bool map(struct in *in, int fd)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return false;
	void *data = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return false;
	*in = (struct in){.data = data, .size = st.st_size, .mapped = true};
	return true;
}

bool in_open(struct in *in, const char *name)
{
	bool is_stdin = !strcmp(name, "-");
	int fd = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);

	*in = (struct in){.data = NULL};
	if (fd < 0) {
		say_errno(name);
		return false;
	}
	bool fine = map(in, fd) || read_all(in, fd);
	if (!fine)
		say_errno(name);
	if (!is_stdin)
		close(fd);
	return fine;
}

void in_close(struct in *in)
{
	if (in->mapped)
		munmap((void *)in->data, in->size);
	else
		free((void *)in->data);
	*in = (struct in){.data = NULL};
}

char *find_own(const char *file)
{
	static const char *const places[] = {"", "../lib/trapline/"};
	char self[PATH_MAX], path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return NULL;
	self[n] = '\0';
	*(strrchr(self, '/') + 1) = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		n = snprintf(path, sizeof(path), "%s%s%s", self, places[i], file);
		if (n < (ssize_t)sizeof(path) && !access(path, R_OK))
			return xstrndup(path, n);
	}
	return NULL;
}
