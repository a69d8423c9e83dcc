/*
 * /proc/trapline/explore: whoever writes to it is the first task of the chosen schedule
 * (kernel/task/explore.h), of the seed in the line if there is one; reading shows the result.
 * Task context.
 */
#include "kernel/fs/proc.h"
#include "kernel/lib/string.h"
#include "kernel/process/process.h"
#include "kernel/task/explore.h"

static int explore_files_show(struct seq *s, void *unused __maybe_unused)
{
	char point[SCHEDULE_POINT_MAX];
	struct explore_state state;

	explore_ask(&state);
	seq_puts(s, "span ");
	for (unsigned i = 0; i < SCHEDULE_CLOCKS; i++)
		seq_printf(s, "%lu,", state.span.clock[i]);
	seq_printf(s, "%lu", state.span.steps);
	for (unsigned i = 0; i < state.span.lengths; i++)
		seq_printf(s, ",%u", state.span.length[i]);
	seq_printf(s, "\ntasks %u\nhung %d\npoints ", state.tasks, state.hung);
	for (unsigned i = 0; i < state.schedule.count; i++) {
		schedule_print(point, &state.schedule.point[i]);
		seq_printf(s, "%s%s", i ? "," : "", point);
	}
	seq_puts(s, "\ntaken ");
	for (unsigned i = 0; i < state.schedule.count; i++)
		seq_puts(s, state.taken[i] ? "1" : "0");
	seq_puts(s, "\n");
	return 0;
}

/* A seed, or an empty line. */
static int explore_files_store(char *line, size_t n __maybe_unused, void *unused __maybe_unused)
{
	const char *seed = strstrip(line);

	return explore_begin(*seed ? seed : NULL);
}

void explore_files_init(void)
{
	proc_register("trapline/explore", explore_files_show, explore_files_store, NULL);
}
