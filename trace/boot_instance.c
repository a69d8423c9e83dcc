/*
 * trace_instance=NAME[^FLAG...][,EVENT...]: an instance made at boot, as Linux 6.12 reads it. Runs
 * once, on the boot CPU. What is refused is in the log, and the rest of the line counts.
 *
 * NAME@RESERVED, where reserve_mem=SIZE:ALIGN:RESERVED is on the command line, too, is the flight
 * recorder by Linux's spelling. Here the rings of the top directory are what outlives a boot: the
 * flags and events are theirs, and the instance NAME is what shows the boot before.
 */
#include "trace/boot_instance.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/enable.h"
#include "trace/host_log.h"
#include "trace/host_system.h"
#include "trace/persist/lastboot.h"

#define WORD_MAX 256

/* The next word of the list, copied; false: there is none. One that is too long is cut. */
static bool trace_boot_word(const char **list, char word[WORD_MAX])
{
	size_t n = strcspn(*list, ",");

	if (!**list)
		return false;
	memcpy(word, *list, MIN(n, WORD_MAX - 1UL));
	word[MIN(n, WORD_MAX - 1UL)] = '\0';
	*list += n + ((*list)[n] == ',');
	return true;
}

static void set_flag(struct trace_array *tr, const char *flag, const char *name)
{
	if (!strcmp(flag, "traceoff"))
		trace_array_set_on(tr, false);
	else if (!strcmp(flag, "printk") || !strcmp(flag, "traceprintk") ||
		 !strcmp(flag, "trace_printk"))
		trace_array_set_option(tr, TRACE_OPT_PRINTK_DEST, true);
	else
		host_log("Tracing: Invalid instance flag '%s' for %s", flag, name);
}

static bool is_reserved(const char *name)
{
	const char *area;

	for (unsigned i = 0; (area = host_param("reserve_mem", i)); i++) {
		const char *colon = strrchr(area, ':');
		if (colon && !strcmp(colon + 1, name))
			return true;
	}
	return false;
}

/* May a directory have this name? */
static bool is_file_name(const char *name)
{
	return *name && !strchr(name, '/') && strcmp(name, ".") && strcmp(name, "..");
}

/* The array whose flags and events these are; NULL: there is none, and the log says why. */
static struct trace_array *make_array(const char *name, const char *reserved)
{
	struct trace_array *tr;

	if (reserved && !is_reserved(reserved)) {
		host_log("Failed to map boot instance %s to %s", name, reserved);
		return NULL;
	}
	if (reserved) {
		trace_lastboot_name(name);
		return trace_global;
	}
	int err = trace_instance_create(name, &tr);
	if (!err)
		return tr;
	host_log("Tracing: Failed to create instance buffer '%s' (%d)", name, err);
	return NULL;
}

static void trace_boot_instance(const char *list)
{
	char name[WORD_MAX], word[WORD_MAX];

	if (!trace_boot_word(&list, name))
		return;
	char *flags = strchr(name, '^'), *reserved = strchr(name, '@'); /* in either order */
	if (flags)
		*flags++ = '\0';
	if (reserved)
		*reserved++ = '\0';
	if (!is_file_name(name)) {
		host_log("Tracing: Failed to create instance buffer '%s' (%d)", name, -EINVAL);
		return;
	}
	struct trace_array *tr = make_array(name, reserved);
	while (tr && flags)
		set_flag(tr, strsep(&flags, "^"), name);
	while (tr && trace_boot_word(&list, word)) {
		char event[WORD_MAX];
		strscpy(event, word, sizeof(event));
		if (trace_set_event_word(tr, word))
			host_log("Failed to enable trace event: %s", event);
	}
}

void trace_boot_instances(void)
{
	const char *list;

	for (unsigned i = 0; (list = host_param("trace_instance", i)); i++)
		trace_boot_instance(list);
}
