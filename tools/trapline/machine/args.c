/*
 * The configuration of a machine: the options of `run` and `record`, and QEMU's command line. See
 * machine.h.
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/trapline/machine/loaded.h"
#include "tools/trapline/machine/machine.h"

#define MEMORY_LEAST  (16ULL << 20)
#define MEMORY_MOST   (1ULL << 40)
#define CPUS_OF_GUEST 64

const char machine_usage[] =
    "The machine:\n"
    "  --kernel FILE   the kernel; by default $TRAPLINE_KERNEL, or kernel.elf beside this program\n"
    "  --smp N         CPUs (2)           --mem SIZE  memory: 256M, 1G (256M)\n"
    "  --cpu MODEL     QEMU's -cpu (max)  --accel ACCEL  QEMU's -accel (tcg,thread=multi); implies "
    "--real-time\n"
    "  --real-time     run at full speed, CPUs side by side. Without it each instruction takes 1 "
    "ns of the machine's time, and the\n"
    "                  trace can be replayed\n"
    "  --icount        the latter, also where real time is the default (a terminal as console; "
    "record until Ctrl-C); the machine then\n"
    "                  gets no input while it runs\n"
    "  --append WORDS  more words for the kernel's command line\n"
    "  --copy FILE[:PATH]  copy a file into the machine, to PATH or the same path; may be "
    "repeated\n"
    "  --dir DIR[:PATH]  copy a directory and all below it, to PATH or the same path; it is "
    "read-only there\n"
    "  --get FILE[:NAME]  copy a file out of the guest at the end, to NAME or its last component; "
    "may be repeated\n"
    "  --initrd FILE   one more archive for the machine (cpio, newc)\n"
    "  --input FILE    the standard input of the program, in place of ours. Ours is passed on as "
    "it arrives, and the trace then cannot\n"
    "                  be replayed; a redirected file (<) is copied, and it can\n"
    "  --timeout SECS  end the machine after that time\n"
    "  --keep FILE     keep the machine's memory in FILE: for `trapline live` meanwhile, `extract` "
    "later\n"
    "  --qemu WORD     one more word for QEMU; may be repeated\n"
    "  --verbose       print the kernel's log on the standard error, too\n"
    "  --progress      report progress, also if the standard error is no terminal\n";

void machine_defaults(struct machine_options *o)
{
	const char *qemu = getenv("QEMU");

	*o = (struct machine_options){.cpu = "max",
	    .accel = "tcg,thread=multi",
	    .append = "",
	    .memory = 256ULL << 20,
	    .cpus = 2,
	    .qemu = qemu && *qemu ? qemu : "qemu-system-x86_64"};
}

void machine_forget(struct machine_options *o)
{
	free(o->copies);
	free(o->extra);
	free(o->dirs);
	free(o->gets);
	free(o->kernel_found);
}

bool machine_find_kernel(struct machine_options *o)
{
	const char *named = getenv("TRAPLINE_KERNEL");

	if (!o->kernel && named && *named)
		o->kernel = named;
	if (!o->kernel)
		o->kernel = o->kernel_found = find_own("kernel.elf");
	if (!o->kernel) {
		say("there is no kernel.elf beside this program, nor in ../lib/trapline: --kernel "
		    "FILE, or "
		    "TRAPLINE_KERNEL");
		return false;
	}
	if (access(o->kernel, R_OK)) {
		say_errno(o->kernel);
		return false;
	}
	return true;
}

void machine_settle(struct machine_options *o, bool from_outside)
{
	if (!o->real_time && !from_outside)
		o->icount = true;
}

bool parse_memory(const char *text, uint64_t *bytes)
{
	static const char units[] = "kmg";
	char *end;
	uint64_t n = strtoull(text, &end, 10), unit = 1 << 20;

	if (*text < '0' || *text > '9')
		return false;
	if (*end) {
		const char *u = strchr(units, *end | 32);
		if (!u || end[1])
			return false;
		unit = 1ULL << 10 * (u - units + 1);
	}
	*bytes = n * unit;
	return n <= MEMORY_MOST / unit && *bytes >= MEMORY_LEAST && !(*bytes % (1 << 20));
}

static void add(const char ***list, size_t *count, const char *word)
{
	*list = xrealloc(*list, (*count + 1) * sizeof(**list));
	(*list)[(*count)++] = word;
}

/* Where the text of such an option goes; NULL: the option is none of them. */
static const char **text_option(struct machine_options *o, int option)
{
	switch (option) {
	case OPTION_KERNEL:
		return &o->kernel;
	case OPTION_INITRD:
		return &o->initrd;
	case OPTION_APPEND:
		return &o->append;
	case OPTION_CPU:
		return &o->cpu;
	case OPTION_KEEP:
		return &o->keep;
	case OPTION_INPUT:
		return &o->input;
	default:
		return NULL;
	}
}

#define refuse(...) (bad_usage(__VA_ARGS__), EXIT_OWN)

int machine_option(struct machine_options *o, const char *command, int option, const char *arg)
{
	const char **text = text_option(o, option);
	uint64_t number;

	if (text) {
		*text = arg;
		return -1;
	}
	switch (option) {
	case OPTION_SMP:
		if (!parse_number(arg, CPUS_OF_GUEST, &number) || !number)
			return refuse(command, "--smp %s: 1 to %d CPUs", arg, CPUS_OF_GUEST);
		o->cpus = number;
		break;
	case OPTION_MEM:
		if (!parse_memory(arg, &number))
			return refuse(command, "--mem %s: whole megabytes, 16M or more", arg);
		o->memory = number;
		break;
	case OPTION_ACCEL:
		o->accel = arg;
		o->real_time = true;
		break;
	case OPTION_ICOUNT:
		o->icount = o->sealed = true;
		break;
	case OPTION_REAL_TIME:
		o->real_time = true;
		break;
	case OPTION_TIMEOUT:
		if (!parse_seconds(arg, &number) || !number)
			return refuse(command, "--timeout %s: not a number of seconds", arg);
		o->timeout = number;
		break;
	case OPTION_COPY:
		add(&o->copies, &o->copy_count, arg);
		break;
	case OPTION_DIR:
		add(&o->dirs, &o->dir_count, arg);
		break;
	case OPTION_GET:
		add(&o->gets, &o->get_count, arg);
		break;
	case OPTION_VERBOSE:
		o->verbose = true;
		break;
	case OPTION_QEMU:
		add(&o->extra, &o->extra_count, arg);
		break;
	default:
		return common_option(command, option, NULL) < 0 ? -1 : EXIT_OWN;
	}
	return -1;
}

/* ---- QEMU's command line ---- */

struct words {
	char **word;
	size_t count;
};

static void __attribute__((format(printf, 2, 3))) word(struct words *w, const char *fmt, ...)
{
	va_list ap;

	w->word = xrealloc(w->word, (w->count + 2) * sizeof(*w->word));
	va_start(ap, fmt);
	if (vasprintf(&w->word[w->count], fmt, ap) < 0)
		die(EXIT_TROUBLE, "out of memory");
	va_end(ap);
	w->word[++w->count] = NULL;
}

static void words(struct words *w, const char *const *more)
{
	for (; *more; more++)
		word(w, "%s", *more);
}

static void port_words(struct words *w, const char *name, int fd)
{
	word(w, "-chardev");
	word(w, "file,id=%s,path=/proc/self/fd/%d", name, fd);
	word(w, "-serial");
	word(w, "chardev:%s", name);
}

static void clock_words(struct words *w, const struct machine_options *o)
{
	static const char *const icount[] = {
	    "-icount", "shift=0,sleep=off", "-rtc", "base=2024-01-01,clock=vm", "-seed", NULL};

	if (o->icount) {
		words(w, icount);
		word(w, "%d", MACHINE_SEED);
	} else {
		word(w, "-accel");
		word(w, "%s", o->accel);
	}
}

static void memory_words(struct words *w, const struct machine_options *o, int fd)
{
	word(w, "-m");
	word(w, "%lluM", (unsigned long long)(o->memory >> 20));
	word(w, "-object");
	word(w, "memory-backend-file,id=ram,size=%lluM,mem-path=/proc/self/fd/%d,share=on",
	    (unsigned long long)(o->memory >> 20), fd);
	word(w, "-machine");
	word(w, "memory-backend=ram");
}

/* The first port is the guest's console: the terminal, or what its log comes from. */
static void console_words(
    struct words *w, const struct machine_options *o, const struct machine_files *files)
{
	word(w, "-chardev");
	word(w, "socket,id=monitor,fd=%d", files->monitor);
	word(w, "-mon");
	word(w, "chardev=monitor,mode=control");
	word(w, "-serial");
	word(w, "%s", o->console ? "mon:stdio" : "stdio");
	if (o->console)
		return;
	port_words(w, "out", files->out);
	port_words(w, "err", files->err);
	port_words(w, "control", files->control);
}

/* The debugger's socket waits: QEMU's stub gets its name when the machine has stopped. */
static void spy_words(struct words *w, const struct machine_spy *spy, int memory)
{
	word(w, "-plugin");
	word(w, LOADED_PATH ",plan=%d,channel=%d,memory=%d", spy->plugin, spy->plan, spy->channel,
	    memory);
	word(w, "-chardev");
	word(w, "socket,id=goto,fd=%d", spy->gdb);
}

char **machine_command(const struct machine_options *o, const struct machine_files *files)
{
	static const char *const house[] = {"-M", "q35", "-nodefaults", "-vga", "none", "-display",
	    "none", "-no-reboot", "-bios", "qboot.rom", "-device",
	    "isa-debug-exit,iobase=0xf4,iosize=4", NULL};
	struct words w = {.word = NULL};

	word(&w, "%s", o->qemu);
	words(&w, house);
	word(&w, "-cpu");
	word(&w, "%s", o->cpu);
	word(&w, "-smp");
	word(&w, "%llu", (unsigned long long)o->cpus);
	memory_words(&w, o, files->memory);
	clock_words(&w, o);
	console_words(&w, o, files);
	if (o->spy)
		spy_words(&w, o->spy, files->memory);
	word(&w, "-kernel");
	word(&w, "%s", o->kernel);
	word(&w, "-initrd");
	word(&w, "/proc/self/fd/%d", files->archive);
	word(&w, "-append");
	word(&w, "console=ttyS0 panic=-1 %s%s%s",
	    o->console ? ""
		       : "shell=plain init=" SCRIPT_MAIN " notty=ttyS1 notty=ttyS2 notty=ttyS3 ",
	    o->verbose || o->console ? "" : "quiet ", o->append);
	for (size_t i = 0; i < o->extra_count; i++)
		word(&w, "%s", o->extra[i]);
	return w.word;
}
