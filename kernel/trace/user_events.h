/* user_events_data, as programs use it: kernel/trace/user_events.c. Task context. */
#pragma once

#include "kernel/fs/vfs.h"

extern const struct file_ops user_events_file_ops;
