/*
 * Synthetic events defined by kernel code, as in Linux's events document, section 7. Task context,
 * may sleep; host_lock is taken.
 */
#pragma once

#include "trace/dynevent/cmd.h"

struct synth_field_desc {
	const char *type; /* as in synthetic_events; "char[16]", "char[]" */
	const char *name;
};

/* 0; -EINVAL: malformed, more than 64 fields; -EEXIST; -ENOMEM. What is wrong is in error_log. */
int synth_event_create(
    const char *name, struct synth_field_desc *fields, unsigned n_fields, struct module *mod);
/* 0; -ENOENT; -EBUSY: it is on, a trigger needs it, or a file of it is held. */
int synth_event_delete(const char *name);

void synth_event_cmd_init(struct dynevent_cmd *cmd, char *buf, int maxlen);
/* Pairs of type and name follow. */
#define synth_event_gen_cmd_start(cmd, name, mod, ...)                                             \
	synth_event_gen_cmd_start_list(cmd, name, mod, ##__VA_ARGS__, NULL)
int synth_event_gen_cmd_start_list(
    struct dynevent_cmd *cmd, const char *name, struct module *mod, ...);
int synth_event_gen_cmd_array_start(struct dynevent_cmd *cmd, const char *name, struct module *mod,
    struct synth_field_desc *fields, unsigned n_fields);
int synth_event_add_field(struct dynevent_cmd *cmd, const char *type, const char *name);
int synth_event_add_field_str(struct dynevent_cmd *cmd, const char *type_name);
int synth_event_add_fields(
    struct dynevent_cmd *cmd, struct synth_field_desc *fields, unsigned n_fields);
/* Defines the event. */
#define synth_event_gen_cmd_end(cmd) dynevent_create(cmd)
