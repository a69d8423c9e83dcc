/* The configuration of the UEFI loader: good files, bad lines, limits, chance; and its checksum. */
#include "boot/efi/config.h"
#include "kernel/abi/crc32.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/prng.h"

static struct config config;
static unsigned complaints;
static u32 complaint_line;
static const char *complaint;

static void complain(void *arg, uint32_t line, const char *what)
{
	EXPECT(arg == &config);
	complaints++;
	complaint_line = line;
	complaint = what;
}

static void parse_bytes(const char *text, size_t n)
{
	complaints = 0;
	complaint = "";
	config_parse(&config, text, n, complain, &config);
}

static void parse(const char *text)
{
	parse_bytes(text, strlen(text));
}

static void config_good(void)
{
	parse("\xef\xbb\xbf# a comment\r\n"
	      "timeout 7\r\n"
	      "  default\t2  \n"
	      "lastboot 128\n\n"
	      "kernel boot/kernel.elf 1C291ca3\n"
	      "archive more.cpio\n"
	      "cmdline quiet ~a\n"
	      "entry First one\n"
	      "entry Second\n"
	      "cmdline trace_event=boot:*\n"
	      "cmdline maxcpus=1");
	EXPECT_EQ(complaints, 0);
	EXPECT_EQ(config.timeout, 7);
	EXPECT_EQ(config.chosen, 1);
	EXPECT_EQ(config.lastboot_kib, 128);
	EXPECT_STR(config.kernel.path, "boot/kernel.elf");
	EXPECT(config.kernel.has_crc);
	EXPECT_EQ(config.kernel.crc, 0x1c291ca3);
	EXPECT_STR(config.archive.path, "more.cpio");
	EXPECT(!config.archive.has_crc);
	EXPECT_EQ(config.entry_count, 2);
	EXPECT_STR(config.entries[0].title, "First one");
	EXPECT_STR(config.entries[0].cmdline, "quiet ~a");
	EXPECT_STR(config.entries[1].title, "Second");
	EXPECT_STR(config.entries[1].cmdline, "quiet ~a trace_event=boot:* maxcpus=1");
}

/*
 * An empty file starts the kernel all the same, and so does one that says only something for all.
 */
static void config_short(void)
{
	parse("");
	EXPECT_EQ(complaints, 0);
	EXPECT_STR(config.kernel.path, "kernel.elf");
	EXPECT_STR(config.archive.path, "");
	EXPECT_EQ(config.timeout, 0);
	EXPECT_EQ(config.entry_count, 1);
	EXPECT_STR(config.entries[0].cmdline, "");
	parse_bytes("\xef\xbb\xbf", 2); /* the mark of an editor, cut off: the file ends before */
	EXPECT_EQ(complaints, 1);
	parse_bytes("\xef\xbb\xbf", 3);
	EXPECT_EQ(complaints, 0);
	parse("timeout never\ncmdline debug");
	EXPECT_EQ(config.timeout, CONFIG_NEVER);
	EXPECT_STR(config.entries[0].cmdline, "debug");
	EXPECT_STR(config.entries[0].title, "Trapline");
}

/* Each a line that counts for nothing, between two that do. */
static void config_bad_lines(void)
{
	static const char *const bad[][2] = {
	    {"timeout", "timeout wants seconds, 0 to 3600, or never"},
	    {"timeout 3601", "timeout wants seconds, 0 to 3600, or never"},
	    {"timeout -1", "timeout wants seconds, 0 to 3600, or never"},
	    {"timeout @", "timeout wants seconds, 0 to 3600, or never"},
	    {"timeout `", "timeout wants seconds, 0 to 3600, or never"},
	    {"timeout 1/", "timeout wants seconds, 0 to 3600, or never"},
	    {"timeout 1:", "timeout wants seconds, 0 to 3600, or never"},
	    {"timeout 99999999999999999999", "timeout wants seconds, 0 to 3600, or never"},
	    {"default 0", "default wants the number of an entry, 1 to 9"},
	    {"default 10", "default wants the number of an entry, 1 to 9"},
	    {"lastboot 65537", "lastboot wants KiB, 0 to 65536"},
	    {"kernel", "the name of the file is missing"},
	    {"kernel k 1234567", "the checksum is not 8 hexadecimal digits"},
	    {"kernel k 123456789", "the checksum is not 8 hexadecimal digits"},
	    {"kernel k 1234567@", "the checksum is not 8 hexadecimal digits"},
	    {"kernel k 1234567g", "the checksum is not 8 hexadecimal digits"},
	    {"archive", "the name of the file is missing"},
	    {"entry", "the entry has no title"},
	    {"bootdelay 3", "unknown word at its beginning"},
	    {"kernel\x01k", "a byte in it is not ASCII text"},
	    {"cmdline caf\xc3\xa9", "a byte in it is not ASCII text"},
	};
	char text[256];

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		fmt_snprintf(text, sizeof(text), "timeout 5\n%s\nkernel k.elf\n", bad[i][0]);
		parse(text);
		EXPECT_EQ(complaints, 1);
		EXPECT_EQ(complaint_line, 2);
		EXPECT_STR(complaint, bad[i][1]);
		EXPECT_EQ(config.timeout, 5);
		EXPECT_STR(config.kernel.path, "k.elf");
		EXPECT_EQ(config.entry_count, 1);
	}
	parse("default 2\nentry One\n");
	EXPECT_EQ(complaints, 1);
	EXPECT_EQ(complaint_line, 0);
	EXPECT_EQ(config.chosen, 0);
}

/* The largest numbers count, also with zeros before them; the least are 0 and, of entries, 1. */
static void config_numbers(void)
{
	parse("timeout 3600\ndefault 1\nlastboot 65536\nkernel k ffffffff\nentry One\n");
	EXPECT_EQ(complaints, 0);
	EXPECT_EQ(config.timeout, 3600);
	EXPECT_EQ(config.chosen, 0);
	EXPECT_EQ(config.lastboot_kib, 65536);
	EXPECT_EQ(config.kernel.crc, 0xffffffff);
	parse("timeout 0003600\nlastboot 0\nkernel k 00000000\nentry 1\nentry 2\nentry 3\nentry "
	      "4\nentry 5\nentry 6\nentry 7\nentry 8\nentry 9\ndefault 9\n");
	EXPECT_EQ(complaints, 0);
	EXPECT_EQ(config.timeout, 3600);
	EXPECT_EQ(config.chosen, 8);
	EXPECT_EQ(config.lastboot_kib, 0);
	EXPECT(config.kernel.has_crc);
	EXPECT_EQ(config.kernel.crc, 0);
	parse("timeout 0\n");
	EXPECT_EQ(complaints, 0);
	EXPECT_EQ(config.timeout, 0);
}

/* Lengths and numbers at their limits, and one beyond. */
static void config_limits(void)
{
	static char text[2 * BOOT_MAX_CMDLINE];

	for (unsigned n = CONFIG_MAX_TITLE - 2; n <= CONFIG_MAX_TITLE; n++) {
		memset(text, 'x', sizeof(text));
		memcpy(text, "entry ", 6);
		parse_bytes(text, 6 + n);
		EXPECT_EQ(complaints, n >= CONFIG_MAX_TITLE);
		memcpy(text, "kernel ", 7);
		parse_bytes(text, 7 + n);
		EXPECT_EQ(complaints, n >= CONFIG_MAX_PATH);
	}
	for (unsigned n = BOOT_MAX_CMDLINE - 2; n <= BOOT_MAX_CMDLINE; n++) {
		memset(text, 'x', sizeof(text));
		memcpy(text, "cmdline ", 8);
		parse_bytes(text, n); /* a line of n characters */
		EXPECT_EQ(complaints, n >= BOOT_MAX_CMDLINE);
		/* ... and two lines that make a command line of n */
		memcpy(text + 8 + 2000, "\ncmdline ", 9);
		parse_bytes(text, 8 + 2000 + 9 + n - 2001);
		EXPECT_EQ(complaints, n >= BOOT_MAX_CMDLINE);
		EXPECT_EQ(strlen(config.entries[0].cmdline), n < BOOT_MAX_CMDLINE ? n : 2000);
	}
	text[0] = '\0';
	for (unsigned i = 1; i <= CONFIG_MAX_ENTRIES + 1; i++) {
		fmt_snprintf(text + strlen(text), 32, "entry %u\n", i);
		parse(text);
		EXPECT_EQ(complaints, i > CONFIG_MAX_ENTRIES);
		EXPECT_EQ(config.entry_count, MIN(i, (unsigned)CONFIG_MAX_ENTRIES));
	}
}

static void config_random(void)
{
	u64 seed = 20240117;
	static char text[600];

	ktap_note("seed %llu", (unsigned long long)seed);
	for (unsigned round = 0; round < 500; round++) {
		static const char *const words[] = {"kernel ", "entry ", "cmdline ", "timeout ",
		    "default ", "\n", " ", "1", "\xff", "\r\n", "a", "archive "};
		size_t n = 0;
		while (n < 500) {
			const char *w = words[prng_next(&seed) % ARRAY_SIZE(words)];
			memcpy(text + n, w, strlen(w));
			n += strlen(w);
		}
		parse_bytes(text, n);
		EXPECT(config.entry_count >= 1 && config.entry_count <= CONFIG_MAX_ENTRIES);
		EXPECT(config.chosen < config.entry_count);
	}
}

static void checksum(void)
{
	EXPECT_EQ(abi_crc32(0, "", 0), 0);
	EXPECT_EQ(abi_crc32(0, "123456789", 9), 0xcbf43926);
}

static const struct ktap_case cases[] = {
    {"efi.config", config_good},
    {"efi.config_short", config_short},
    {"efi.config_bad_lines", config_bad_lines},
    {"efi.config_numbers", config_numbers},
    {"efi.config_limits", config_limits},
    {"efi.config_random", config_random},
    {"efi.checksum", checksum},
    {NULL, NULL},
};
const struct ktap_suite suite_efi_config = {cases};
