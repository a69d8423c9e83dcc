/* Handles the reports of the script in the guest, line by line (script.h). See machine.h. */
#include <stdlib.h>
#include <string.h>

#include "tools/trapline/machine/machine.h"

/* The text after `word`, with which the line begins; NULL: it begins with another one. */
static const char *text_after(const char *line, const char *word)
{
	size_t n = strlen(word);

	return strncmp(line, word, n) ? NULL : line + n;
}

/* "N" or "N SIZE" of a file of --get; NULL: there is no such number. */
static struct fetched *fetched_of(struct machine *m, const char *text, uint64_t *size)
{
	char *end;
	unsigned long i = strtoul(text, &end, 10);

	if (end == text || i >= m->options->get_count)
		return NULL;
	*size = strtoull(end, NULL, 10);
	return &m->fetched[i];
}

static void take_fetched(struct machine *m, const char *text)
{
	uint64_t size;
	struct fetched *f = fetched_of(m, text, &size);

	if (!f || f->reported)
		return;
	f->reported = true;
	f->size = size;
	m->fetching = size ? f : NULL;
}

static void take_lacking(struct machine *m, const char *text)
{
	uint64_t size;
	struct fetched *f = fetched_of(m, text, &size);

	if (f)
		f->reported = f->lacking = true;
}

static void take_log(struct machine *m, const char *text)
{
	if (!m->has_log)
		say("the guest's kernel refused commands (error_log):");
	m->has_log = true;
	fprintf(stderr, "%s\n", text);
}

static void take_failure(struct machine *m, const char *line)
{
	bytes_put(&m->why, line, strlen(line));
	bytes_put(&m->why, "\n", 1);
}

void machine_report(struct machine *m, const char *line)
{
	const char *text;

	if (m->failed_step >= 0)
		take_failure(m, line);
	else if (!strcmp(line, REPORT_READY))
		m->ready = true;
	else if (!strcmp(line, REPORT_MORE))
		m->feed.asked = true;
	else if ((text = text_after(line, REPORT_EXIT)))
		m->status = atoi(text) & 255;
	else if ((text = text_after(line, REPORT_SEED)))
		m->seed = atoi(text);
	else if ((text = text_after(line, REPORT_LOG)))
		take_log(m, text);
	else if ((text = text_after(line, REPORT_GET)))
		take_fetched(m, text);
	else if ((text = text_after(line, REPORT_LACKS)))
		take_lacking(m, text);
	else if ((text = text_after(line, REPORT_NO_CALL)))
		say("the guest has no system call %s, and the program made it", text);
	else if ((text = text_after(line, REPORT_WARN)) && m->warned)
		m->warned(m, atoi(text));
	else if ((text = text_after(line, REPORT_FAIL)))
		m->failed_step = atoi(text);
}
