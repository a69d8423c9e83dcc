/* Error numbers to text. Pure: any context; read-only tables. */
#include "kernel/lib/errno.h"
#include "kernel/lib/types.h"

static const struct {
	int number;
	const char *name, *text;
} errors[] = {
#define E(name, number, text) {number, #name, text},
    ERRNO_LIST(E)
#undef E
};

const char *errno_text(int e)
{
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].number == e)
			return errors[i].text;
	return "Unknown error";
}

const char *errno_name(int e)
{
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].number == e)
			return errors[i].name;
	return NULL;
}
