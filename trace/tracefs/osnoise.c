/* The files of osnoise/. Task context under host_lock. */
#include "kernel/lib/errno.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"
#include "trace/host_cpus.h"
#include "trace/tracefs/tables.h"
#include "trace/tracer/osnoise.h"

#define NUMBER(name, which)                                                                        \
	static int tracefs_osnoise_show_##name(                                                    \
	    struct seq *s, const struct tracefs_node *node __maybe_unused)                         \
	{                                                                                          \
		seq_printf(s, "%lu\n", osnoise_get(which));                                        \
		return 0;                                                                          \
	}                                                                                          \
	static int tracefs_osnoise_store_##name(                                                   \
	    const struct tracefs_node *node __maybe_unused, char *line)                            \
	{                                                                                          \
		u64 us;                                                                            \
		int err = parse_u64(line, 10, &us);                                                \
		return err ? err : osnoise_set(which, us);                                         \
	}
NUMBER(period, OSNOISE_PERIOD)
NUMBER(runtime, OSNOISE_RUNTIME)
NUMBER(stop, OSNOISE_STOP)
NUMBER(stop_total, OSNOISE_STOP_TOTAL)
NUMBER(print_stack, OSNOISE_PRINT_STACK)
NUMBER(timerlat_period, OSNOISE_TIMERLAT_PERIOD)

/* Numbers and ranges, with commas between them: 0-3,5. */
static int tracefs_osnoise_show_cpus(struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	u64 mask = osnoise_cpus();
	const char *comma = "";

	while (mask) {
		unsigned first = __builtin_ctzll(mask), n = __builtin_ctzll(~(mask >> first));

		seq_printf(s, n > 1 ? "%s%u-%u" : "%s%u", comma, first, first + n - 1);
		mask = first + n >= 64 ? 0 : mask & ~0UL << (first + n);
		comma = ",";
	}
	seq_putc(s, '\n');
	return 0;
}

/* One number, as far as the digits go; false: there is none. */
static bool tracefs_osnoise_take_number(char **at, u64 *out)
{
	if (!is_digit(**at))
		return false;
	for (*out = 0; is_digit(**at); ++*at)
		*out = MIN(*out * 10 + (**at - '0'), 1000000UL);
	return true;
}

static int tracefs_osnoise_parse_cpus(char *at, u64 *mask)
{
	u64 first, last;

	for (*mask = 0; *at;) {
		if (*at == ',') {
			at++;
			continue;
		}
		if (!tracefs_osnoise_take_number(&at, &first))
			return -EINVAL;
		last = first;
		if (*at == '-') {
			at++;
			if (!tracefs_osnoise_take_number(&at, &last))
				return -EINVAL;
		}
		if (last < first || (*at && *at != ','))
			return -EINVAL;
		if (last >= host_cpu_count())
			return -ERANGE;
		*mask |= (last >= 63 ? ~0UL : (1UL << (last + 1)) - 1) & ~0UL << first;
	}
	return 0;
}

static int tracefs_osnoise_store_cpus(const struct tracefs_node *node __maybe_unused, char *line)
{
	u64 mask;
	int err = tracefs_osnoise_parse_cpus(strstrip(line), &mask);

	if (!err)
		osnoise_set_cpus(mask);
	return err;
}

static int tracefs_osnoise_show_options(
    struct seq *s, const struct tracefs_node *node __maybe_unused)
{
	for (unsigned i = 0; i < OSNOISE_OPTIONS; i++)
		seq_printf(
		    s, "%s%s ", osnoise_options() >> i & 1 ? "" : "NO_", osnoise_option_names[i]);
	seq_putc(s, '\n');
	return 0;
}

static int tracefs_osnoise_store_options(const struct tracefs_node *node __maybe_unused, char *line)
{
	bool on = strncmp(line, "NO_", 3) != 0;
	const char *name = strstrip(on ? line : line + 3);

	for (unsigned i = 0; i < OSNOISE_OPTIONS; i++)
		if (!strcmp(name, osnoise_option_names[i]))
			return osnoise_set_option(1u << i, on);
	return -EINVAL;
}

#define NUMBER_ROW(file, name)                                                                     \
	{                                                                                          \
		file, 0640, .show = tracefs_osnoise_show_##name,                                   \
			    .store = tracefs_osnoise_store_##name, .cut = TRACEFS_NUMBER           \
	}
static const struct tracefs_row osnoise_rows[] = {
    {"cpus", 0640, .show = tracefs_osnoise_show_cpus, .store = tracefs_osnoise_store_cpus},
    {"options", 0640, .show = tracefs_osnoise_show_options, .store = tracefs_osnoise_store_options,
	.max = 255},
    NUMBER_ROW("period_us", period),
    NUMBER_ROW("print_stack", print_stack),
    NUMBER_ROW("runtime_us", runtime),
    NUMBER_ROW("stop_tracing_total_us", stop_total),
    NUMBER_ROW("stop_tracing_us", stop),
    NUMBER_ROW("timerlat_period_us", timerlat_period),
    {.name = NULL},
};
const struct tracefs_dir tracefs_osnoise_dir = {.rows = osnoise_rows};
