/*
 * Switching events on and off: single files, set_event's names, whole systems. Task context under
 * host_lock.
 *
 * Writers walk call->live, a list that changes by one pointer store at a time. New files go to the
 * front. A removed file keeps its next pointer, so that a walker at it can continue; it may be
 * inserted again only after all walkers have left. Text is patched in one pass for all events that
 * change together.
 */
#include "trace/event/enable.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "trace/event/array.h"
#include "trace/event/comm.h"
#include "trace/event/event.h"
#include "trace/event/parts.h"
#include "trace/event/trigger.h"
#include "trace/host_cpus.h"
#include "trace/host_key.h"
#include "trace/host_memory.h"
#include "trace/host_lock.h"
#include "trace/host_probe.h"

static bool is_live(const struct trace_event_file *file)
{
	return file->flags & TRACE_FILE_LIVE;
}

bool trace_file_is_on(const struct trace_event_file *file)
{
	return is_live(file) && !(atomic_load(&file->way) & TRACE_WAY_SOFT_OFF);
}

static bool can_enable(const struct trace_event_file *file)
{
	return !(file->call->flags & TRACE_CALL_NO_ENABLE);
}

int trace_file_counts(struct trace_event_file *file)
{
	if (!file->counts && !host_memory_check("an event that is on", 0))
		file->counts = host_alloc(host_cpu_limit() * sizeof(*file->counts));
	if (!file->counts)
		return -ENOMEM;
	int err = trace_export_event(file->call);
	kept_note_event(file->call); /* by the text that there is now */
	return err;
}

/* ---- acting: cannot fail ---- */

bool trace_file_way(struct trace_event_file *file, u32 bit, bool on)
{
	u32 before = on ? atomic_fetch_or(&file->way, bit) : atomic_fetch_and(&file->way, ~bit);

	return !(before & bit) == on;
}

static void live_add(struct trace_event_file *file)
{
	struct trace_event_call *call = file->call;

	WRITE_ONCE(file->next_live, call->live);
	trace_file_way(file, TRACE_WAY_MORE, call->live);
	trace_file_way(file, TRACE_WAY_CONSUMED, call->consumers);
	atomic_store_release(&call->live, file);
	if (call->key)
		call->key->users++;
}

static void live_remove(struct trace_event_file *file)
{
	struct trace_event_call *call = file->call;
	struct trace_event_file **at = &call->live;

	while (*at != file)
		at = &(*at)->next_live;
	WRITE_ONCE(*at, file->next_live);
	if (call->live)
		trace_file_way(call->live, TRACE_WAY_MORE, call->live->next_live);
	file->flags |= TRACE_FILE_LEFT;
	if (call->key)
		call->key->users--;
}

/* Names are kept for an event as the options were when it was switched on. */
static void trace_file_count_comms(struct trace_event_file *file, bool on)
{
	if (on) {
		if (file->tr->options & TRACE_OPT_RECORD_CMD)
			file->flags |= TRACE_FILE_COMM;
		if (file->tr->options & TRACE_OPT_RECORD_TGID)
			file->flags |= TRACE_FILE_TGID;
	}
	int step = on ? 1 : -1;
	trace_comm_users(
	    file->flags & TRACE_FILE_COMM ? step : 0, file->flags & TRACE_FILE_TGID ? step : 0);
	if (!on)
		file->flags &= ~(TRACE_FILE_COMM | TRACE_FILE_TGID);
}

static void trace_file_start(struct trace_event_file *file)
{
	live_add(file);
	file->flags |= TRACE_FILE_LIVE;
	trace_file_count_comms(file, true);
	if (file->feed)
		trace_trigger_link(file->feed);
}

static void trace_file_stop(struct trace_event_file *file)
{
	file->flags &= ~TRACE_FILE_LIVE;
	live_remove(file); /* a writer may still stand on it: what is soft off stays so */
	trace_file_count_comms(file, false);
	if (file->feed)
		trace_trigger_cut(file->feed);
}

static void switch_file(struct trace_event_file *file, bool on)
{
	if (on || file->soft_users)
		trace_file_way(file, TRACE_WAY_SOFT_OFF, !on);
	if (on && !is_live(file))
		trace_file_start(file);
	else if (!on && is_live(file) && !file->soft_users)
		trace_file_stop(file);
}

/* A key that several of the files share is patched once. */
static u32 trace_files_collect_keys(
    struct trace_event_file *const *files, u32 n, struct host_key **keys, u8 *states)
{
	u32 count = 0;

	for (u32 i = 0; i < n; i++) {
		struct trace_key *key = files[i]->call->key;
		if (!key || key->on == !!key->users)
			continue;
		key->on = !!key->users;
		if (key->set) {
			key->set(key, key->on);
			continue;
		}
		keys[count] = key->host;
		states[count++] = key->on;
	}
	host_probes_flush();
	return count;
}

void trace_keys_use(struct trace_key *const *keys, unsigned n, int users)
{
	struct host_key *changed[TRACE_KEYS_AT_ONCE];
	u8 states[TRACE_KEYS_AT_ONCE];
	unsigned count = 0;

	for (unsigned i = 0; i < n; i++) {
		struct trace_key *key = keys[i];
		key->users += users;
		if (key->on == !!key->users)
			continue;
		key->on = !!key->users;
		changed[count] = key->host;
		states[count++] = key->on;
	}
	if (count)
		host_keys_set(changed, states, count);
}

/* ---- one batch ---- */

/* Before files go back into lists they were taken out of. */
static void trace_files_wait_for_walkers(struct trace_event_file *const *files, u32 n)
{
	bool left = false;

	for (u32 i = 0; i < n; i++)
		left |= !is_live(files[i]) && (files[i]->flags & TRACE_FILE_LEFT) &&
			files[i]->call->live;
	if (left)
		host_synchronize();
	for (u32 i = 0; i < n; i++)
		if (!is_live(files[i]))
			files[i]->flags &= ~TRACE_FILE_LEFT;
}

static int prepare_feed(struct trace_event_file *file)
{
	if (!file->feed)
		file->feed = file->call->class->feed(file);
	return file->feed ? trace_trigger_prepare(file->feed) : -ENOMEM;
}

int trace_file_prepare(struct trace_event_file *file)
{
	int err = trace_file_counts(file);

	if (!err && file->call->class->feed)
		err = prepare_feed(file);
	if (!err && (file->tr->options & (TRACE_OPT_RECORD_CMD | TRACE_OPT_RECORD_TGID)))
		err = trace_comm_prepare();
	return err ? err : trace_array_expand(file->tr);
}

/* Everything that can fail. */
static int prepare(struct trace_event_file *const *files, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		int err = trace_file_prepare(files[i]);
		if (err)
			return err;
	}
	trace_files_wait_for_walkers(files, n);
	return 0;
}

int trace_file_take_key(const struct trace_event_file *file)
{
	struct trace_key *key = file->call->key;

	return key && key->take ? key->take(key) : 0;
}

void trace_file_give_key(const struct trace_event_file *file)
{
	struct trace_key *key = file->call->key;

	if (key && key->take && !key->on)
		key->set(key, false);
}

/* As on Linux, an event that cannot be switched on leaves the others alone. */
static int switch_files(struct trace_event_file *const *files, u32 n, bool on)
{
	int err = 0;

	for (u32 i = 0; i < n; i++) {
		int refused = on ? trace_file_take_key(files[i]) : 0;
		if (!refused)
			switch_file(files[i], on);
		else if (!err)
			err = refused;
	}
	return err;
}

int trace_files_enable(struct trace_event_file *const *files, u32 n, bool on)
{
	host_assert_locked();
	struct host_key **keys = host_alloc(n * (sizeof(*keys) + 1));
	int err = keys ? 0 : -ENOMEM;

	if (!err && on)
		err = prepare(files, n);
	if (!err) {
		u8 *states = (u8 *)(keys + n);
		err = switch_files(files, n, on);
		u32 count = trace_files_collect_keys(files, n, keys, states);
		if (count)
			host_keys_set(keys, states, count);
	}
	host_free(keys);
	return err;
}

void trace_file_soft(struct trace_event_file *file, int users)
{
	host_assert_locked();
	struct host_key *key;
	u8 state;

	file->soft_users += users;
	if (file->soft_users && !is_live(file)) {
		trace_files_wait_for_walkers(&file, 1);
		trace_file_way(file, TRACE_WAY_SOFT_OFF, true);
		trace_file_start(file);
	} else if (!file->soft_users && is_live(file) && !trace_file_is_on(file)) {
		trace_file_stop(file);
	}
	if (trace_files_collect_keys(&file, 1, &key, &state))
		host_keys_set(&key, &state, 1);
}

/* ---- by name ---- */

static bool matches(
    const struct trace_event_file *file, const char *match, const char *system, const char *event)
{
	const struct trace_event_call *call = file->call;

	if (match && strcmp(match, call->name) && strcmp(match, call->class->system))
		return false;
	if (system && strcmp(system, call->class->system))
		return false;
	return !event || !strcmp(event, call->name);
}

/* What a call for events names: each NULL for any. */
struct choice {
	const char *only, *match, *system, *event;
};

static bool trace_choice_is_all(const struct choice *c)
{
	return !c->match && !c->system && !c->event;
}

static bool trace_file_is_chosen(
    const struct trace_event_file *file, const struct choice *c, bool on)
{
	if (on && (file->call->flags & TRACE_CALL_ASKED) && trace_choice_is_all(c))
		return false;
	if (!can_enable(file) || (c->only && strcmp(c->only, file->call->class->system)))
		return false;
	return matches(file, c->match, c->system, c->event);
}

static int trace_files_set_chosen(struct trace_array *tr, const struct choice *c, bool on)
{
	struct trace_event_file *file, **found;
	u32 n = 0;

	list_for_each_entry (file, &tr->files, node)
		n++;
	found = host_alloc(n * sizeof(*found));
	if (!found)
		return -ENOMEM;
	n = 0;
	list_for_each_entry (file, &tr->files, node)
		if (trace_file_is_chosen(file, c, on))
			found[n++] = file;
	int err = n ? trace_files_enable(found, n, on) : -EINVAL;
	host_free(found);
	return err;
}

int trace_set_events(
    struct trace_array *tr, const char *match, const char *system, const char *event, bool on)
{
	host_assert_locked();
	return trace_files_set_chosen(tr, &(struct choice){NULL, match, system, event}, on);
}

static char *any_if_star(char *part)
{
	return *part == '\0' || !strcmp(part, "*") ? NULL : part;
}

int trace_set_event_word_of(struct trace_array *tr, const char *only, char *word)
{
	bool on = *word != '!';
	char *rest = word + !on;
	char *first = strsep(&rest, ":");

	if (!rest)
		return trace_files_set_chosen(tr, &(struct choice){only, first, NULL, NULL}, on);
	return trace_files_set_chosen(
	    tr, &(struct choice){only, NULL, any_if_star(first), any_if_star(rest)}, on);
}

int trace_set_event_word(struct trace_array *tr, char *word)
{
	return trace_set_event_word_of(tr, NULL, word);
}

char trace_events_state(struct trace_array *tr, const char *system)
{
	struct trace_event_file *file;
	bool some = false, none = false;

	list_for_each_entry (file, &tr->files, node) {
		if (!can_enable(file) || (system && strcmp(system, file->call->class->system)))
			continue;
		if (!system && (file->call->flags & TRACE_CALL_ASKED) && !is_live(file))
			continue;
		bool on = trace_file_is_on(file) || trace_file_is_soft(file);
		some |= on;
		none |= !on;
	}
	return some ? (none ? 'X' : '1') : (none ? '0' : '?');
}
