/*
 * objdump -d -w FILE | insn-compare: decodes the bytes of every line by arch/x86_64/probe/insn.c
 * and compares lengths. Lines that are no instruction to objdump are left out, and counted. Prints
 * what differs and the number of lines.
 */
#include "arch/x86_64/probe/insn.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static unsigned long lines, left_out, wrong;

/* "  addr:\t55 48 89 e5 \tmnemonic": the bytes, and where the text begins; 0: another line. */
static unsigned parse(char *line, u8 *bytes, const char **text)
{
	char *p = strstr(line, ":\t"), *end;
	unsigned n = 0, used, v;

	if (!p || strspn(line, " 0123456789abcdef") != (size_t)(p - line))
		return 0;
	p += 2;
	end = strchr(p, '\t');
	if (!end)
		return 0;
	*text = end + 1;
	while (p < end && n < 32 && sscanf(p, "%2x%n", &v, (int *)&used) == 1) {
		bytes[n++] = v;
		p += used;
		while (*p == ' ')
			p++;
	}
	return n;
}

/* Only words that are prefixes: objdump shows them alone where it makes nothing of what follows. */
static bool lone_prefixes(const char *text)
{
	static const char words[] = " rex data16 addr32 lock repz repnz cs ds es fs gs ss rep "
				    "xacquire xrelease bnd notrack ";
	char word[40];

	while (*(text += strspn(text, " \n"))) {
		int len = strcspn(text, " \n"), name = strcspn(text, " .\n");
		snprintf(word, sizeof(word), " %.*s ", name, text);
		if (!strstr(words, word))
			return false;
		text += len;
	}
	return true;
}

/*
 * What objdump sees otherwise, rightly or as a matter of taste: data, jumps with an operand-size
 * prefix (AMD's CPUs heed it, Intel's do not), and fwait, which it takes together with the
 * instruction after it.
 */
static bool is_left_out(const char *text, const u8 *bytes, unsigned n)
{
	struct insn i;

	if (strstr(text, "(bad)") || text[0] == '.' || lone_prefixes(text))
		return true;
	if (insn_decode(&i, bytes, n + 2) == n + 2 && i.prefixes & INSN_PREFIX_66 &&
	    (insn_kind(&i) == INSN_JMP || insn_kind(&i) == INSN_CALL || insn_kind(&i) == INSN_JCC))
		return true;
	return bytes[0] == 0x9b && insn_decode(&i, bytes + 1, n - 1) == n - 1;
}

static void compare(char *line)
{
	const char *text;
	struct insn i;
	u8 bytes[48] = {0};
	unsigned n = parse(line, bytes, &text);

	if (!n)
		return;
	if (is_left_out(text, bytes, n)) {
		left_out++;
		return;
	}
	lines++;
	if (insn_decode(&i, bytes, n) == n)
		return;
	if (wrong++ < 20)
		printf("%u, not %u: %s", insn_decode(&i, bytes, sizeof(bytes)), n, line);
}

int main(void)
{
	char line[512];

	while (fgets(line, sizeof(line), stdin))
		compare(line);
	printf("%lu instructions, %lu differ, %lu lines left out\n", lines, wrong, left_out);
	return wrong || !lines;
}
