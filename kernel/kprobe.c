/*
 * Probes: registering them. Task context, one at a time under `lock`. What happens at a hit is in kprobe_hit.c, what the machine
 * does in arch/x86_64/probe.c.
 *
 * Words: a site is an instruction with probes; it is wanted while one of them is enabled, armed while the int3 is in the text. A
 * site is in its bucket before it is armed, and stays until it is not: whoever traps there finds it.
 *
 * Removing, for any number of probes at once:
 *   1. the probes are taken from their sites; sites without any are not wanted
 *   2. int3s that are not wanted leave the text
 *   3. arch_probe_sync(): who had trapped has gone on, no handler of a removed probe runs
 *   4. sites without probes are taken from their buckets
 *   5. arch_probe_sync(): nobody looks at them, nor stands in their slots
 *   6. they are freed
 */
#include "kernel/kprobe.h"
#include "kernel/kprobe_site.h"
#include "kernel/lib/atomic.h"
#include "kernel/lib/errno.h"
#include "kernel/lib/string.h"
#include "kernel/mem/mem.h"
#include "kernel/sym.h"
#include "kernel/task/sync.h"

static struct mutex lock = MUTEX_INIT(lock);
static bool all_off;		  /* [P] none is armed, whatever is wanted */
static struct probe_site *doomed; /* [P] without probes, still in their buckets */

/* ---- sites --------------------------------------------------------------------------------------------------------- */

static struct probe_site *site_create(u64 addr, const char **why, int *err)
{
	struct probe_site *s = kzalloc(sizeof(*s));

	*err = s ? arch_probe_prepare(&s->arch, addr, false, why) : -ENOMEM;
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

	if (s->trapping)
		return 0;
	struct arch_probe *a = kzalloc(sizeof(*a));
	int err = a ? arch_probe_prepare(a, s->addr, true, &why) : -ENOMEM;
	if (err)
		kfree(a);
	else
		atomic_store_release(&s->trapping, a);
	return err;
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
	arch_probe_release(&s->arch);
	if (s->trapping)
		arch_probe_release(s->trapping);
	kfree(s->trapping);
	kfree(s);
}

static void site_look(struct probe_site *s)
{
	s->wanted = false;
	for (struct kprobe *p = s->first; p; p = p->next)
		s->wanted |= !(p->flags & KPROBE_FLAG_DISABLED);
}

/* Brings the text in line with what is wanted of the sites of these probes. */
static void arm_sites(struct kprobe *const *ps, unsigned n, bool on)
{
	struct arch_probe *batch[ARCH_PROBE_BATCH];
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++) {
		struct probe_site *s = ps[i]->site;
		if (!s || s->wanted != on || s->armed == on || (on && all_off))
			continue;
		s->armed = on;
		batch[k++] = &s->arch;
		if (k == ARCH_PROBE_BATCH) {
			arch_probe_arm(batch, k, on);
			k = 0;
		}
	}
	arch_probe_arm(batch, k, on);
}

/* ---- registering ---------------------------------------------------------------------------------------------------- */

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

static int nothing(struct kprobe *p, struct regs *r)
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
	if (!err && p->post_handler)
		err = site_trap(s);
	if (err) {
		if (s && !s->first)
			doom(s);
		return err;
	}
	p->nmissed = 0;
	if (!p->pre_handler)
		p->pre_handler = nothing;
	p->addr = (void *)addr;
	p->site = s;
	p->next = s->first;
	atomic_store_release(&s->first, p);
	site_look(s);
	return 0;
}

/* 1. Sites that lose their last probe are chained through `doomed`: readers may still follow `next`. */
static void detach(struct kprobe *p)
{
	struct kprobe **at = &p->site->first;

	while (*at != p)
		at = &(*at)->next;
	atomic_store_release(at, p->next);
	site_look(p->site);
	if (!p->site->first)
		doom(p->site);
}

/* 4. to 6. */
static void free_doomed(void)
{
	struct probe_site *s;

	for (s = doomed; s; s = s->doomed)
		site_unlink(s);
	if (doomed)
		arch_probe_sync();
	while ((s = doomed)) {
		doomed = s->doomed;
		site_free(s);
	}
}

static void detach_all(struct kprobe **ps, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (ps[i]->site)
			detach(ps[i]);
	arm_sites(ps, n, false); /* 2. */
	arch_probe_sync();	 /* 3. */
	free_doomed();
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

	mutex_lock(&lock);
	while (done < n && !(err = attach(ps[done])))
		done++;
	if (err) {
		detach_all(ps, done);
		free_doomed();
	} else {
		arm_sites(ps, n, true);
	}
	mutex_unlock(&lock);
	return err;
}

void unregister_kprobes(struct kprobe **ps, unsigned n)
{
	mutex_lock(&lock);
	detach_all(ps, n);
	mutex_unlock(&lock);
}

int register_kprobe(struct kprobe *p)
{
	return register_kprobes(&p, 1);
}

void unregister_kprobe(struct kprobe *p)
{
	unregister_kprobes(&p, 1);
}

/* ---- switching ------------------------------------------------------------------------------------------------------- */

static int switch_all(struct kprobe **ps, unsigned n, bool on)
{
	int err = 0;

	mutex_lock(&lock);
	for (unsigned i = 0; i < n; i++)
		if (!ps[i]->site)
			err = -EINVAL;
	for (unsigned i = 0; i < n && !err; i++) {
		if (on)
			atomic_and(&ps[i]->flags, ~KPROBE_FLAG_DISABLED);
		else
			atomic_or(&ps[i]->flags, KPROBE_FLAG_DISABLED);
		site_look(ps[i]->site);
	}
	if (!err)
		arm_sites(ps, n, on);
	mutex_unlock(&lock);
	return err;
}

int enable_kprobes(struct kprobe **ps, unsigned n)
{
	return switch_all(ps, n, true);
}

int disable_kprobes(struct kprobe **ps, unsigned n)
{
	return switch_all(ps, n, false);
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
static void arm_all(void)
{
	struct arch_probe *site;

	for (unsigned b = 0; b < PROBE_BUCKETS; b++)
		for (struct probe_site *s = probe_buckets[b]; s; s = s->next) {
			bool on = s->wanted && !all_off;
			if (s->armed == on)
				continue;
			s->armed = on;
			site = &s->arch;
			arch_probe_arm(&site, 1, on);
		}
}

void kprobes_switch(bool on)
{
	mutex_lock(&lock);
	all_off = !on;
	arm_all();
	mutex_unlock(&lock);
}

bool kprobes_are_on(void)
{
	return !all_off;
}

/* ---- what there is --------------------------------------------------------------------------------------------------- */

static void show_probe(struct seq *out, const struct kprobe *p, const struct probe_site *s)
{
	char where[128];

	sym_print(where, sizeof(where), s->addr, true);
	where[strcspn(where, "/")] = '\0';
	seq_printf(out, "%016llx  %c  %s  %s\n", (unsigned long long)s->addr,
	    kretprobe_is(p) ? 'r' : 'k', where,
	    p->flags & KPROBE_FLAG_DISABLED ? "[DISABLED]" : "");
}

void kprobes_show(struct seq *out)
{
	mutex_lock(&lock);
	for (unsigned b = 0; b < PROBE_BUCKETS; b++)
		for (const struct probe_site *s = probe_buckets[b]; s; s = s->next)
			for (const struct kprobe *p = s->first; p; p = p->next)
				show_probe(out, p, s);
	mutex_unlock(&lock);
}
