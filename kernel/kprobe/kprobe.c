/*
 * Probes: registering them. Task context, one at a time under kprobe_lock. What happens at a hit is
 * in hit.c, what the machine does in arch/x86_64/probe/probe.c.
 *
 * Words: a site is an instruction with probes; it is wanted while one of them is enabled, armed
 * while the int3 is in the text, or the jump that jump.c makes of it. A site is in its bucket
 * before it is armed, and stays until it is not: whoever traps there finds it. What changes a site
 * makes its jump an int3 again first.
 *
 * Removing, for any number of probes at once:
 *   1. the probes are taken from their sites; sites without any are not wanted
 *   2. int3s that are not wanted leave the text
 *   3. arch_probe_sync(): who had trapped has gone on, no handler of a removed probe runs, nobody
 *      stands in a slot for one that wanted to know when its instruction had run
 *   4. sites without probes are taken from their buckets
 *   5. arch_probe_sync(): nobody looks at them, nor stands in their slots and detours
 *   6. they are freed
 */
#include "kernel/kprobe/kprobe.h"
#include "kernel/kprobe/hook.h"
#include "kernel/kprobe/site.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/base/printk.h"
#include "kernel/base/sym.h"
#include "kernel/task/sync.h"

struct mutex kprobe_lock = MUTEX_INIT(kprobe_lock);
bool kprobes_all_off;
static struct probe_site *doomed; /* [P] without probes, still in their buckets */

/* ---- sites ---- */

static struct probe_site *site_create(u64 addr, const char **why, int *err)
{
	struct probe_site *s = kzalloc(sizeof(*s));

	*err = s ? arch_probe_prepare(&s->arch, addr, false, why) : -ENOMEM;
	if (!*err && hook_at(addr)) {
		s->hooked = true;
		*err = hook_prepare();
	}
	if (*err) {
		kfree(s);
		return NULL;
	}
	s->addr = addr;
	s->next = probe_buckets[probe_bucket(addr)];
	atomic_store_release(&probe_buckets[probe_bucket(addr)], s);
	return s;
}

/* For post handlers; once made it stays as long as the site. */
static int site_trap(struct probe_site *s)
{
	const char *why;

	if (s->trapping || s->hooked)
		return 0;
	struct arch_probe *a = kzalloc(sizeof(*a));
	int err = a ? arch_probe_prepare(a, s->addr, true, &why) : -ENOMEM;
	if (err)
		kfree(a);
	else
		atomic_store_release(&s->trapping, a);
	return err;
}

static bool site_wants_trap(const struct probe_site *s)
{
	for (const struct kprobe *p = s->first; p; p = p->next)
		if (p->post_handler)
			return true;
	return false;
}

/* Nobody traps after its copy from now on; freed when nobody is there: site_free_untrapped(). */
static void site_untrap(struct probe_site *s)
{
	s->untrapped = s->trapping;
	WRITE_ONCE(s->trapping, NULL);
	arch_probe_leave(s->untrapped);
}

static void site_free_untrapped(struct probe_site *s)
{
	if (!s->untrapped)
		return;
	arch_probe_release(s->untrapped);
	kfree(s->untrapped);
	s->untrapped = NULL;
}

static void site_unlink(struct probe_site *s)
{
	struct probe_site **at = &probe_buckets[probe_bucket(s->addr)];

	while (*at != s)
		at = &(*at)->next;
	atomic_store_release(at, s->next);
}

static void doom(struct probe_site *s)
{
	s->doomed = doomed;
	doomed = s;
}

static void site_free(struct probe_site *s)
{
	arch_jump_release(&s->arch);
	arch_probe_release(&s->arch);
	kfree(s);
}

static void kprobe_look_up(struct probe_site *s)
{
	bool post = false, arguments = s->hooked;
	struct kprobe *reader = NULL;
	unsigned enabled = 0;

	for (struct kprobe *p = s->first; p; p = p->next) {
		post |= p->post_handler != NULL;
		if (p->flags & KPROBE_FLAG_DISABLED)
			continue;
		enabled++;
		reader = p;
		arguments &= p->flags / KPROBE_FLAG_ARGUMENTS;
	}
	arguments &= !post;
	s->wanted = !enabled ? HOOK_NO_PROBES : arguments ? HOOK_ARGUMENT_PROBES : HOOK_PROBES;
	WRITE_ONCE(s->argument_reader, arguments && enabled == 1 ? reader : NULL);
	WRITE_ONCE(s->post, post);
}

/* Sites that change together, in the same way: breakpoints, and hooks. */
struct arming {
	struct arch_probe *probes[ARCH_PROBE_BATCH];
	u64 hooks[ARCH_PROBE_BATCH];
	unsigned n_probes, n_hooks;
	enum hook_probes to;
};

static void kprobe_arming_flush(struct arming *a)
{
	arch_probe_arm(a->probes, a->n_probes, a->to);
	if (a->n_hooks)
		hook_set_probes(a->hooks, a->n_hooks, a->to);
	a->n_probes = a->n_hooks = 0;
}

/* Adds a site whose text is not as it is wanted. */
static void kprobe_arming_add(struct arming *a, struct probe_site *s)
{
	enum hook_probes to = kprobes_all_off ? HOOK_NO_PROBES : s->wanted;

	if (s->armed == to)
		return;
	if (a->to != to || a->n_hooks == ARCH_PROBE_BATCH || a->n_probes == ARCH_PROBE_BATCH)
		kprobe_arming_flush(a);
	a->to = s->armed = to;
	if (s->hooked)
		a->hooks[a->n_hooks++] = s->addr;
	else
		a->probes[a->n_probes++] = &s->arch;
}

/* Brings the text in line with what is wanted of the sites of these probes. */
static void kprobe_arm_all(struct kprobe *const *ps, unsigned n)
{
	struct arming arming = {.n_probes = 0};

	kprobe_unoptimize_several(ps, n);
	for (unsigned i = 0; i < n; i++)
		if (ps[i]->site)
			kprobe_arming_add(&arming, ps[i]->site);
	kprobe_arming_flush(&arming);
	kprobe_kick_optimizer();
}

/* ---- registering ---- */

static int find_address(const struct kprobe *p, u64 *addr)
{
	unsigned count = 0;

	if (!p->symbol_name == !p->addr)
		return -EINVAL;
	*addr = p->addr ? (u64)p->addr : sym_address(p->symbol_name, &count);
	if (!*addr)
		return -ENOENT;
	if (count > 1)
		return -EADDRNOTAVAIL;
	*addr += p->offset;
	return 0;
}

static int kprobe_nothing(struct kprobe *p, struct regs *r)
{
	(void)p;
	(void)r;
	return 0;
}

static int attach(struct kprobe *p)
{
	u64 addr;
	int err = p->site ? -EINVAL : find_address(p, &addr);

	p->why = NULL;
	if (err)
		return err;
	struct probe_site *s = probe_site_at(addr);
	if (!s)
		s = site_create(addr, &p->why, &err);
	if (!err && p->post_handler) {
		kprobe_unoptimize(s); /* it would come to what the jump covers */
		err = site_trap(s);
	}
	if (err) {
		if (s && !s->first)
			doom(s);
		return err;
	}
	p->nmissed = 0;
	if (!p->pre_handler)
		p->pre_handler = kprobe_nothing;
	p->addr = (void *)addr;
	p->site = s;
	p->next = s->first;
	atomic_store_release(&s->first, p);
	kprobe_look_up(s);
	return 0;
}

/*
 * 1. Sites that lose their last probe are chained through `doomed`: readers may still follow
 *    `next`.
 */
static void detach(struct kprobe *p)
{
	struct kprobe **at = &p->site->first;

	while (*at != p)
		at = &(*at)->next;
	atomic_store_release(at, p->next);
	kprobe_look_up(p->site);
	if (p->site->trapping && !site_wants_trap(p->site))
		site_untrap(p->site);
	if (!p->site->first)
		doom(p->site);
}

/* 4. to 6. */
static void kprobe_free_retired(void)
{
	struct probe_site *s;

	for (s = doomed; s; s = s->doomed) {
		site_unlink(s);
		arch_probe_leave(&s->arch);
	}
	if (doomed)
		arch_probe_sync();
	while ((s = doomed)) {
		doomed = s->doomed;
		site_free(s);
	}
}

static void kprobe_detach_all(struct kprobe **ps, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (ps[i]->site)
			detach(ps[i]);
	kprobe_arm_all(ps, n); /* 2. */
	arch_probe_sync();     /* 3. */
	for (unsigned i = 0; i < n; i++)
		if (ps[i]->site)
			site_free_untrapped(ps[i]->site);
	kprobe_free_retired();
	for (unsigned i = 0; i < n; i++) {
		if (ps[i]->site && ps[i]->symbol_name)
			ps[i]->addr = NULL;
		ps[i]->site = NULL;
	}
}

int register_kprobes(struct kprobe **ps, unsigned n)
{
	unsigned done = 0;
	int err = 0;

	mutex_lock(&kprobe_lock);
	while (done < n && !(err = attach(ps[done])))
		done++;
	if (err)
		kprobe_detach_all(ps, done);
	else
		kprobe_arm_all(ps, n);
	mutex_unlock(&kprobe_lock);
	return err;
}

void unregister_kprobes(struct kprobe **ps, unsigned n)
{
	mutex_lock(&kprobe_lock);
	kprobe_detach_all(ps, n);
	mutex_unlock(&kprobe_lock);
}

int register_kprobe(struct kprobe *p)
{
	return register_kprobes(&p, 1);
}

void unregister_kprobe(struct kprobe *p)
{
	unregister_kprobes(&p, 1);
}

/* ---- switching ---- */

static int kprobe_switch_all(struct kprobe **ps, unsigned n, bool on)
{
	int err = 0;

	mutex_lock(&kprobe_lock);
	for (unsigned i = 0; i < n; i++)
		if (!ps[i]->site)
			err = -EINVAL;
	for (unsigned i = 0; i < n && !err; i++) {
		if (on)
			atomic_and(&ps[i]->flags, ~KPROBE_FLAG_DISABLED);
		else
			atomic_or(&ps[i]->flags, KPROBE_FLAG_DISABLED);
		kprobe_look_up(ps[i]->site);
	}
	if (!err)
		kprobe_arm_all(ps, n);
	mutex_unlock(&kprobe_lock);
	return err;
}

int enable_kprobes(struct kprobe **ps, unsigned n)
{
	return kprobe_switch_all(ps, n, true);
}

int disable_kprobes(struct kprobe **ps, unsigned n)
{
	return kprobe_switch_all(ps, n, false);
}

int enable_kprobe(struct kprobe *p)
{
	return enable_kprobes(&p, 1);
}

int disable_kprobe(struct kprobe *p)
{
	return disable_kprobes(&p, 1);
}

/* Every site whose int3 is not as it is wanted. */
static void kprobe_arm_wanted(void)
{
	struct arming arming = {.n_probes = 0};

	kprobe_unoptimize_all();
	for (unsigned b = 0; b < PROBE_BUCKETS; b++)
		for (struct probe_site *s = probe_buckets[b]; s; s = s->next)
			kprobe_arming_add(&arming, s);
	kprobe_arming_flush(&arming);
	kprobe_kick_optimizer();
}

void kprobes_switch(bool on)
{
	mutex_lock(&kprobe_lock);
	if (kprobes_all_off == on) {
		kprobes_all_off = !on;
		kprobe_arm_wanted();
		pr_info("kprobes: Kprobes globally %s", on ? "enabled" : "disabled");
	}
	mutex_unlock(&kprobe_lock);
}

bool kprobes_are_on(void)
{
	return !kprobes_all_off;
}

/* ---- what there is ---- */

static void show_probe(struct seq *out, const struct kprobe *p, struct probe_site *s)
{
	char where[128];

	sym_print(where, sizeof(where), s->addr, true);
	where[strcspn(where, "/")] = '\0';
	/*
	 * Linux has the name of a module after the place, and says of each probe of a place that
	 * it is optimized.
	 */
	seq_printf(out, "%016llx  %c  %s    %s%s\n", (unsigned long long)s->addr,
	    kretprobe_is(p) ? 'r' : 'k', where, p->flags & KPROBE_FLAG_DISABLED ? "[DISABLED]" : "",
	    s->hooked		     ? "[FTRACE]"
	    : kprobe_is_optimized(s) ? "[OPTIMIZED]"
				     : "");
}

void kprobes_show(struct seq *out)
{
	mutex_lock(&kprobe_lock);
	for (unsigned b = 0; b < PROBE_BUCKETS; b++)
		for (struct probe_site *s = probe_buckets[b]; s; s = s->next)
			for (const struct kprobe *p = s->first; p; p = p->next)
				show_probe(out, p, s);
	mutex_unlock(&kprobe_lock);
}

bool kprobe_in_image(u64 addr)
{
	return arch_probe_in_image(addr);
}
