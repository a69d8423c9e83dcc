/*
 * Patching the hooks of functions: a nop, or a call of one of the entries in hook.S. Task context,
 * under the caller's lock.
 */
#include "arch/x86_64/irq/trap.h"
#include "arch/x86_64/probe/probe.h"
#include "kernel/lib/string.h"

_Static_assert(HOOK_DIRECT == ARCH_HOOK_DIRECT && ARCH_HOOK_CALLS == HOOK_DIRECT &&
		   ARCH_HOOK_ASKS == 2 * HOOK_DIRECT,
    "hook.S makes the entries");
_Static_assert(offsetof(struct hook_user, enter) == HOOK_USER_ENTER &&
		   offsetof(struct hook_user, leave) == HOOK_USER_LEAVE &&
		   offsetof(struct hook_user, calls) == HOOK_USER_CALLS &&
		   sizeof(struct hook_call) == HOOK_CALL_SIZE,
    "hook.S calls users");
_Static_assert(offsetof(struct hook_returned, to) == HOOK_RETURNED_TO, "hook.S makes it");
_Static_assert(offsetof(struct regs, r9) == REGS_R9 &&
		   offsetof(struct regs, rsp) - REGS_R9 + 8 == HOOK_ARGUMENTS,
    "hook.S makes the part of struct regs from there on");
_Static_assert(offsetof(struct arch_task, shadow) == TASK_SHADOW &&
		   offsetof(struct shadow, top) == SHADOW_TOP &&
		   offsetof(struct shadow_record, slot) == RECORD_SLOT &&
		   offsetof(struct shadow_record, ret) == RECORD_RET &&
		   offsetof(struct shadow_record, owner) == RECORD_OWNER &&
		   offsetof(struct shadow_record, size) == RECORD_SIZE,
    "hook.S reads them");

enum { OP_CALL = 0xe8 };

extern const char hook_entries[], hook_call_entries[], hook_asking[], hook_entries_end[],
    hook_many[], hook_probe[], hook_arguments[];

/* As tools/hooks makes it. */
static const u8 nop[ARCH_HOOK_LEN] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

void __noprobe arch_hook_nop(u8 code[ARCH_HOOK_LEN])
{
	for (unsigned i = 0; i < ARCH_HOOK_LEN; i++)
		code[i] = nop[i];
}

u64 arch_hook_entry(int to)
{
	if (to == ARCH_HOOK_MANY)
		return (u64)hook_many;
	if (to == ARCH_HOOK_PROBE)
		return (u64)hook_probe;
	if (to == ARCH_HOOK_ARGUMENTS)
		return (u64)hook_arguments;
	if (to == ARCH_HOOK_OFF)
		return 0;
	if (to >= ARCH_HOOK_ASKS)
		return (u64)hook_asking + (to - ARCH_HOOK_ASKS) * HOOK_ASKING;
	if (to >= ARCH_HOOK_CALLS)
		return (u64)hook_call_entries + (to - ARCH_HOOK_CALLS) * HOOK_CALL_ENTRY;
	return (u64)hook_entries + to * HOOK_ENTRY;
}

bool __noprobe arch_hook_in_entry(u64 rip)
{
	return rip - (u64)hook_entries < (u64)(hook_entries_end - hook_entries);
}

void arch_hooks_set(const struct arch_hook *hooks, unsigned n)
{
	static struct text_patch patches[ARCH_HOOK_BATCH];

	for (unsigned i = 0; i < n; i++) {
		struct text_patch *p = &patches[i];
		u64 entry = arch_hook_entry(hooks[i].to);

		p->addr = (void *)hooks[i].addr;
		p->len = ARCH_HOOK_LEN;
		if (entry) {
			p->bytes[0] = OP_CALL;
			probe_put_s32(p->bytes + 1, entry - (hooks[i].addr + ARCH_HOOK_LEN));
		} else {
			memcpy(p->bytes, nop, ARCH_HOOK_LEN);
		}
	}
	if (n)
		text_patch(patches, n);
}
