/*
 * Events in the EventHeader convention (kernel/abi/eventheader.h), decoded. Pure: kernel/lib alone,
 * any context; also built as a tool of the host (tools/eventheader.c).
 *
 * Records come from programs, and are not trusted: nothing outside the record is read, structs
 * within structs and the work that one record makes are bounded, and what does not fit is shown up
 * to where it does, with "damaged" and the reason.
 */
#pragma once

#include "kernel/abi/eventheader.h"
#include "kernel/lib/seq.h"

#define EH_DEPTH_MAX 8 /* structs within structs */
#define EH_STEPS_MAX                                                                               \
	200000 /* descriptions of fields and elements of arrays looked at for one record */

/* A tracepoint's name, taken apart. */
struct eh_name {
	const char *provider; /* provider_len bytes */
	const char *options;  /* to the NUL; "" for none */
	u32 provider_len;
	u8 level;
	u64 keyword;
};

/* False: the name is not of the convention. */
bool eh_name_parse(const char *tracepoint, struct eh_name *out);

struct eh_record {
	const char *tracepoint; /* a name that eh_name_parse() takes */
	const void *data;	/* from struct eventheader on */
	u32 len;
	u32 slack; /* of these, so many at the end may be none of the event's: buffers round up */
};

/* When and where, for JSON. */
struct eh_origin {
	u64 time; /* ns, if in_ns */
	bool in_ns;
	s32 cpu; /* -1: not known */
	s32 pid;
	const char *comm; /* "": not known */
};

/*
 * One line, without a newline; what stands after the level and the keyword is there only if it is
 * not 0, or was given:
 *
 *     PROVIDER:EVENT [level=4 keyword=0x1 options=Gx id=7 version=1 opcode=1 tag=0x3 activity=UUID
 *     related=UUID flags=0x5] count=3 name="text" list={1,2} point={x=1 y=2} data=de:ad <damaged:
 *     WHY at byte N>
 *
 * A field's tag follows its name: name;tag=0x12=VALUE.
 */
void eh_print_text(struct seq *s, const struct eh_record *rec);
/*
 * One JSON object, without a newline, in UTF-8 whatever the record holds:
 *
 *     {"n":"PROVIDER:EVENT","count":3,...,"meta":{"time":...,"level":4,...,"damaged":"WHY at byte
 *     N"}}
 *
 * A name that its object has already gets "#2" and so on after it; one that has a '#' or a tag's
 * text in it gets its number always. origin: NULL for none.
 */
void eh_print_json(struct seq *s, const struct eh_record *rec, const struct eh_origin *origin);
/*
 * The same without fields, and with no more of the name than EH_HEAD_NAME bytes; damaged for this
 * reason. Less than 3 KiB.
 */
#define EH_HEAD_NAME 128
void eh_print_json_head(
    struct seq *s, const struct eh_record *rec, const struct eh_origin *origin, const char *why);
