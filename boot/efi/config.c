/* Reading trapline.cfg: config.h says what stands in it. Pure. */
#include "boot/efi/config.h"

#define LINE_MAX BOOT_MAX_CMDLINE

static size_t length(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

static bool equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

/* False: it does not fit, and `to` is as it was. */
static bool copy(char *to, size_t room, const char *from)
{
	size_t n = length(from);

	if (n >= room)
		return false;
	for (size_t i = 0; i <= n; i++)
		to[i] = from[i];
	return true;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* 36 and more: it is none. '@' and '`' precede the letters, and are none either. */
static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'z' ? (unsigned)(c - 'a') + 10 : 36;
}

/* A number in `base` that fills the text; at most `max`. */
static bool number(const char *s, unsigned base, uint32_t max, uint32_t *out)
{
	uint64_t v = 0;

	if (!*s)
		return false;
	for (; *s; s++) {
		unsigned digit = digit_of(*s);

		if (digit >= base)
			return false;
		v = v * base + digit;
		if (v > max)
			return false;
	}
	*out = (uint32_t)v;
	return true;
}

/* Cuts the first word off; returns what follows. */
static char *cut_word(char *s)
{
	while (*s && !is_blank(*s))
		s++;
	if (!*s)
		return s;
	*s++ = '\0';
	while (is_blank(*s))
		s++;
	return s;
}

bool config_append(char cmdline[BOOT_MAX_CMDLINE], const char *words)
{
	size_t at = length(cmdline);

	if (!*words)
		return true;
	if (!at)
		return copy(cmdline, BOOT_MAX_CMDLINE, words);
	if (!copy(cmdline + at + 1, BOOT_MAX_CMDLINE - at - 1, words))
		return false;
	cmdline[at] = ' ';
	return true;
}

/* ---- One function per word: NULL, or what is wrong ---- */

static const char *take_timeout(struct config *c, char *value)
{
	if (equal(value, "never")) {
		c->timeout = CONFIG_NEVER;
		return NULL;
	}
	return number(value, 10, CONFIG_MAX_TIMEOUT, &c->timeout)
		   ? NULL
		   : "timeout wants seconds, 0 to 3600, or never";
}

/* Which entries there are is known at the end. */
static const char *take_default(struct config *c, char *value)
{
	uint32_t n;

	if (!number(value, 10, CONFIG_MAX_ENTRIES, &n) || !n)
		return "default wants the number of an entry, 1 to 9";
	c->chosen = n - 1;
	return NULL;
}

static const char *take_lastboot(struct config *c, char *value)
{
	return number(value, 10, CONFIG_MAX_LASTBOOT, &c->lastboot_kib)
		   ? NULL
		   : "lastboot wants KiB, 0 to 65536";
}

static const char *take_file(struct config_file *f, char *value)
{
	char *sum = cut_word(value);
	uint32_t crc = 0;

	if (!*value)
		return "the name of the file is missing";
	if (length(value) >= sizeof(f->path))
		return "the name of the file has more than 63 characters";
	if (*sum && (length(sum) != 8 || !number(sum, 16, ~0u, &crc)))
		return "the checksum is not 8 hexadecimal digits";
	copy(f->path, sizeof(f->path), value);
	f->has_crc = *sum;
	f->crc = crc;
	return NULL;
}

static const char *take_kernel(struct config *c, char *value)
{
	return take_file(&c->kernel, value);
}

static const char *take_archive(struct config *c, char *value)
{
	return take_file(&c->archive, value);
}

static const char *take_entry(struct config *c, char *value)
{
	struct config_entry *e = &c->entries[c->entry_count];

	if (c->entry_count == CONFIG_MAX_ENTRIES)
		return "there are nine entries already";
	if (!*value)
		return "the entry has no title";
	if (!copy(e->title, sizeof(e->title), value))
		return "the title has more than 63 characters";
	copy(e->cmdline, sizeof(e->cmdline), c->common);
	c->entry_count++;
	return NULL;
}

static const char *take_cmdline(struct config *c, char *value)
{
	char *to = c->entry_count ? c->entries[c->entry_count - 1].cmdline : c->common;

	return config_append(to, value) ? NULL : "the command line is longer than 4095 characters";
}

static const struct {
	const char *word;
	const char *(*take)(struct config *c, char *value);
} words[] = {
    {"timeout", take_timeout},
    {"default", take_default},
    {"lastboot", take_lastboot},
    {"kernel", take_kernel},
    {"archive", take_archive},
    {"entry", take_entry},
    {"cmdline", take_cmdline},
};

static const char *take_line(struct config *c, char *line)
{
	char *value = cut_word(line);

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (equal(line, words[i].word))
			return words[i].take(c, value);
	return "unknown word at its beginning";
}

/* Copies a line without blanks at its ends. NULL, or what is wrong. */
static const char *clean_line(char *to, const char *from, size_t n)
{
	while (n && is_blank(*from)) {
		from++;
		n--;
	}
	while (n && is_blank(from[n - 1]))
		n--;
	if (n >= LINE_MAX)
		return "it is longer than 4095 characters";
	for (size_t i = 0; i < n; i++) {
		if ((from[i] < ' ' && from[i] != '\t') || from[i] > '~')
			return "a byte in it is not ASCII text";
		to[i] = from[i];
	}
	to[n] = '\0';
	return NULL;
}

void config_default(struct config *c)
{
	*c = (struct config){.entry_count = 1, .lastboot_kib = CONFIG_LASTBOOT};
	copy(c->kernel.path, sizeof(c->kernel.path), "kernel.elf");
	copy(c->entries[0].title, sizeof(c->entries[0].title), "Trapline");
}

/* Files without an entry of their own have one, with what was said for all. */
static void finish(struct config *c, config_complain *complain, void *arg)
{
	if (!c->entry_count) {
		char title[] = "Trapline";
		take_entry(c, title);
	}
	if (c->chosen >= c->entry_count) {
		complain(
		    arg, 0, "default names an entry that is not there: the first one is taken");
		c->chosen = 0;
	}
}

void config_parse(
    struct config *c, const char *text, size_t size, config_complain *complain, void *arg)
{
	char line[LINE_MAX];
	size_t at = 0;

	config_default(c);
	c->entry_count = 0;
	if (size >= 3 && (uint8_t)text[0] == 0xef && (uint8_t)text[1] == 0xbb &&
	    (uint8_t)text[2] == 0xbf)
		at = 3; /* the mark some editors put in front */
	for (uint32_t nr = 1; at < size; nr++) {
		size_t n = 0;
		while (at + n < size && text[at + n] != '\n')
			n++;
		const char *wrong = clean_line(line, text + at, n);
		if (!wrong && *line && *line != '#')
			wrong = take_line(c, line);
		if (wrong)
			complain(arg, nr, wrong);
		at += n + 1;
	}
	finish(c, complain, arg);
}
