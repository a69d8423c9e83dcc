/* See sample.h. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/trapline/sample.h"
#include "tests/trapline/trapline_unit.h"
#include "tools/trapline/trace/trace.h"
#include "trace/export/dat_page.h"

#define FIRST_ID  300
#define UNKNOWN	  999
#define READ_MOST (1 << 20)
#define CPUS	  4
#define NUMBERS	  4
#define PATHS	  4
#define PATH_MOST 64

/* Each number of the script is the value of a field, from the first one on. */
#define TEN	"abcdefghij"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static const struct {
	const char *word, *system, *name, *fields[NUMBERS];
} formats[] = {
    {"switch", "sched", "sched_switch", {"prev_pid", "next_pid", "prev_state"}},
    {"waking", "sched", "sched_waking", {"pid"}}, {"irq", "irq", "irq_handler_entry", {"irq"}},
    {"irqend", "irq", "irq_handler_exit", {"irq"}}, {"in", "raw_syscalls", "sys_enter", {"id"}},
    {"out", "raw_syscalls", "sys_exit", {"id"}}, {"ev", "my", "ev", {"x", "y"}},
    {"ev2", "my", "ev", {"x", "z"}}, /* another program's format of that name */
    {"other", "my", "other", {"x"}},
    {"note", "my", "note", {"text[8]"}}, /* the number's bytes are its letters */
    {"call", "ftrace", "funcgraph_entry", {"func", "depth"}},
    {"return", "ftrace", "funcgraph_exit", {"func", "depth", "calltime", "rettime"}},
    {"long", "my", HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED, {"x"}},
    {"unknown", NULL, NULL, {NULL}}, /* without a format */
};

static const char symbols[] = "1000 t main_loop\n2000 t read_it\n3000 t write_it\n4000 t end\n";
static const char comms[] = "7 seven\n8 eight\n9 nine\n17 seven\n";

struct sample_record {
	int32_t type, pid;
	int64_t number[NUMBERS];
};

static union {
	struct ring_buffer_page page;
	uint8_t bytes[PAGE_BYTES];
} bytes_of[CPUS];
static struct dat_page page[CPUS];
static uint64_t lost[CPUS]; /* before the first event */
static char where[32], paths[PATHS][PATH_MOST];
static unsigned next_path;
char *sample_printed;

/* ---- records ---- */

static unsigned format_of(const char *word)
{
	unsigned i = 0;

	while (i < COUNT_OF(formats) && strcmp(formats[i].word, word) != 0)
		i++;
	assert_in_range(i, 0, COUNT_OF(formats) - 1);
	return i;
}

/* Puts the script's records into the pages; the bits of the formats that it names. */
static unsigned play(const char *script)
{
	unsigned used = 0, cpu;
	unsigned long long time;
	char word[16];

	for (const char *line = *script ? script : NULL; line; line = strchr(line, ';')) {
		struct sample_record r = {.type = 0};
		long long n[NUMBERS] = {0};

		line += *line == ';';
		assert_in_range(sscanf(line, "%llu %u %d %15[a-z0-9] %lli %lli %lli %lli", &time,
				    &cpu, &r.pid, word, &n[0], &n[1], &n[2], &n[3]),
		    4, 8);
		assert_in_range(cpu, 0, CPUS - 1);
		if (!strcmp(word, "lost")) {
			lost[cpu] = n[0] < 0 ? RB_LOST_UNKNOWN : (uint64_t)n[0];
			continue;
		}
		unsigned format = format_of(word);
		used |= 1U << format;
		r.type = formats[format].name ? FIRST_ID + format : UNKNOWN;
		for (size_t i = 0; i < NUMBERS; i++)
			r.number[i] = n[i];
		assert_true(dat_page_put(&page[cpu], &r, sizeof(r), time));
	}
	return used;
}

/* ---- the file ---- */

static void put_number(struct bytes *file, uint64_t n, size_t bytes)
{
	bytes_put(file, &n, bytes);
}

static void put_word(struct bytes *file, const char *word)
{
	bytes_put(file, word, strlen(word) + 1);
}

static void put_sized(struct bytes *file, const char *text, size_t bytes)
{
	put_number(file, strlen(text), bytes);
	bytes_put(file, text, strlen(text));
}

static void put_format(struct bytes *file, unsigned i)
{
	char text[1024];
	int n = snprintf(text, sizeof(text),
	    "name: %s\nID: %u\nformat:\n"
	    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n",
	    formats[i].name, FIRST_ID + i);

	for (size_t k = 0; k < NUMBERS && formats[i].fields[k]; k++)
		n += snprintf(text + n, sizeof(text) - n,
		    "\tfield:%s %s;\toffset:%zu;\tsize:8;\tsigned:1;\n",
		    strchr(formats[i].fields[k], '[') ? "char" : "long", formats[i].fields[k],
		    8 + 8 * k);
	snprintf(text + n, sizeof(text) - n, "\nprint fmt: \"\"\n");
	put_word(file, formats[i].system);
	put_number(file, 1, 4);
	put_sized(file, text, 8);
}

static void put_head(struct bytes *file, unsigned used)
{
	used &= ~(1U << format_of("unknown"));
	bytes_put(file, "\x17\x08\x44tracing", 10);
	put_word(file, "6");
	put_number(file, 0, 1);
	put_number(file, 8, 1);
	put_number(file, PAGE_BYTES, 4);
	put_word(file, "header_page");
	put_sized(file, "page", 8);
	put_word(file, "header_event");
	put_sized(file, "event", 8);
	put_number(file, 0, 4);
	put_number(file, __builtin_popcount(used), 4);
	for (unsigned i = 0; i < COUNT_OF(formats); i++)
		if (used & 1U << i)
			put_format(file, i);
	put_sized(file, symbols, 4);
	put_sized(file, "", 4);
	put_sized(file, comms, 8);
}

static void put_pages(struct bytes *file, const char *clock, unsigned cpus)
{
	put_number(file, cpus, 4);
	put_word(file, "options  ");
	put_number(file, 4, 2); /* a clock follows the table of CPUs */
	put_number(file, 0, 4);
	put_number(file, 0, 2);
	put_word(file, "flyrecord");
	uint64_t at = file->size + 16 * cpus + 8 + strlen(clock);
	at += -at % PAGE_BYTES;
	for (unsigned i = 0; i < cpus; i++) {
		put_number(file, at + i * PAGE_BYTES, 8);
		put_number(file, PAGE_BYTES, 8);
	}
	put_sized(file, clock, 8);
	bytes_zeros(file, -file->size % PAGE_BYTES);
	for (unsigned i = 0; i < cpus; i++) {
		dat_page_end(&page[i], 0, lost[i]);
		bytes_put(file, bytes_of[i].bytes, PAGE_BYTES);
	}
}

const char *sample_file(const char *name, const char *clock, unsigned cpus, const char *script)
{
	struct bytes file = {.data = NULL};
	char *path = paths[next_path++ % PATHS];

	memset(bytes_of, 0, sizeof(bytes_of));
	memset(lost, 0, sizeof(lost));
	for (unsigned i = 0; i < CPUS; i++)
		dat_page_begin(&page[i], &bytes_of[i].page, PAGE_BYTES, 0);
	put_head(&file, play(script));
	put_pages(&file, clock, cpus);
	snprintf(path, PATH_MOST, "%s/%s", where, name);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(file.data, 1, file.size, f), file.size);
	assert_int_equal(fclose(f), 0);
	bytes_free(&file);
	return path;
}

void sample_cut(const char *path, unsigned bytes)
{
	struct stat s;

	assert_int_equal(stat(path, &s), 0);
	assert_int_equal(truncate(path, s.st_size - bytes), 0);
}

/* ---- commands ---- */

void sample_run(int (*command)(int argc, char **argv), int status, const char *words, ...)
{
	char text[512], *argv[16] = {"command"};
	FILE *was = stdout;
	size_t size;
	int argc = 1;
	va_list ap;

	va_start(ap, words);
	vsnprintf(text, sizeof(text), words, ap);
	va_end(ap);
	for (char *word = strtok(text, " "); word && argc < 15; word = strtok(NULL, " "))
		argv[argc++] = word;
	optind = opterr = 0; /* from the start, without its own messages */
	free(sample_printed);
	stdout = open_memstream(&sample_printed, &size);
	int got = command(argc, argv);
	fclose(stdout);
	stdout = was;
	assert_int_equal(got, status);
}

void sample_read(const char *path)
{
	FILE *f = fopen(path, "rb");

	free(sample_printed);
	sample_printed = xmalloc(READ_MOST + 1);
	assert_non_null(f);
	assert_in_range(fread(sample_printed, 1, READ_MOST, f), 1, READ_MOST - 1);
	fclose(f);
}

static bool has_line(const char *part)
{
	const char *text = sample_printed, *at = text;

	while ((at = strstr(at, part)) && at != text && at[-1] != '\n')
		at++;
	return at;
}

void sample_expect(const char *part)
{
	if (!has_line(part))
		fprintf(stderr, "no line '%s' in:\n%s", part, sample_printed);
	assert_true(has_line(part));
}

void sample_expect_not(const char *part)
{
	if (has_line(part))
		fprintf(stderr, "a line '%s' in:\n%s", part, sample_printed);
	assert_false(has_line(part));
}

void sample_expect_first(const char *end)
{
	size_t line = strcspn(sample_printed, "\n"), n = strlen(end);

	if (line < n || memcmp(sample_printed + line - n, end, n) != 0)
		fprintf(stderr, "not '%s' but %.*s\n", end, (int)line, sample_printed);
	assert_true(line >= n && !memcmp(sample_printed + line - n, end, n));
}

int sample_begin(void **state)
{
	(void)state;
	say_nothing = true;
	strcpy(where, "/tmp/trapline-unit.XXXXXX");
	return mkdtemp(where) ? 0 : -1;
}

int sample_over(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	char path[PATH_MOST];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", where, names[i]);
		unlink(path);
	}
	say_nothing = false;
	free(sample_printed);
	sample_printed = NULL;
	return rmdir(where);
}
