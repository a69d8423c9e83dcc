/*
 * The menu: which entry to start, and with which words. Lines only, so that it works on a serial
 * console, too.
 */
#include "boot/efi/loader.h"

#define KEY_BACKSPACE L'\b'

/* Terminals send the one or the other. */
static bool is_enter(EFI_INPUT_KEY key)
{
	return key.UnicodeChar == L'\r' || key.UnicodeChar == L'\n';
}

static void show(const struct config *c)
{
	say(L"");
	for (unsigned i = 0; i < c->entry_count; i++)
		say(L"  %c %u  %a", i == c->chosen ? L'*' : L' ', i + 1, c->entries[i].title);
	say(L"");
	say(L"  A digit starts an entry, Enter the one with the star; e edits a command line, r "
	    L"reboots.");
}

/* Counts down. False: nobody pressed a key. */
static bool key_in_time(const struct config *c, EFI_INPUT_KEY *key)
{
	for (unsigned left = c->timeout; left; left--) {
		if (c->timeout == CONFIG_NEVER) {
			key_wait(key);
			return true;
		}
		Print(L"\r  %u s ", left);
		if (key_within(1000, key)) {
			Print(L"\r        \r");
			return true;
		}
	}
	return key_within(0, key);
}

static struct config_entry *entry_of(struct config *c, CHAR16 digit)
{
	unsigned i = digit - L'1';

	return digit >= L'1' && i < c->entry_count ? &c->entries[i] : NULL;
}

/* Shows a line and lets it be changed at its end. False: given up. */
static bool edit(char line[BOOT_MAX_CMDLINE])
{
	EFI_INPUT_KEY key;
	unsigned n = 0;

	while (line[n])
		n++;
	Print(L"  Enter starts, Esc goes back.\n  %a", line);
	for (;;) {
		key_wait(&key);
		if (is_enter(key) || key.ScanCode == SCAN_ESC) {
			Print(L"\n");
			return is_enter(key);
		}
		if (key.UnicodeChar == KEY_BACKSPACE && n) {
			line[--n] = '\0';
			Print(L"\b \b");
		} else if (key.UnicodeChar >= L' ' && key.UnicodeChar <= L'~' &&
			   n + 1 < BOOT_MAX_CMDLINE) {
			line[n++] = (char)key.UnicodeChar;
			line[n] = '\0';
			Print(L"%c", key.UnicodeChar);
		}
	}
}

/* Edits a copy, so that what is given up leaves nothing behind. */
static struct config_entry *edit_one(struct config *c)
{
	static char line[BOOT_MAX_CMDLINE];
	struct config_entry *e;
	EFI_INPUT_KEY key;

	say(L"  Which one? (1-%u)", c->entry_count);
	key_wait(&key);
	e = entry_of(c, key.UnicodeChar);
	if (!e)
		return NULL;
	CopyMem(line, e->cmdline, sizeof(line));
	if (!edit(line))
		return NULL;
	CopyMem(e->cmdline, line, sizeof(line));
	return e;
}

/* What a key means; NULL: the menu goes on. */
static struct config_entry *act(struct config *c, EFI_INPUT_KEY key)
{
	struct config_entry *e = NULL;

	if (is_enter(key))
		return &c->entries[c->chosen];
	switch (key.UnicodeChar) {
	case L'r':
		reboot();
	case L'e':
		e = edit_one(c);
		break;
	default:
		return entry_of(c, key.UnicodeChar);
	}
	if (!e)
		show(c);
	return e;
}

struct config_entry *menu_choose(struct config *c)
{
	struct config_entry *e = NULL;
	EFI_INPUT_KEY key;

	if (c->timeout)
		show(c);
	if (!key_in_time(c, &key))
		return &c->entries[c->chosen];
	if (!c->timeout)
		show(c);
	while (!(e = act(c, key)))
		key_wait(&key);
	return e;
}
