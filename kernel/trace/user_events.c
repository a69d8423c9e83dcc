/*
 * The file user_events_data: programs register, unregister and delete events (ioctl) and write
 * them. Task context.
 *
 * Each byte of a program's memory is read once, into the kernel's, and checked there: it may change
 * at any time. Everything is decoded and everything that can fail with memory is tried before
 * anything is changed.
 */
/* hot: runs with each event */
#include "kernel/trace/user_events.h"

#include "arch/arch.h"
#include "kernel/abi/user_events.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/process/mm.h"
#include "kernel/syscall/user.h"
#include "kernel/trace/enablers.h"
#include "trace/event/event.h"
#include "trace/ring/ring.h"
#include "trace/tracefs/tracefs.h"
#include "trace/user/write.h"

#define RECORD_HEAD  sizeof(struct trace_entry)
#define RECORD_SMALL 256 /* on the stack */

/* ---- structs whose first word says how long they are ---- */

/*
 * A non-zero byte beyond the struct that is known here requests an extension that is not supported:
 * -E2BIG, as on Linux.
 */
static int check_tail(const u8 *tail, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (tail[i])
			return -E2BIG;
	return 0;
}

/* All of the struct at uaddr, in a page; its size or negative errno. */
static long user_events_get_struct(u64 uaddr, size_t least, u8 **out)
{
	u32 size;
	int err = copy_from_user(&size, uaddr, sizeof(size));

	if (err)
		return err;
	if (size > PAGE_SIZE)
		return -E2BIG;
	if (size < least)
		return -EINVAL;
	u8 *buf = kmalloc(size);
	if (!buf)
		return -ENOMEM;
	memcpy(buf, &size, sizeof(size));
	err = copy_from_user(buf + sizeof(size), uaddr + sizeof(size), size - sizeof(size));
	if (err) {
		kfree(buf);
		return err;
	}
	*out = buf;
	return size;
}

/* A string of ring 3, as long as a definition may be. */
static int get_text(u64 uaddr, char text[USER_EVENT_TEXT_MAX])
{
	long n = strncpy_from_user(text, uaddr, USER_EVENT_TEXT_MAX);

	return n == -ENAMETOOLONG ? -EINVAL : n < 0 ? n : 0;
}

/* ---- DIAG_IOCSREG ---- */

/* One call, decoded. */
struct registration {
	bool older;
	u64 name_args, index_addr;
	u64 bit_addr; /* older: where the number of the bit is to go */
	u64 word;     /* newer: where the bit is */
	u32 bit, how;
};

static bool can_be_text(u64 addr)
{
	return addr >= USER_START && addr < USER_END;
}

/*
 * A struct of 28 bytes or more is of the newer layout, unless it is one of the older that somebody
 * made longer: then the address of the name stands where the older has it, and none where the newer
 * has it.
 */
static bool is_newer(const u8 *buf, size_t size)
{
	const struct user_reg_bit *older = (const void *)buf;
	const struct user_reg_word *newer = (const void *)buf;

	return size >= sizeof(*newer) &&
	       (can_be_text(newer->name_args) || !can_be_text(older->name_args));
}

static int decode_older(const u8 *buf, size_t size, u64 uaddr, struct registration *r)
{
	const struct user_reg_bit *reg = (const void *)buf;

	*r = (struct registration){
	    .older = true,
	    .name_args = reg->name_args,
	    .index_addr = uaddr + offsetof(struct user_reg_bit, write_index),
	    .bit_addr = uaddr + offsetof(struct user_reg_bit, status_bit),
	    .how = USER_EVENT_LAX,
	};
	return check_tail(buf + sizeof(*reg), size - sizeof(*reg));
}

static int decode_newer(const u8 *buf, size_t size, u64 uaddr, struct registration *r)
{
	const struct user_reg_word *reg = (const void *)buf;
	int err = check_tail(buf + sizeof(*reg), size - sizeof(*reg));

	*r = (struct registration){
	    .name_args = reg->name_args,
	    .index_addr = uaddr + offsetof(struct user_reg_word, write_index),
	    .word = reg->enable_addr,
	    .bit = reg->enable_bit,
	    .how = reg->flags,
	};
	if (err)
		return err;
	if (reg->flags & ~(USER_EVENT_REG_MAX - 1))
		return -EINVAL;
	if (reg->enable_size != 4 && reg->enable_size != 8)
		return -EINVAL;
	if (reg->enable_addr % reg->enable_size || reg->enable_bit >= reg->enable_size * 8)
		return -EINVAL;
	if (reg->enable_addr > USER_END - reg->enable_size)
		return -EFAULT;
	return user_enablers_has(r->word, r->bit) ? -EADDRINUSE : 0;
}

static int decode_registration(u64 uaddr, struct registration *r)
{
	u8 *buf;
	long size = user_events_get_struct(uaddr, sizeof(struct user_reg_bit), &buf);

	if (size < 0)
		return size;
	int err = is_newer(buf, size) ? decode_newer(buf, size, uaddr, r)
				      : decode_older(buf, size, uaddr, r);
	kfree(buf);
	return err;
}

/* Two u32 that may lie anywhere, each in two pages even. No page is touched twice in a row. */
static bool user_events_can_write(u64 a, u64 b)
{
	u64 bytes[] = {a, a + sizeof(u32) - 1, b, b + sizeof(u32) - 1}, touched = 1;

	for (unsigned i = 0; i < ARRAY_SIZE(bytes); i++) {
		u64 page = ALIGN_DOWN(bytes[i], PAGE_SIZE);
		if (page != touched && mm_touch(current()->mm, bytes[i]))
			return false;
		touched = page;
	}
	return true;
}

static int answer(const struct registration *r, u32 index, const struct user_event *ev)
{
	int err = copy_to_user(r->index_addr, &index, sizeof(index));

	if (!err && r->older)
		err = copy_to_user(r->bit_addr, &ev->bit, sizeof(ev->bit));
	return err;
}

static long user_events_ioctl_register(struct file *f, u64 uaddr)
{
	char text[USER_EVENT_TEXT_MAX];
	struct registration r = {0};
	struct user_event *ev;
	int err = decode_registration(uaddr, &r);

	if (!err)
		err = get_text(r.name_args, text);
	if (err)
		return err;
	if (!user_events_can_write(r.index_addr, r.older ? r.bit_addr : r.word))
		return -EFAULT;
	long index = user_events_register(f->priv, text, r.how, &ev);
	if (index < 0)
		return index;
	if (!r.older)
		err = user_enablers_add(r.word, r.bit, ev);
	return err ? err : answer(&r, index, ev);
}

/* ---- DIAG_IOCSDEL, DIAG_IOCSUNREG ---- */

static long user_events_ioctl_delete(u64 uaddr)
{
	char name[USER_EVENT_TEXT_MAX];
	int err = get_text(uaddr, name);

	return err ? err : user_events_delete(name);
}

static long ioctl_unregister(u64 uaddr)
{
	struct user_unreg reg;
	u8 *buf;
	long size = user_events_get_struct(uaddr, sizeof(reg), &buf);

	if (size < 0)
		return size;
	int err = check_tail(buf + sizeof(reg), size - sizeof(reg));
	memcpy(&reg, buf, sizeof(reg));
	kfree(buf);
	if (err)
		return err;
	if (reg.__reserved || reg.__reserved2)
		return -EINVAL;
	return user_enablers_remove(reg.disable_addr, reg.disable_bit);
}

static long user_events_data_ioctl(struct file *f, u64 cmd, u64 arg)
{
	switch (cmd) {
	case DIAG_IOCSREG:
		return user_events_ioctl_register(f, arg);
	case DIAG_IOCSDEL:
		return user_events_ioctl_delete(arg);
	case DIAG_IOCSUNREG:
		return ioctl_unregister(arg);
	default:
		return -ENOTTY;
	}
}

/* ---- write, writev, pwrite ---- */

/*
 * What no record can hold is read all the same: a bad address is an error whatever becomes of the
 * rest.
 */
static int read_huge(struct user_data *d, size_t left)
{
	u8 *buf = kmalloc(PAGE_SIZE);
	int err = buf ? 0 : -ENOMEM;

	while (left && !err) {
		size_t n = MIN(left, PAGE_SIZE);

		err = user_data_get(d, buf, n);
		left -= n;
	}
	kfree(buf);
	return err;
}

static int write_huge(struct user_event *ev, struct user_data *d, size_t size)
{
	int err = read_huge(d, size);

	if (!err)
		user_event_write_huge(ev);
	return err;
}

static int write_large(struct user_event *ev, struct user_data *d, size_t size)
{
	u8 *rec = kzalloc(ALIGN_UP(RECORD_HEAD + size, sizeof(u32)));
	int err = rec ? user_data_get(d, rec + RECORD_HEAD, size) : -ENOMEM;

	if (!err)
		err = user_event_write(ev, rec, RECORD_HEAD + size);
	kfree(rec);
	return err;
}

/* Whatever its size, in however many parts. */
static __noinline ssize user_events_write_slowly(
    const struct user_events_file *f, struct user_data *d)
{
	size_t total = d->total, size = total - sizeof(s32);
	struct user_event *ev;
	s32 index;

	if (user_data_get(d, &index, sizeof(index)))
		return -EFAULT;
	int err = user_events_find(f, index, size, &ev);
	if (!err)
		err = size > RB_MAX_DATA - RECORD_HEAD ? write_huge(ev, d, size)
						       : write_large(ev, d, size);
	return err ? err : (ssize)total;
}

/*
 * A record on the stack. The index stands just before the payload, in the place of a common field
 * that is filled in later.
 */
struct small_record {
	u32 type;
	s32 index;
	u8 payload[RECORD_SMALL - RECORD_HEAD + sizeof(u32)];
};

/*
 * Of `total` bytes from `base` on all but `left` could be read. If the fault is in the index
 * itself, report that error first.
 */
static __noinline ssize user_events_write_faulted(
    const struct user_events_file *f, u64 base, size_t total, size_t left, struct small_record *rec)
{
	size_t got = total - left;
	struct user_event *ev;

	if (got < sizeof(rec->index) &&
	    copy_from_user((u8 *)&rec->index + got, base + got, sizeof(rec->index) - got))
		return -EFAULT;
	int err = user_events_find(f, rec->index, total - sizeof(rec->index), &ev);
	return err ? err : -EFAULT;
}

static inline __attribute__((always_inline)) ssize write_small(
    const struct user_event *ev, struct small_record *rec, size_t total)
{
	size_t size = RECORD_HEAD + total - sizeof(rec->index);
	int err = user_event_write(ev, rec, size);

	return unlikely(err) ? err : (ssize)total;
}

/*
 * The errors come in Linux's order: index, event, size, whether anyone listens; only then the
 * payload is looked at. Two shapes have a short way: all in one piece, which is read at once; and
 * the index alone in the first of two.
 */
static ssize user_events_data_write_user(struct file *file, struct user_data *d, u64 pos)
{
	const struct user_events_file *f = file->priv;
	size_t total = d->total, size = total - sizeof(s32), left;
	struct small_record rec;
	struct user_event *ev;
	int err;

	if (unlikely(pos || total < sizeof(s32)))
		return -EFAULT;
	if (unlikely(size > RECORD_SMALL - RECORD_HEAD))
		return user_events_write_slowly(f, d);
	*(u32 *)(rec.payload + ALIGN_DOWN(size, sizeof(u32))) =
	    0; /* of this stack nothing may reach a ring */
	if (likely(d->len == total)) {
		left = copy_from_user_left(&rec.index, d->base, total);
		if (unlikely(left))
			return user_events_write_faulted(f, d->base, total, left, &rec);
		err = user_events_find(f, rec.index, size, &ev);
		return unlikely(err) ? err : write_small(ev, &rec, total);
	}
	if (unlikely(d->len != sizeof(rec.index) || d->more->iov_len != size))
		return user_events_write_slowly(f, d);
	if (unlikely(get_user_u32((u32 *)&rec.index, d->base)))
		return -EFAULT;
	err = user_events_find(f, rec.index, size, &ev);
	if (unlikely(err))
		return err;
	if (unlikely(copy_from_user(rec.payload, d->more->iov_base, size)))
		return -EFAULT;
	return write_small(ev, &rec, total);
}

static struct tracefs_file *owner_of(const struct file *f)
{
	return ((const struct user_events_file *)f->priv)->owner;
}

/* From the kernel's memory: its own shell writes so. There is no place that moves. */
static ssize user_events_data_write(struct file *f, const void *buf, size_t n, u64 *pos)
{
	u64 nowhere = 0;

	return *pos ? -EFAULT : tracefs_write(owner_of(f), buf, n, &nowhere);
}

static ssize user_events_data_read(struct file *f, void *buf, size_t n, u64 *pos)
{
	return tracefs_read(owner_of(f), buf, n, pos);
}

static s64 user_events_data_seek(struct file *f, s64 off, int whence)
{
	(void)f, (void)off, (void)whence;
	return -ESPIPE;
}

static unsigned user_events_data_poll(struct file *f)
{
	return tracefs_poll(owner_of(f));
}

static void user_events_data_release(struct file *f)
{
	tracefs_release(owner_of(f));
}

const struct file_ops user_events_file_ops = {
    .read = user_events_data_read,
    .write = user_events_data_write,
    .write_user = user_events_data_write_user,
    .ioctl = user_events_data_ioctl,
    .poll = user_events_data_poll,
    .seek = user_events_data_seek,
    .release = user_events_data_release,
};
