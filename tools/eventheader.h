/* Shared by the parts of the program that decodes files of EventHeader events (tools/eventheader*.c). */
#pragma once

#include "trace/eventheader.h"

struct file {
	const char *name;
	u8 *data;
	size_t size;
};

/* What is left to be read of a file. */
struct cursor {
	const struct file *file;
	const u8 *at, *end;
};

/* Says why, and ends the program with status 1. */
_Noreturn void die(const struct file *file, const char *why);
u64 load(const u8 *p, u32 n); /* little-endian */
/* The next n bytes, and behind them; or the end of the program. */
const u8 *take(struct cursor *c, u64 n);

/* Prints an event as text or as JSON. origin: NULL for none. */
void show(const struct eh_record *rec, const struct eh_origin *origin);

/* ---- eventheader_pages.c -------------------------------------------------------------------------------------------------- */

/* The text of one or several `format` files: which of these events are EventHeader's, and their numbers. */
void take_formats(const char *text, size_t n);
/*
 * The EventHeader events of sub-buffers of `page` bytes, that lie between at and end, are noted. is_linux: events begin with Linux's
 * type_len, else with Trapline's two bits and three.
 */
void take_pages(
    const struct file *file, const u8 *at, const u8 *end, size_t page, s32 cpu, bool is_linux);
/* Shows what was noted, in order of time. comms: the text of saved_cmdlines, or "". */
void show_noted(const char *comms, bool in_ns);

/* ---- eventheader_dat.c ---------------------------------------------------------------------------------------------------- */

bool is_dat(const struct file *file);
void show_dat(const struct file *file);
