/*
 * The arguments and the environment on their way from one program to the next: copied once into
 * kernel memory, counted against EXEC_ARGS_MAX as they come. Task context.
 */
#include "kernel/process/exec.h"

#include "arch/arch.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"

#define FIRST_SIZE 1024

void exec_args_free(struct exec_args *a)
{
	kfree(a->strings);
	a->strings = NULL;
}

/*
 * Bytes the strings may have with one more pointer beside those that are counted and the two NULLs.
 */
static size_t exec_args_max(const struct exec_args *a)
{
	size_t pointers = (a->argc + a->envc + 3UL) * sizeof(u64);

	return pointers < EXEC_ARGS_MAX ? EXEC_ARGS_MAX - pointers : 0;
}

/* Room for at least one more byte, more where it can be had. */
static int exec_args_grow(struct exec_args *a)
{
	size_t max = exec_args_max(a), size;
	char *bigger;

	if (a->len >= max)
		return -E2BIG;
	if (a->len < a->size)
		return 0;
	size = MIN(MAX(a->size * 2, (size_t)FIRST_SIZE), EXEC_ARGS_MAX);
	bigger = krealloc(a->strings, size);
	if (!bigger)
		return -ENOMEM;
	a->strings = bigger;
	a->size = size;
	return 0;
}

static void count(struct exec_args *a, bool env)
{
	if (env)
		a->envc++;
	else
		a->argc++;
}

int exec_args_add(struct exec_args *a, const char *s, bool env)
{
	size_t left = strlen(s) + 1;

	while (left) {
		int err = exec_args_grow(a);
		size_t part = MIN(left, MIN(a->size, exec_args_max(a)) - a->len);

		if (err)
			return err;
		memcpy(a->strings + a->len, s, part);
		a->len += part;
		s += part;
		left -= part;
	}
	count(a, env);
	return 0;
}

/*
 * One string of ring 3. What did not fit is fetched from where the copy stopped: no byte is read
 * twice.
 */
static int add_from_user(struct exec_args *a, u64 src, bool env)
{
	for (;;) {
		int err = exec_args_grow(a);
		size_t room;
		long n;

		if (err)
			return err;
		room = MIN(a->size, exec_args_max(a)) - a->len;
		n = strncpy_from_user(a->strings + a->len, src, room);
		if (n >= 0) {
			a->len += n + 1;
			count(a, env);
			return 0;
		}
		if (n != -ENAMETOOLONG)
			return n;
		a->len += room;
		src += room;
	}
}

static int exec_args_array(struct exec_args *a, u64 array, bool env)
{
	u64 p;
	int err;

	for (; array; array += sizeof(p)) {
		err = copy_from_user(&p, array, sizeof(p));
		if (err)
			return err;
		if (!p)
			break;
		err = add_from_user(a, p, env);
		if (err)
			return err;
	}
	return 0;
}

int exec_args_from_user(struct exec_args *a, u64 argv, u64 envp)
{
	int err = exec_args_array(a, argv, false);

	if (!err && !a->argc)
		err = exec_args_add(a, "", false); /* as Linux: no program without a name */
	return err ? err : exec_args_array(a, envp, true);
}
