/*
 * Probe events defined by kernel code, as in Linux's events document, section 7. Task context, may
 * sleep; the functions take host_lock.
 */
#pragma once

#include "trace/dynevent/cmd.h"

void kprobe_event_cmd_init(struct dynevent_cmd *cmd, char *buf, int maxlen);
/*
 * Fields as in kprobe_events, "dfd=%ax": -EINVAL for one that is empty, the 129th, and a command of
 * another type.
 */
#define kprobe_event_gen_cmd_start(cmd, name, loc, ...)                                            \
	kprobe_event_gen_cmd_start_list(cmd, false, name, loc, ##__VA_ARGS__, NULL)
#define kretprobe_event_gen_cmd_start(cmd, name, loc, ...)                                         \
	kprobe_event_gen_cmd_start_list(cmd, true, name, loc, ##__VA_ARGS__, NULL)
int kprobe_event_gen_cmd_start_list(
    struct dynevent_cmd *cmd, bool is_return, const char *name, const char *loc, ...);
int kprobe_event_add_field(struct dynevent_cmd *cmd, const char *field);
#define kprobe_event_add_fields(cmd, ...) kprobe_event_add_fields_list(cmd, ##__VA_ARGS__, NULL)
int kprobe_event_add_fields_list(struct dynevent_cmd *cmd, ...);
/* Define the event; error_log shows errors. */
#define kprobe_event_gen_cmd_end(cmd)	 dynevent_create(cmd)
#define kretprobe_event_gen_cmd_end(cmd) dynevent_create(cmd)
/* 0; -ENOENT; -EBUSY: the event is on, or one of its files is in use. */
int kprobe_event_delete(const char *name);
