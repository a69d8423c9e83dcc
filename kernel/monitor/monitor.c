/* The monitor's prompt, and how a line becomes commands. */
#include "kernel/monitor/monitor.h"
#include "kernel/fs/file.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/string.h"

#define CTRL_C		   3
#define STATUS_UNKNOWN	   127
#define STATUS_INTERRUPTED 130

/* ---- Input ---- */

bool monitor_interrupted(struct monitor *m)
{
	int c;

	while (!m->interrupted && (c = m->system->key(false)) >= 0) {
		if (c == CTRL_C)
			m->interrupted = true;
		else if (m->ahead_tail - m->ahead_head < MONITOR_AHEAD)
			m->ahead[m->ahead_tail++ % MONITOR_AHEAD] = c;
	}
	return m->interrupted;
}

static int monitor_key(struct monitor *m)
{
	if (m->ahead_head != m->ahead_tail)
		return m->ahead[m->ahead_head++ % MONITOR_AHEAD];
	return m->system->key(true);
}

/* ---- Output ---- */

static void monitor_say(struct monitor *m, const char *s)
{
	m->system->write(s, strlen(s));
}

static void monitor_flush(struct monitor *m)
{
	ssize done = 0;

	if (m->to && !m->write_error && m->out_used)
		done = kernel_write(m->to, m->out, m->out_used);
	else if (!m->to)
		m->system->write(m->out, m->out_used);
	if (done < 0)
		m->write_error = done;
	m->out_used = 0;
}

bool monitor_put(struct monitor *m, const char *s, size_t n)
{
	while (n && !m->write_error) {
		size_t some = MIN(n, MONITOR_OUT - m->out_used);
		memcpy(m->out + m->out_used, s, some);
		m->out_used += some;
		s += some;
		n -= some;
		if (m->out_used == MONITOR_OUT)
			monitor_flush(m);
	}
	return !m->write_error && !monitor_interrupted(m);
}

bool monitor_printf(struct monitor *m, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = fmt_vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return monitor_put(m, text, MIN((size_t)n, sizeof(text) - 1));
}

int monitor_fail(struct monitor *m, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (!m->to)
		monitor_flush(m);
	va_start(ap, fmt);
	fmt_vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	monitor_say(m, m->words.count ? m->words.word[0] : "monitor");
	monitor_say(m, ": ");
	monitor_say(m, text);
	monitor_say(m, "\n");
	return 1;
}

int monitor_fail_errno(struct monitor *m, const char *path, int error)
{
	return monitor_fail(m, "%s: %s", path, errno_text(-error));
}

/* ---- Files ---- */

struct file *monitor_open(struct monitor *m, const char *path, u32 flags)
{
	struct file *f = NULL;
	int e;

	m->reading = path;
	e = file_open(path, flags, 0666, &f);
	if (e)
		monitor_fail_errno(m, path, e);
	return e ? NULL : f;
}

int monitor_close(struct monitor *m, struct file *f, ssize n)
{
	if (!f)
		return 1;
	file_put(f);
	return n < 0 ? monitor_fail_errno(m, m->reading, n) : 0;
}

ssize monitor_read(struct monitor *m, struct file *f, void *buf, size_t n)
{
	ssize got;

	for (;;) {
		got = kernel_read(f, buf, n);
		if (got != -EAGAIN)
			return got;
		if (m->system->dead)
			return 0;
		monitor_flush(m);
		if (monitor_interrupted(m))
			return 0;
		m->system->pause();
	}
}

/* ---- Commands ---- */

static const struct monitor_command *monitor_find(const char *name)
{
	for (unsigned i = 0; i < monitor_command_count; i++)
		if (!strcmp(monitor_commands[i].name, name))
			return &monitor_commands[i];
	return NULL;
}

static int monitor_open_output(struct monitor *m)
{
	const struct words *w = &m->words;

	if (!w->to)
		return 0;
	if (m->system->dead)
		return monitor_fail(m, "%s: files can only be read after a panic", w->to);
	m->to = monitor_open(m, w->to, O_WRONLY | O_CREAT | (w->append ? O_APPEND : O_TRUNC));
	return !m->to;
}

static int monitor_close_output(struct monitor *m, int status)
{
	monitor_flush(m);
	if (m->to)
		file_put(m->to);
	m->to = NULL;
	return m->write_error ? monitor_fail(m, "write error: %s", errno_text(-m->write_error))
			      : status;
}

/* The command in m->words, in what m->system->attempt() may leave half way. */
static void monitor_run_words(void *arg)
{
	struct monitor *m = arg;
	struct words *w = &m->words;
	const struct monitor_command *c = monitor_find(w->word[0]);

	if (!c) {
		monitor_fail(m, "no such command; `help` lists them, `run` starts programs");
		m->status = STATUS_UNKNOWN;
		return;
	}
	if (w->count - 1 < c->least || (c->most >= 0 && w->count - 1 > c->most)) {
		m->status = monitor_fail(m, "usage: %s %s", c->name, c->usage);
		return;
	}
	m->status = monitor_open_output(m);
	if (m->status)
		return;
	m->status = c->fn(m, w->word);
	m->status = monitor_close_output(m, m->status);
}

static void monitor_run_command(struct monitor *m)
{
	const char *why;

	m->to = NULL;
	m->reading = NULL;
	m->write_error = m->out_used = 0;
	m->interrupted = false;
	why = m->system->attempt(monitor_run_words, m);
	if (why) {
		m->to = NULL;
		m->status = monitor_fail(m, "%s: %s", m->reading ? m->reading : "given up", why);
	}
	if (m->interrupted) {
		monitor_say(m, "^C\n");
		m->status = STATUS_INTERRUPTED;
	}
}

void monitor_execute(struct monitor *m, const char *line)
{
	const char *wrong;

	while (words_next(&m->words, &line, m->status, m->system->pid, &wrong)) {
		if (!m->words.only_after_success || !m->status)
			monitor_run_command(m);
		if (m->interrupted || m->leave)
			return;
	}
	if (wrong) {
		m->words.count = 0;
		m->status = monitor_fail(m, "%s", wrong) + 1;
	}
}

/* ---- The prompt ---- */

static const char *monitor_prompt(const struct monitor *m)
{
	return *m->pending ? "> " : "monitor> ";
}

static void monitor_show(struct monitor *m)
{
	char row[4 * LINE_COLUMNS];

	if (!m->system->plain)
		m->system->write(row, line_draw(&m->line, monitor_prompt(m), row, sizeof(row)));
}

/* What was put in at the end of a short line is all there is to show. */
static void monitor_show_byte(struct monitor *m, char c)
{
	if (m->line.length + strlen(monitor_prompt(m)) >= LINE_COLUMNS)
		monitor_show(m);
	else if (!m->system->plain)
		m->system->write(&c, 1);
}

static void monitor_newline(struct monitor *m)
{
	if (!m->system->plain)
		monitor_say(m, "\n");
}

/* A line is finished: it is run, or kept if it goes on with the next. */
static void monitor_entered(struct monitor *m)
{
	size_t before = strlen(m->pending);
	bool more;

	line_remember(&m->line);
	more = words_continue(m->line.text);
	if (before + strlen(m->line.text) >= sizeof(m->pending)) {
		*m->pending = '\0';
		monitor_fail(m, "the line is too long");
		return;
	}
	memcpy(m->pending + before, m->line.text, strlen(m->line.text) + 1);
	if (more && *m->pending)
		return;
	monitor_execute(m, m->pending);
	*m->pending = '\0';
}

static void monitor_take(struct monitor *m, u8 c)
{
	switch (line_key(&m->line, c)) {
	case LINE_ENTERED:
		monitor_newline(m);
		monitor_entered(m);
		if (m->leave)
			return;
		line_begin(&m->line);
		break;
	case LINE_DROPPED:
		monitor_say(m, "^C\n");
		*m->pending = '\0';
		line_begin(&m->line);
		break;
	case LINE_ENDED:
		monitor_newline(m);
		m->leave = true;
		return;
	case LINE_TAB:
		if (!m->system->plain)
			monitor_complete(m);
		break;
	case LINE_NOTHING:
		return;
	case LINE_APPENDED:
		monitor_show_byte(m, c);
		return;
	case LINE_EDITED:
		break;
	}
	monitor_show(m);
}

void monitor_run(struct monitor *m, const struct monitor_system *system)
{
	int c;

	m->system = system;
	m->leave = false;
	m->status = 0;
	*m->pending = '\0';
	line_begin(&m->line);
	monitor_show(m);
	while (!m->leave && (c = monitor_key(m)) >= 0)
		monitor_take(m, c);
}
