/* Calls of functions for code of the kernel: ftrace.h. Task context, but for ftrace_call(). */
/* hot: runs with each event */
#include "kernel/kprobe/ftrace.h"
#include "kernel/base/sym.h"
#include "kernel/kprobe/hook.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/task/sync.h"
#include "trace/function/function.h"

static struct mutex ftrace_lock = MUTEX_INIT(ftrace_lock);

static void ftrace_call(struct hook_user *user, u64 ip, u64 parent_ip, u64 *slot __maybe_unused)
{
	struct ftrace_ops *ops = container_of(user, struct ftrace_ops, user);

	ops->func(ip, parent_ip, ops, NULL);
}

static size_t ftrace_words(void)
{
	return (sym_count() + 63) / 64;
}

/* Under ftrace_lock. */
static int ftrace_apply(struct ftrace_ops *ops)
{
	size_t n = ftrace_words();
	u64 *set = kmalloc(n * sizeof(u64));

	if (!set)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		set[i] = (ops->wanted ? ops->wanted[i] : ~0UL) &
			 ~(ops->unwanted ? ops->unwanted[i] : 0UL);
	hook_user_set(&ops->user, set);
	kfree(set);
	return 0;
}

/* Makes the changed list; *out NULL: it is empty. */
static int ftrace_list_changed(const u64 *old, const char *buf, int len, bool reset, u64 **out)
{
	size_t size = ftrace_words() * sizeof(u64);
	int err = 0;

	*out = NULL;
	if (!buf && (reset || !old))
		return 0;
	u64 *list = kzalloc(size);
	char *word = kstrndup(buf ? buf : "", buf ? len : 0);
	if (!list || !word)
		err = -ENOMEM;
	if (!err && old && !reset)
		memcpy(list, old, size);
	if (!err && buf)
		err = trace_function_set_word(list, word);
	kfree(word);
	if (err)
		kfree(list);
	else
		*out = list;
	return err;
}

static int ftrace_set_list(struct ftrace_ops *ops, u64 **list, const char *buf, int len, bool reset)
{
	u64 *fresh, *old;

	mutex_lock(&ftrace_lock);
	old = *list;
	int err = ftrace_list_changed(old, buf, len, reset, &fresh);
	if (!err) {
		*list = fresh;
		err = ops->registered ? ftrace_apply(ops) : 0;
		if (err)
			*list = old;
		kfree(err ? fresh : old);
	}
	mutex_unlock(&ftrace_lock);
	return err;
}

int ftrace_set_filter(struct ftrace_ops *ops, const char *buf, int len, int reset)
{
	return ftrace_set_list(ops, &ops->wanted, buf, len, reset);
}

int ftrace_set_notrace(struct ftrace_ops *ops, const char *buf, int len, int reset)
{
	return ftrace_set_list(ops, &ops->unwanted, buf, len, reset);
}

int register_ftrace_function(struct ftrace_ops *ops)
{
	mutex_lock(&ftrace_lock);
	int err = ops->registered ? -EBUSY : 0;
	if (!err) {
		ops->user = (struct hook_user){.fn = ftrace_call};
		err = hook_user_add(&ops->user);
	}
	if (!err) {
		err = ftrace_apply(ops);
		if (err)
			hook_user_remove(&ops->user);
	}
	if (!err)
		ops->registered = true;
	mutex_unlock(&ftrace_lock);
	return err;
}

int unregister_ftrace_function(struct ftrace_ops *ops)
{
	mutex_lock(&ftrace_lock);
	int err = ops->registered ? 0 : -EINVAL;
	if (!err)
		hook_user_remove(&ops->user);
	ops->registered = false;
	mutex_unlock(&ftrace_lock);
	return err;
}

void ftrace_free_filter(struct ftrace_ops *ops)
{
	kfree(ops->wanted);
	kfree(ops->unwanted);
	ops->wanted = ops->unwanted = NULL;
}
