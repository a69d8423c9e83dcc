/* The keyboard's codes as bytes: drivers/keymap.c. */
#include "drivers/keymap.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/number.h"
#include "kernel/lib/string.h"

static struct keymap k;

/* What these codes, in hex, say together. */
static const char *typed(const char *hex)
{
	static char text[128];
	size_t n = 0;

	while (*hex) {
		const char *end;
		n += keymap_feed(&k, parse_digits(hex, &end, 16), text + n);
		hex = end + (*end == ' ');
	}
	text[n] = '\0';
	return text;
}

static void begin(void)
{
	memset(&k, 0, sizeof(k));
}

static void letters(void)
{
	begin();
	EXPECT_STR(typed("1e 9e 30 b0 2e ae"), "abc");
	EXPECT_STR(typed("2a 1e 9e aa 1e 9e"), "Aa"); /* shift held, let go */
	EXPECT_STR(typed("36 02 82 35 b5 b6 02 35"), "!?1/");
	EXPECT_STR(typed("2a 36 aa 10 b6 10"), "Qq"); /* one of two shifts still held */
	EXPECT_STR(typed("39 1c 0e 0f 01"), " \r\177\t\033");
	EXPECT_STR(typed("29 2b 2a 29 2b aa"), "`\\~|");
}

static void caps(void)
{
	begin();
	EXPECT_STR(typed("3a ba 1e 02 2a 1e 02 aa 3a ba 1e"), "A1a!a");
}

static void control(void)
{
	begin();
	EXPECT_STR(typed("1d 2e ae 20 1a 2b 9d 2e"), "\003\004\033\034c");
	EXPECT_STR(typed("e0 1d 1e e0 9d 1e"), "\001a");
	EXPECT_STR(typed("38 1e b8 1e"), "\033aa");
	begin();
	typed("1d");
	char out[KEYMAP_BYTES] = {1};
	EXPECT_EQ(keymap_feed(&k, 0x39, out), 1);
	EXPECT_EQ(out[0], 0);
}

static void keys(void)
{
	begin();
	EXPECT_STR(typed("e0 48 e0 c8 e0 50 e0 4b e0 4d"), "\033[A\033[B\033[D\033[C");
	EXPECT_STR(typed("e0 47 e0 4f e0 49 e0 51 e0 52 e0 53"),
	    "\033[1~\033[4~\033[5~\033[6~\033[2~\033[3~");
	EXPECT_STR(typed("e0 2a e0 48 e0 c8 e0 aa 1e"), "\033[Aa"); /* made-up shifts */
	EXPECT_STR(typed("3b 44 57 58"), "\033[[A\033[21~\033[23~\033[24~");
	EXPECT_STR(typed("e0 1c e0 35 4a 4e 37 47 4c"), "\r/-+*\033[1~");
	EXPECT_STR(typed("e1 1d 45 e1 9d c5 1e"), "a");		    /* Pause says nothing */
	EXPECT_STR(typed("e0 5b e0 db e0 1e 5d fa fe ff 1e"), "a"); /* nor do these */
}

static void sysrq(void)
{
	begin();
	EXPECT_STR(typed("38 54"), "");
	EXPECT(k.sysrq);
	EXPECT_STR(typed("2c ac"), "z"); /* without the escape of Alt */
	EXPECT_STR(typed("d4"), "");
	EXPECT(!k.sysrq);
	EXPECT_STR(typed("2c 54 b8 2c"), "\033zz"); /* Alt let go first ends it too */
	EXPECT(!k.sysrq);
}

static void every_code(void)
{
	char out[KEYMAP_BYTES];

	begin();
	for (unsigned a = 0; a < 256; a++)
		for (unsigned b = 0; b < 256; b++) {
			keymap_feed(&k, a, out);
			if (keymap_feed(&k, b, out) > KEYMAP_BYTES)
				ktap_fail(__FILE__, __LINE__, "%02x %02x says too much", a, b);
		}
}

static const struct ktap_case cases[] = {
    {"keymap.letters", letters},
    {"keymap.caps", caps},
    {"keymap.control", control},
    {"keymap.keys", keys},
    {"keymap.sysrq", sysrq},
    {"keymap.every_code", every_code},
    {NULL, NULL},
};
extern const struct ktap_suite suite_keymap;
const struct ktap_suite suite_keymap = {cases};
