/*
 * help [NAME]: the commands of this system, and tracefs, on one screen; or the usage of a program
 * of Trapline's own.
 */
#include <stdio.h>
#include <string.h>

static const struct page {
	const char *name, *usage, *text;
} pages[] = {
    {"acpi", "[-x] [TABLE]...",
	"Lists the firmware's ACPI tables, refused ones too; or shows the fields of some by name, "
	"with -x their bytes.\n"
	"The tables themselves are files: /sys/firmware/acpi/tables."},
    {"chrt", "[-p | -m] [-bfiorR] PRIORITY COMMAND [ARG]...",
	"Runs a program with SCHED_FIFO (-f), SCHED_RR (-r, the default), -o other, -b batch, -i "
	"idle; -R: not its children.\n"
	"-p [PRIORITY] PID: of a task that runs; without PRIORITY it shows. -m: which priorities "
	"there are. See docs/latency.md."},
    {"lspci", "[-nvx] [-s BUS:DEVICE.FUNCTION]",
	"Lists what is on PCI: -n as numbers, -v with addresses and interrupts, -x with the "
	"registers in hex, -s only that one.\n"
	"From /proc/trapline/pci and /proc/bus/pci."},
    {"meminfo", "",
	"Memory in use, and the map of physical addresses (/proc/meminfo, /proc/iomem)."},
    {"mmio", "ADDRESS [BITS [VALUE]]",
	"Reads a device's register at a physical address, or writes VALUE there: one access of 8, "
	"16, 32 (the default) or 64 bits.\n"
	"Memory that is in use is refused. Events: rwmmio. The same by /dev/mem."},
    {"rdmsr", "[-p CPU | -a] [-dcz] REGISTER",
	"Prints a model-specific register of CPU 0, another, or (-a) of each: in hex, -d decimal, "
	"-c with 0x, -z with its zeros.\n"
	"REGISTER is a number (0x1b) or a name (IA32_APIC_BASE, apic_base: /proc/trapline/msr). "
	"Events: msr:read_msr."},
    {"send", "[-b BYTES] [-r OFFSET+LENGTH,...] [FILE]...",
	"Prints files as lines of base64, each with its place and a CRC: `trapline extract` on the "
	"other side of a\n"
	"serial line makes them again. -r: only these ranges (hex), which came damaged."},
    {"wrmsr", "[-p CPU | -a] REGISTER VALUE",
	"Writes a model-specific register of CPU 0, another, or (-a) of each. A value that the CPU "
	"refuses is an error.\n"
	"Events: msr:write_msr. See rdmsr."},
};

static const char screen[] =
    "Tracing, by files below /sys/kernel/tracing (`cd` there):\n"
    "  events/SYSTEM/EVENT/enable    echo 1: it is recorded; events/SYSTEM/enable, events/enable: "
    "all of them\n"
    "  events/SYSTEM/EVENT/format    its fields            events/SYSTEM/EVENT/filter    echo "
    "'FIELD == N && ...'\n"
    "  events/SYSTEM/EVENT/trigger   echo 'hist:keys=FIELD', 'stacktrace', 'traceoff if ...'; "
    "!COMMAND removes it\n"
    "  events/SYSTEM/EVENT/hist      what a hist trigger counted\n"
    "  trace, trace_pipe             what was recorded; the same as it comes (Ctrl-C ends it), "
    "which takes it away\n"
    "  tracing_on                    echo 0: nothing is recorded          trace_marker    echo "
    "TEXT: an event\n"
    "  kprobe_events                 echo 'p:NAME FUNCTION $arg1' >>      dynamic_events, "
    "synthetic_events: others\n"
    "  instances                     mkdir instances/NAME: another buffer with files of its own\n"
    "  available_events, error_log   names; why the last command was refused, with a caret\n"
    "\n"
    "A first trace:  echo 1 > events/syscalls/enable; ls /tmp; cat trace\n"
    "To read:        less /usr/share/doc/trapline/README.md; the other files there by zcat FILE | "
    "less\n"
    "The machine:    ";

static int print_page(const char *name)
{
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (!strcmp(pages[i].name, name)) {
			printf("usage: %s%s%s\n\n%s\n", name, *pages[i].usage ? " " : "",
			    pages[i].usage, pages[i].text);
			return 0;
		}
	fprintf(stderr, "help: no help for '%s'\n", name);
	return 1;
}

int main(int argc, char **argv)
{
	int bad = 0;

	for (int i = 1; i < argc; i++)
		bad |= print_page(argv[i]);
	if (argc > 1)
		return bad;
	fputs(screen, stdout);
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		printf("%s%s", pages[i].name,
		    i + 1 < sizeof(pages) / sizeof(pages[0]) ? " " : " (`help NAME` tells more)\n");
	return 0;
}
