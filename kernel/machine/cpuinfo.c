/*
 * /proc/cpuinfo, as Linux writes it. What CPUID says is asked of the CPU that reads; Trapline runs
 * where all are alike. Task context, without a lock: nothing is kept.
 */
#include "arch/arch.h"
#include "kernel/fs/proc.h"
#include "kernel/fs/dev.h"
#include "kernel/lib/fmt.h"
#include "kernel/machine/machine.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"

enum { EAX, EBX, ECX, EDX };

/* Linux's names of the features, by leaf and register; bits without a name are not shown. */
static const struct {
	u32 leaf;
	u8 reg;
	const char *names; /* of bits 0.., a blank between; '-': none */
} words[] = {
    {1, EDX,
	"fpu vme de pse tsc msr pae mce cx8 apic - sep mtrr pge mca cmov pat pse36 pn clflush - "
	"dts acpi mmx fxsr sse sse2 ss ht tm ia64 pbe"},
    {0x80000001, EDX,
	"- - - - - - - - - - - syscall - - - - - - - mp nx - mmxext - - fxsr_opt pdpe1gb rdtscp - "
	"lm 3dnowext 3dnow"},
    {1, ECX,
	"pni pclmulqdq dtes64 monitor ds_cpl vmx smx est tm2 ssse3 cid sdbg fma cx16 xtpr pdcm - "
	"pcid dca sse4_1 sse4_2 x2apic movbe popcnt tsc_deadline_timer aes xsave - avx f16c rdrand "
	"hypervisor"},
    {0x80000001, ECX,
	"lahf_lm cmp_legacy svm extapic cr8_legacy abm sse4a misalignsse 3dnowprefetch osvw ibs "
	"xop "
	"skinit wdt - lwp fma4 tce - nodeid_msr - tbm topoext perfctr_core perfctr_nb - bpext ptsc "
	"perfctr_llc mwaitx - -"},
    {7, EBX,
	"fsgsbase tsc_adjust sgx bmi1 hle avx2 - smep bmi2 erms invpcid rtm cqm - mpx rdt_a "
	"avx512f "
	"avx512dq rdseed adx smap avx512ifma - clflushopt clwb intel_pt avx512pf avx512er avx512cd "
	"sha_ni avx512bw avx512vl"},
    {7, ECX, "- avx512vbmi umip pku ospke waitpkg - - gfni vaes vpclmulqdq - - - - - la57"},
};

static u32 highest(u32 base)
{
	u32 r[4];

	arch_cpuid(base, 0, r);
	return r[EAX];
}

static void show_flags(struct seq *s)
{
	seq_puts(s, "flags\t\t:");
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		u32 r[4];
		const char *name = words[i].names;
		if (highest(words[i].leaf & 0x80000000) < words[i].leaf)
			continue;
		arch_cpuid(words[i].leaf, 0, r);
		for (unsigned bit = 0; *name; bit++) {
			size_t n = strcspn(name, " ");
			if (r[words[i].reg] >> bit & 1 && *name != '-') {
				seq_putc(s, ' ');
				seq_write(s, name, n);
			}
			name += n + (name[n] == ' ');
		}
	}
	seq_putc(s, '\n');
}

static void show_names(struct seq *s)
{
	u32 r[4], model[13] = {0};
	const char *name = (const char *)model;

	arch_cpuid(0, 0, r);
	seq_puts(s, "vendor_id\t: ");
	seq_write(s, &r[EBX], 4);
	seq_write(s, &r[EDX], 4);
	seq_write(s, &r[ECX], 4);
	arch_cpuid(1, 0, r);
	u32 family = r[EAX] >> 8 & 15, number = r[EAX] >> 4 & 15;
	if (family == 6 || family == 15)
		number |= r[EAX] >> 12 & 0xf0;
	if (family == 15)
		family += r[EAX] >> 20 & 0xff;
	for (unsigned i = 0; i < 3 && highest(0x80000000) >= 0x80000004; i++)
		arch_cpuid(0x80000002 + i, 0, model + 4 * i);
	while (*name == ' ')
		name++;
	seq_printf(s, "\ncpu family\t: %u\nmodel\t\t: %u\nmodel name\t: %s\nstepping\t: %u\n",
	    family, number, *name ? name : "unknown", r[EAX] & 15);
}

static void show_sizes(struct seq *s)
{
	u32 r[4], line;

	arch_cpuid(1, 0, r);
	line = (r[EBX] >> 8 & 0xff) * 8;
	r[EAX] = 36 | 48 << 8;
	if (highest(0x80000000) >= 0x80000008)
		arch_cpuid(0x80000008, 0, r);
	seq_printf(s, "clflush size\t: %u\naddress sizes\t: %u bits physical, %u bits virtual\n",
	    line, r[EAX] & 0xff, r[EAX] >> 8 & 0xff);
}

static int cpuinfo_show(struct seq *s, void *unused)
{
	u64 khz = clock_info()->tsc_khz;

	(void)unused;
	for (unsigned i = 0; i < cpu_count(); i++) {
		seq_printf(s, "processor\t: %u\n", i);
		show_names(s);
		seq_printf(s, "cpu MHz\t\t: %lu.%03lu\napicid\t\t: %u\n", khz / 1000, khz % 1000,
		    cpu_local_of(i)->apic_id);
		show_flags(s);
		show_sizes(s);
		seq_putc(s, '\n');
	}
	return 0;
}

/* Which CPUs there are, where C libraries look for it: "0" or "0-3". */
static void cpuinfo_add_lists(void)
{
	static const char *const names[] = {"online", "possible", "present"};
	static char text[8];
	char path[48];
	size_t n = cpu_count() > 1 ? fmt_snprintf(text, sizeof(text), "0-%u\n", cpu_count() - 1)
				   : fmt_snprintf(text, sizeof(text), "0\n");

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		fmt_snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", names[i]);
		vfs_add_static(path, 0444, text, n);
	}
}

void cpuinfo_init(void)
{
	cpuinfo_add_lists();
	proc_register("cpuinfo", cpuinfo_show, NULL, NULL);
}
