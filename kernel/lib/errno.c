/* Error numbers to text. Pure: any context; read-only tables. */
#include "kernel/lib/errno.h"
#include "kernel/lib/libc.h"

#define NUMBER(name, number, text) number,
static const u8 numbers[] = {ERRNO_LIST(NUMBER)};

/* Name and text of each, in that order: a table of pointers would be as large again. */
#define TEXTS(name, number, text) #name "\0" text "\0"
static const char texts[] = ERRNO_LIST(TEXTS);

const char *errno_name(int e)
{
	const char *name = texts;

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (numbers[i] == e)
			return name;
		name += strlen(name) + 1;
		name += strlen(name) + 1;
	}
	return NULL;
}

const char *errno_text(int e)
{
	const char *name = errno_name(e);

	return name ? name + strlen(name) + 1 : "Unknown error";
}
