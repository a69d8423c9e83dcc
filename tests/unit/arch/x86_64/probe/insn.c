/*
 * The instruction decoder: parts of an instruction, kinds, limits. Its lengths are compared with
 * objdump's by tests/tools/insn_compare.c.
 */
#include "arch/x86_64/probe/insn.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/unit/prng.h"

#define CODE(...) .bytes = {__VA_ARGS__}, .n = sizeof((u8[]){__VA_ARGS__})

static void parts(void)
{
	static const struct {
		const char *what;
		u8 bytes[16], n;
		u8 map, opcode, rex, modrm_at, disp_at, imm_at;
		s64 disp, imm;
	} rows[] = {
	    {"nop", CODE(0x90), 0, 0x90, 0, 0, 0, 0, 0, 0},
	    {"mov %rsp,%rbp", CODE(0x48, 0x89, 0xe5), 0, 0x89, 8, 2, 0, 0, 0, 0},
	    {"cmpb $0,x(%rip)", CODE(0x80, 0x3d, 0xfc, 0xff, 0xff, 0xff, 0x80), 0, 0x80, 0, 1, 2, 6,
		-4, -128},
	    {"movl $1,0x10(%rax,%rcx)", CODE(0xc7, 0x44, 0x08, 0x10, 1, 0, 0, 0), 0, 0xc7, 0, 1, 3,
		4, 0x10, 1},
	    {"mov 0x1234,%eax", CODE(0x8b, 0x04, 0x25, 0x34, 0x12, 0, 0), 0, 0x8b, 0, 1, 3, 0,
		0x1234, 0},
	    {"movabs $-1,%r10", CODE(0x49, 0xba, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), 0,
		0xba, 9, 0, 0, 2, 0, -1},
	    {"mov $5,%ax", CODE(0x66, 0xb8, 5, 0), 0, 0xb8, 0, 0, 0, 2, 0, 5},
	    {"movabs 0x..,%al", CODE(0xa0, 1, 0, 0, 0, 0, 0, 0, 0x80), 0, 0xa0, 0, 0, 1, 0,
		(s64)0x8000000000000001, 0},
	    {"testb $1,%al", CODE(0xf6, 0xc0, 1), 0, 0xf6, 0, 1, 0, 2, 0, 1},
	    {"notb %al", CODE(0xf6, 0xd0), 0, 0xf6, 0, 1, 0, 0, 0, 0},
	    {"enter", CODE(0xc8, 0x10, 0, 1), 0, 0xc8, 0, 0, 0, 1, 0, 0x10010},
	    {"mov %cr3,%rax, mod ignored", CODE(0x0f, 0x20, 0x18), 1, 0x20, 0, 2, 0, 0, 0, 0},
	    {"pshufb", CODE(0x66, 0x0f, 0x38, 0x00, 0xc1), 2, 0, 0, 4, 0, 0, 0, 0},
	    {"pclmulqdq", CODE(0x66, 0x0f, 0x3a, 0x44, 0xc1, 0x11), 3, 0x44, 0, 4, 0, 5, 0, 0x11},
	    {"vzeroupper", CODE(0xc5, 0xf8, 0x77), 1, 0x77, 0, 0, 0, 0, 0, 0},
	    {"vpshufd", CODE(0xc5, 0xf9, 0x70, 0xc1, 0x1b), 1, 0x70, 0, 3, 0, 4, 0, 0x1b},
	    {"vpblendw", CODE(0xc4, 0xe3, 0x71, 0x0e, 0xc2, 0xaa), 3, 0x0e, 0, 4, 0, 5, 0, -86},
	    {"vmovdqu64 (%rip),%zmm0", CODE(0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x05, 1, 0, 0, 0), 1,
		0x6f, 0, 5, 6, 0, 1, 0},
	    {"rex before a prefix is none", CODE(0x48, 0x66, 0xb8, 1, 0), 0, 0xb8, 0, 0, 0, 3, 0,
		1},
	    {"pop (%rax)", CODE(0x8f, 0x00), 0, 0x8f, 0, 1, 0, 0, 0, 0},
	};

	for (unsigned k = 0; k < ARRAY_SIZE(rows); k++) {
		struct insn i;
		if (insn_decode(&i, rows[k].bytes, rows[k].n) != rows[k].n ||
		    i.map != rows[k].map || i.opcode != rows[k].opcode || i.rex != rows[k].rex ||
		    i.modrm_at != rows[k].modrm_at || i.disp_at != rows[k].disp_at ||
		    i.imm_at != rows[k].imm_at || i.disp != rows[k].disp || i.imm != rows[k].imm)
			ktap_fail(__FILE__, __LINE__, "%s: %u bytes, map %u, opcode %x",
			    rows[k].what, i.len, i.map, i.opcode);
		for (unsigned room = 0; room < rows[k].n; room++)
			EXPECT_EQ(insn_decode(&i, rows[k].bytes, room), 0);
	}
}

static void kinds(void)
{
	static const struct {
		u8 bytes[12], n;
		u8 kind;
	} rows[] = {
	    {CODE(0x90), INSN_NOP},
	    {CODE(0x41, 0x90), INSN_PLAIN}, /* xchg %r8d,%eax */
	    {CODE(0x0f, 0x1f, 0x44, 0, 0), INSN_NOP},
	    {CODE(0xeb, 1), INSN_JMP},
	    {CODE(0xe9, 1, 0, 0, 0), INSN_JMP},
	    {CODE(0x74, 1), INSN_JCC},
	    {CODE(0x0f, 0x8f, 1, 0, 0, 0), INSN_JCC},
	    {CODE(0xe3, 1), INSN_LOOP},
	    {CODE(0xe8, 1, 0, 0, 0), INSN_CALL},
	    {CODE(0xff, 0xd0), INSN_CALL_NEAR},
	    {CODE(0xff, 0x25, 0, 0, 0, 0), INSN_JMP_NEAR},
	    {CODE(0xff, 0x18), INSN_SYSTEM},
	    {CODE(0xff, 0x30), INSN_PLAIN},
	    {CODE(0xc3), INSN_RET},
	    {CODE(0xc2, 8, 0), INSN_RET},
	    {CODE(0xf3, 0xc3), INSN_RET},
	    {CODE(0xcc), INSN_INT3},
	    {CODE(0xcd, 3), INSN_SYSTEM},
	    {CODE(0xfb), INSN_STI},
	    {CODE(0xfa), INSN_PLAIN},
	    {CODE(0x8e, 0xd0), INSN_STI},
	    {CODE(0x8e, 0xd8), INSN_PLAIN},
	    {CODE(0xf4), INSN_HLT},
	    {CODE(0x0f, 0x0b), INSN_UD},
	    {CODE(0x0f, 0x05), INSN_SYSTEM},
	    {CODE(0x48, 0xcf), INSN_SYSTEM},
	    {CODE(0x0f, 0x01, 0xf8), INSN_PLAIN},  /* swapgs */
	    {CODE(0x0f, 0x01, 0xc1), INSN_SYSTEM}, /* vmcall */
	    {CODE(0x0f, 0x01, 0xcb), INSN_PLAIN},  /* stac */
	    {CODE(0x0f, 0x01, 0x18), INSN_PLAIN},  /* lidt */
	    {CODE(0xc5, 0xf8, 0x77), INSN_PLAIN},
	};

	for (unsigned k = 0; k < ARRAY_SIZE(rows); k++) {
		struct insn i;
		EXPECT_EQ(insn_decode(&i, rows[k].bytes, rows[k].n), rows[k].n);
		if (insn_kind(&i) != rows[k].kind)
			ktap_fail(__FILE__, __LINE__, "row %u: kind %u, not %u", k, insn_kind(&i),
			    rows[k].kind);
	}
}

static void no_instructions(void)
{
	static const u8 opcodes[] = {0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27, 0x2f, 0x37,
	    0x3f, 0x60, 0x61, 0x82, 0x9a, 0xce, 0xd4, 0xd5, 0xd6, 0xea};
	u8 code[16] = {0};
	struct insn i;

	for (unsigned k = 0; k < ARRAY_SIZE(opcodes); k++) {
		code[0] = opcodes[k];
		EXPECT_EQ(insn_decode(&i, code, sizeof(code)), 0);
	}
}

/* 15 bytes are the most, be they prefixes. */
static void longest(void)
{
	u8 code[32];
	struct insn i;

	memset(code, 0x66, sizeof(code));
	for (unsigned prefixes = 12; prefixes < 18; prefixes++) {
		code[prefixes] = 0x90;
		EXPECT_EQ(
		    insn_decode(&i, code, sizeof(code)), prefixes < INSN_MAX ? prefixes + 1 : 0);
		code[prefixes] = 0x66;
	}
}

/* Whatever the bytes: nothing is read after the room, and the parts lie inside. */
static void any_bytes(void)
{
	u64 seed = 0x1234567;

	ktap_note("seed %llu", (unsigned long long)seed);
	for (unsigned k = 0; k < 200000; k++) {
		u64 words[2] = {prng_next(&seed), prng_next(&seed)};
		unsigned room = prng_next(&seed) % 17;
		struct insn i;
		unsigned n = insn_decode(&i, (u8 *)words, room);
		if (n > room || n > INSN_MAX || i.len != n ||
		    (n && (i.disp_at + i.disp_size > n || i.imm_at + i.imm_size > n)))
			ktap_fail(__FILE__, __LINE__, "%llx %llx: %u", (unsigned long long)words[0],
			    (unsigned long long)words[1], n);
	}
}

static const struct ktap_case cases[] = {
    {"insn.parts", parts},
    {"insn.kinds", kinds},
    {"insn.no_instructions", no_instructions},
    {"insn.longest", longest},
    {"insn.any_bytes", any_bytes},
    {NULL, NULL},
};
const struct ktap_suite suite_insn = {cases};
