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
 * So many more (or less) need the file live, be it recorded or not: soft mode. What was not live
 * comes to life switched off; what nobody needs any more and is off goes. Whatever soft mode left
 * on stays on. Before the first use trace_file_prepare(). host_lock held; cannot fail.
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
/* Somebody else needs it live, and `enable` shows that. */
static inline bool trace_file_is_soft(const struct trace_event_file *file)
{
	return file->soft_users > file->unseen_users;
}
/* Sets or clears a bit of file->way; true if that changed it. Any context. */
bool trace_file_way(struct trace_event_file *file, u32 bit, bool on);
/* Makes everything that a live file needs. 0 or -ENOMEM. */
int trace_file_prepare(struct trace_event_file *file);
/* Makes sure of file->counts before anything is recorded through it. 0 or -ENOMEM. */
int trace_file_counts(struct trace_event_file *file);
/* So many more (or less) want the key's call sites to call. */
void trace_key_use(struct trace_key *key, int users);
/* enable of those that match: NULL stands for any; `match`: system or event name. -EINVAL when
 * nothing did. */
int trace_set_events(
    struct trace_array *tr, const char *match, const char *system, const char *event, bool on);
/* One word of set_event, "[!]name | sys: | sys:name ..."; the word is cut up. */
int trace_set_event_word(struct trace_array *tr, char *word);
/* The same, but of the events it names those of one system alone. */
int trace_set_event_word_of(struct trace_array *tr, const char *only, char *word);
/* '0', '1', 'X' or '?' for those of the system (NULL: all). */
char trace_events_state(struct trace_array *tr, const char *system);
