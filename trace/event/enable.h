/*
 * Switching events on and off, and what their files need for it. Task context under host_lock,
 * unless said.
 */
#pragma once

#include "trace/event/event.h"

/*
 * Switches files with one pass over the kernel's text. 0; -ENOMEM: no file is switched; or the
 * error of the first file whose key could not be taken: the others are switched.
 */
int trace_files_enable(struct trace_event_file *const *files, u32 n, bool on);
/*
 * Soft mode: adds `users` (or removes, if negative) to the users that need the file live, recorded
 * or not. A file that was not live becomes live but switched off; a file that is off stops being
 * live when its last user goes. An enabled file stays enabled. Call trace_file_prepare() before the
 * first use. host_lock held; cannot fail.
 */
void trace_file_soft(struct trace_event_file *file, int users);
/*
 * Takes the resources of the event's key, before soft mode may use it: 0 or negative errno.
 * trace_file_give_key() gives them back unless the key is on.
 */
int trace_file_take_key(const struct trace_event_file *file);
void trace_file_give_key(const struct trace_event_file *file);
/* Live and recorded: what `enable` shows as 1. */
bool trace_file_is_on(const struct trace_event_file *file);
/* True if other users need it live, and `enable` shows this. */
static inline bool trace_file_is_soft(const struct trace_event_file *file)
{
	return file->soft_users > file->unseen_users;
}
/* Sets or clears a bit of file->way; true if that changed it. Any context. */
bool trace_file_way(struct trace_event_file *file, u32 bit, bool on);
/* Allocates everything that a live file needs. 0 or -ENOMEM. */
int trace_file_prepare(struct trace_event_file *file);
/* Allocates file->counts, which must exist before the file records anything. 0 or -ENOMEM. */
int trace_file_counts(struct trace_event_file *file);
/*
 * Adds `users` (or removes, if negative) to the users of each of n keys, at most
 * TRACE_KEYS_AT_ONCE. The call sites of all keys are patched in one pass.
 */
#define TRACE_KEYS_AT_ONCE 8
void trace_keys_use(struct trace_key *const *keys, unsigned n, int users);
/*
 * Enables or disables the matching events: NULL stands for any; `match`: system or event name.
 * -EINVAL: nothing matched.
 */
int trace_set_events(
    struct trace_array *tr, const char *match, const char *system, const char *event, bool on);
/* One word of set_event, "[!]name | sys: | sys:name ..."; the word is cut up. */
int trace_set_event_word(struct trace_array *tr, char *word);
/* The same, for the events of system `only` alone. */
int trace_set_event_word_of(struct trace_array *tr, const char *only, char *word);
/* '0', '1', 'X' or '?' for those of the system (NULL: all). */
char trace_events_state(struct trace_array *tr, const char *system);
