/*
 * Runs test cases and prints KTAP. One run at a time; ktap_fail(), ktap_skip() and ktap_note() may
 * be called by any task a case has started, as long as the case waits for it.
 */
#include "kernel/lib/ktap.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"

static struct {
	void (*out)(const char *text, size_t n);
	unsigned failures;    /* [A] of the case that runs */
	const char *skip_why; /* of the case that runs; NULL: not skipped */
} run;

/* One line, so that lines of tasks on several CPUs stay whole. */
static void ktap_print_line(const char *prefix, const char *fmt, va_list ap)
{
	char line[256];
	int n = scnprintf(line, sizeof(line) - 1, "%s", prefix);
	int more = fmt_vsnprintf(line + n, sizeof(line) - 1 - n, fmt, ap);

	n = MIN(n + more, (int)sizeof(line) - 2);
	line[n++] = '\n';
	run.out(line, n);
}

static void __printf(1, 2) ktap_print(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	ktap_print_line("", fmt, ap);
	va_end(ap);
}

void ktap_fail(const char *file, int line, const char *fmt, ...)
{
	char prefix[128];
	va_list ap;

	atomic_add(&run.failures, 1);
	scnprintf(prefix, sizeof(prefix), "# %s:%d: ", file, line);
	va_start(ap, fmt);
	ktap_print_line(prefix, fmt, ap);
	va_end(ap);
}

void ktap_skip(const char *why)
{
	run.skip_why = why;
}

void ktap_note(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	ktap_print_line("# ", fmt, ap);
	va_end(ap);
}

bool ktap_streq(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return strcmp(a, b) == 0;
}

/* Does one word of the list, n characters long, begin the name? */
static bool ktap_begins(const char *name, const char *word, size_t n)
{
	return strncmp(name, word, n) == 0 || (n == 3 && strncmp(word, "all", n) == 0);
}

static bool ktap_is_chosen(const struct ktap_case *c, const char *only)
{
	bool in = !only || !*only || *only == '-';

	while (only && *only) {
		size_t n = strcspn(only, ",");
		bool out = *only == '-';
		if (ktap_begins(c->name, only + out, n - out))
			in = !out;
		only += n + (only[n] == ',');
	}
	return in;
}

static unsigned count_cases(const struct ktap_suite *const *suites, const char *only)
{
	unsigned n = 0;
	for (; *suites; suites++)
		for (const struct ktap_case *c = (*suites)->cases; c->name; c++)
			n += ktap_is_chosen(c, only);
	return n;
}

enum verdict { PASSED, FAILED, SKIPPED };

static enum verdict run_case(const struct ktap_case *c, unsigned number)
{
	run.failures = 0;
	run.skip_why = NULL;
	c->fn();
	if (run.failures) {
		ktap_print("not ok %u %s", number, c->name);
		return FAILED;
	}
	if (run.skip_why) {
		ktap_print("ok %u %s # SKIP %s", number, c->name, run.skip_why);
		return SKIPPED;
	}
	ktap_print("ok %u %s", number, c->name);
	return PASSED;
}

int ktap_run(const struct ktap_suite *const *suites, const char *only,
    void (*out)(const char *text, size_t n), void (*begin)(void))
{
	unsigned totals[3] = {0}, number = 0;

	run.out = out;
	ktap_print("KTAP version 1");
	ktap_print("1..%u", count_cases(suites, only));
	for (; *suites; suites++)
		for (const struct ktap_case *c = (*suites)->cases; c->name; c++) {
			if (!ktap_is_chosen(c, only))
				continue;
			if (begin)
				begin();
			totals[run_case(c, ++number)]++;
		}
	ktap_print(
	    "# Totals: pass:%u fail:%u skip:%u", totals[PASSED], totals[FAILED], totals[SKIPPED]);
	if (!number)
		ktap_print("# no case has a name that begins so");
	return number ? totals[FAILED] : 1;
}
