/* See choice.h. A value that is not understood is reported and ignored. */
#include "kernel/console/choice.h"
#include "kernel/base/cmdline.h"
#include "kernel/base/printk.h"

#define OPTIONS_MAX 16

static struct console_option options[OPTIONS_MAX];
static unsigned option_count;

void console_choice_init(void)
{
	const char *s;

	for (unsigned i = 0; (s = cmdline_nth("console", i)); i++) {
		if (option_count == OPTIONS_MAX || !console_option_parse(s, &options[option_count]))
			pr_warn(
			    "console=%s: no console, or no line setting, that is known here", s);
		else
			option_count++;
	}
}

const struct console_option *console_choice_nth(unsigned i)
{
	return i < option_count ? &options[i] : NULL;
}
