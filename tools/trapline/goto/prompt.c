/* The commands of `trapline goto`. See goto.h. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/trapline/goto/goto.h"

#define AROUND_USUAL 8
#define LINE_MOST    4096

static const char help_text[] =
    "next [N]            the next event, the Nth from here\n"
    "back [N]            the one before\n"
    "event N             event N of the file\n"
    "step [N]            N instructions on, of whichever CPU runs\n"
    "back-step [N]       N instructions back\n"
    "until FUNCTION      to where FUNCTION, or a number, is executed next\n"
    "watch ADDR [SIZE]   to the next instruction that writes SIZE (8) bytes there\n"
    "back-watch ADDR [SIZE]  to the one that wrote there last\n"
    "print EXPR          by the kernel's types: *current, ((struct task *)$rdi)->comm,\n"
    "                    a field of the event, @NAME of the program; print/x: in hexadecimal\n"
    "trace [N]           the lines around here, N before and after\n"
    "registers, stack, where   what there is to see\n"
    "help, quit\n"
    "\n"
    "An empty line repeats the last command. Words may be cut: n, b, s, bs, u, w, bw, p, t.\n";

/* ---- what moves ---- */

/* A number after a command, 1 if there is none. */
static bool count_of(const char *argument, uint64_t *n)
{
	*n = 1;
	if (!*argument || (parse_number(argument, 1ULL << 62, n) && *n))
		return true;
	say("'%s' is no number", argument);
	return false;
}

static bool move_to_event(struct visit *v, uint64_t number)
{
	if (!number || number > v->events) {
		say(number ? "there is no event after this one"
			   : "there is no event before this one");
		return false;
	}
	v->move = (struct move){.kind = MOVE_EVENT, .n = number - 1};
	return true;
}

static bool do_next(struct visit *v, const char *argument)
{
	uint64_t n;

	return count_of(argument, &n) && move_to_event(v, v->has_event ? v->at + 1 + n : n);
}

/* Between events, the first one back is the last one before. */
static bool do_back(struct visit *v, const char *argument)
{
	uint64_t n, here = v->has_event ? v->at + 1 + !v->on_event : 0;

	return count_of(argument, &n) && move_to_event(v, n < here ? here - n : 0);
}

static bool do_event(struct visit *v, const char *argument)
{
	size_t index;

	if (!*argument) {
		say("which event?");
		return false;
	}
	if (!goto_choose(v, argument, NULL, 1, &index))
		return false;
	return move_to_event(v, index + 1);
}

static bool do_step(struct visit *v, const char *argument)
{
	uint64_t n;

	if (!count_of(argument, &n))
		return false;
	v->move = (struct move){.kind = MOVE_COUNT, .n = v->count + n};
	return true;
}

static bool do_back_step(struct visit *v, const char *argument)
{
	uint64_t n;

	if (!count_of(argument, &n))
		return false;
	if (n > v->count) {
		say("the machine had begun %llu instructions", (unsigned long long)v->count);
		return false;
	}
	v->move = (struct move){.kind = MOVE_COUNT, .n = v->count - n};
	return true;
}

static bool do_until(struct visit *v, const char *argument)
{
	const struct elf_symbol *s = elf_named(&v->kernel, argument);
	uint64_t address;

	if (!*argument) {
		say("until which function?");
		return false;
	}
	if (s)
		address = s->address;
	else if (!goto_program_symbol(v, argument, &address) && !goto_number(v, argument, &address))
		return false;
	v->move = (struct move){.kind = MOVE_CALL, .n = address, .from = v->count + 1};
	return true;
}

/* "ADDR", "ADDR 4" */
static bool watch(struct visit *v, const char *argument, bool forward)
{
	char text[LINE_MOST], *space;
	uint64_t address, physical, bytes = PLAN_WATCHED;

	snprintf(text, sizeof(text), "%s", argument);
	space = strrchr(text, ' ');
	if (space && parse_number(space + 1, PLAN_WATCHED, &bytes) && bytes)
		*space = '\0';
	else
		bytes = PLAN_WATCHED;
	if (!goto_number(v, text, &address))
		return false;
	if (address % 4096 + bytes > 4096)
		bytes = 4096 - address % 4096;
	if (!goto_physical(v, address, &physical)) {
		say("there is no memory at 0x%llx", (unsigned long long)address);
		return false;
	}
	v->move = (struct move){.kind = forward ? MOVE_WRITE : MOVE_WRITER,
	    .n = physical,
	    .from = forward ? v->count + 1 : v->count,
	    .bytes = bytes};
	return true;
}

static bool do_watch(struct visit *v, const char *argument)
{
	return watch(v, argument, true);
}

static bool do_back_watch(struct visit *v, const char *argument)
{
	return watch(v, argument, false);
}

static bool do_quit(struct visit *v, const char *argument)
{
	(void)argument;
	v->move = (struct move){.kind = MOVE_QUIT};
	return true;
}

/* ---- what shows ---- */

static bool do_print(struct visit *v, const char *argument)
{
	bool hexadecimal = !strncmp(argument, "/x ", 3);

	goto_print(v, argument + (hexadecimal ? 3 : 0), hexadecimal);
	return false;
}

static bool do_trace(struct visit *v, const char *argument)
{
	uint64_t n = AROUND_USUAL;

	if (!*argument || count_of(argument, &n))
		goto_show_trace(v, n);
	return false;
}

static bool do_registers(struct visit *v, const char *argument)
{
	(void)argument;
	goto_show_registers(v);
	return false;
}

static bool do_stack(struct visit *v, const char *argument)
{
	(void)argument;
	goto_show_stack(v);
	return false;
}

static bool do_where(struct visit *v, const char *argument)
{
	(void)argument;
	goto_show(v);
	return false;
}

static bool do_help(struct visit *v, const char *argument)
{
	(void)v;
	(void)argument;
	fputs(help_text, stdout);
	return false;
}

/* True: there is a move. */
static const struct command {
	const char *name, *shorter;
	bool (*run)(struct visit *v, const char *argument);
} commands[] = {
    {"next", "n", do_next},
    {"back", "b", do_back},
    {"event", "e", do_event},
    {"step", "s", do_step},
    {"back-step", "bs", do_back_step},
    {"until", "u", do_until},
    {"watch", "w", do_watch},
    {"back-watch", "bw", do_back_watch},
    {"print", "p", do_print},
    {"trace", "t", do_trace},
    {"registers", "r", do_registers},
    {"stack", "bt", do_stack},
    {"where", "i", do_where},
    {"help", "h", do_help},
    {"quit", "q", do_quit},
};

/* "print/x EXPR" is print with the argument "/x EXPR". */
static bool run_line(struct visit *v, char *line)
{
	line += strspn(line, " \t");
	size_t n = strcspn(line, " \t/");
	char *argument = line + n;

	while (*argument == ' ' || *argument == '\t')
		argument++;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const struct command *c = &commands[i];
		if ((strlen(c->name) == n && !strncmp(line, c->name, n)) ||
		    (strlen(c->shorter) == n && !strncmp(line, c->shorter, n)))
			return c->run(v, argument);
	}
	say("there is no command '%.*s': help", (int)n, line);
	return false;
}

/* One byte; signals that end us, which wait elsewhere for the machine's loop, come here, too. */
static bool read_byte(char *c)
{
	struct pollfd p = {STDIN_FILENO, POLLIN, 0};
	sigset_t none;

	sigemptyset(&none);
	return ppoll(&p, 1, NULL, &none) > 0 && read(STDIN_FILENO, c, 1) == 1;
}

/* False: the input is at its end. What is too long is cut. */
static bool read_line(char *line, size_t size)
{
	size_t n = 0;
	char c = '\0';

	while (read_byte(&c) && c != '\n')
		if (n < size - 1)
			line[n++] = c;
	line[n] = '\0';
	return n || c == '\n';
}

void goto_prompt(struct visit *v)
{
	char line[LINE_MOST];
	bool moves = false;

	v->move = (struct move){.kind = MOVE_QUIT};
	while (!moves) {
		fputs("(goto) ", stdout);
		fflush(stdout);
		if (!read_line(line, sizeof(line))) {
			putchar('\n');
			return;
		}
		if (!isatty(STDIN_FILENO))
			puts(line);
		if (line[strspn(line, " \t")])
			snprintf(v->line, sizeof(v->line), "%s", line);
		if (*v->line)
			moves = run_line(v, v->line);
	}
}
