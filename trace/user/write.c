/*
 * Rare parts of writing a user event (write.h): checks of the payload, and writes larger than any
 * record. Task context; no lock, no allocation.
 */
/* hot: runs with each event */
#include "trace/user/write.h"
#include "trace/host_context.h"

/*
 * The data must end inside the record, and text with a NUL. As on Linux that is the byte before the
 * data's end even if there is no data: mostly of the field before it, or of the common fields,
 * which are filled in for it.
 */
static bool check_passes(const struct user_event_check *c, const u8 *rec, size_t size)
{
	u32 loc;

	memcpy(&loc, rec + c->offset, sizeof(loc));
	size_t end = (loc & 0xffff) + (loc >> 16);
	if (c->relative)
		end += c->offset + sizeof(loc);
	return end <= size && (!c->text || !end || !rec[end - 1]);
}

bool user_event_checks_pass(const struct user_event *ev, void *rec, size_t size)
{
	struct host_context ctx;

	host_context(&ctx);
	*(trace_word_t *)rec = ctx.common | ev->call.id;
	for (u32 i = 0; i < ev->n_checks; i++)
		if (!check_passes(&ev->checks[i], rec, size))
			return false;
	return true;
}

/* Each ring is asked all the same, so that it counts why not. */
void user_event_write_huge(struct user_event *ev)
{
	host_preempt_disable();
	struct trace_event_file *file = READ_ONCE(ev->call.live);
	if (file)
		trace_gate_no_image(file, RB_MAX_DATA + 1);
	host_preempt_enable();
}
