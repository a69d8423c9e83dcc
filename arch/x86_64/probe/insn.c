/*
 * The decoder of insn.h. One table a map says what follows an opcode: a row of 16 letters for 16
 * opcodes.
 *
 *   .  nothing          M  ModRM            -  no instruction      p  a prefix (never looked up)
 *   b  imm8             z  imm16 or imm32   w  imm16               e  imm16, imm8 (enter)
 *   d  rel32            v imm up to 64 bits (mov to register) a address of 8 bytes (mov moffs)
 *   B  ModRM, imm8      Z  ModRM, imm16 or imm32
 *   T  ModRM, imm8 if it is test (/0, /1)     U  the same with imm16 or imm32
 *   C  ModRM that always names registers (mov to and from control registers)
 *   X  ModRM, two imm8 with 66 or f2 (extrq, insertq)
 */
#include "arch/x86_64/probe/insn.h"

static const char one_byte[] = "MMMMbz--MMMMbz-p" /* 00 */
			       "MMMMbz--MMMMbz--" /* 10 */
			       "MMMMbzp-MMMMbzp-" /* 20 */
			       "MMMMbzp-MMMMbzp-" /* 30 */
			       "pppppppppppppppp" /* 40 */
			       "................" /* 50 */
			       "--pMppppzZbB...." /* 60 */
			       "bbbbbbbbbbbbbbbb" /* 70 */
			       "BZ-BMMMMMMMMMMMM" /* 80 */
			       "..........-....." /* 90 */
			       "aaaa....bz......" /* a0 */
			       "bbbbbbbbvvvvvvvv" /* b0 */
			       "BBw.ppBZe.w..b-." /* c0 */
			       "MMMM---.MMMMMMMM" /* d0 */
			       "bbbbbbbbdd-b...." /* e0 */
			       "p.pp..TU......MM" /* f0 */;

static const char two_byte[] = "MMMM-.....-.-M.B" /* 00 */
			       "MMMMMMMMMMMMMMMM" /* 10 */
			       "CCCC----MMMMMMMM" /* 20 */
			       "......-.p-p-----" /* 30 */
			       "MMMMMMMMMMMMMMMM" /* 40 */
			       "MMMMMMMMMMMMMMMM" /* 50 */
			       "MMMMMMMMMMMMMMMM" /* 60 */
			       "BBBBMMM.XM--MMMM" /* 70 */
			       "dddddddddddddddd" /* 80 */
			       "MMMMMMMMMMMMMMMM" /* 90 */
			       "...MBMMM...MBMMM" /* a0 */
			       "MMMMMMMMMMBMMMMM" /* b0 */
			       "MMBMBBBM........" /* c0 */
			       "MMMMMMMMMMMMMMMM" /* d0 */
			       "MMMMMMMMMMMMMMMM" /* e0 */
			       "MMMMMMMMMMMMMMMM" /* f0 */;

/* Reads on after what is decoded already. */
struct cursor {
	const u8 *p;
	size_t at, room;
	bool over; /* read past the room */
};

static u8 peek(struct cursor *c)
{
	if (c->at >= c->room) {
		c->over = true;
		return 0;
	}
	return c->p[c->at];
}

static u8 insn_next(struct cursor *c)
{
	u8 b = peek(c);

	c->at++;
	return b;
}

/* Little-endian, sign-extended. */
static s64 insn_take(struct cursor *c, unsigned size)
{
	u64 v = 0;

	for (unsigned i = 0; i < size; i++)
		v |= (u64)insn_next(c) << (8 * i);
	return size && size < 8 ? (s64)(v << (64 - 8 * size)) >> (64 - 8 * size) : (s64)v;
}

static u8 legacy_prefix(u8 b)
{
	switch (b) {
	case 0xf0:
		return INSN_PREFIX_LOCK;
	case 0xf2:
		return INSN_PREFIX_REPNE;
	case 0xf3:
		return INSN_PREFIX_REP;
	case 0x64:
	case 0x65:
		return INSN_PREFIX_SEG;
	case 0x66:
		return INSN_PREFIX_66;
	case 0x67:
		return INSN_PREFIX_67;
	default:
		return 0;
	}
}

static bool ignored_prefix(u8 b) /* es, cs, ss, ds */
{
	return b == 0x26 || b == 0x2e || b == 0x36 || b == 0x3e;
}

/* A REX prefix counts only right before the opcode. */
static void take_prefixes(struct insn *i, struct cursor *c)
{
	for (;;) {
		u8 b = peek(c), bit = legacy_prefix(b);
		if (!bit && !ignored_prefix(b) && (b & 0xf0) != 0x40)
			return;
		i->prefixes |= bit;
		i->rex = (b & 0xf0) == 0x40 ? b & 15 : 0;
		c->at++;
		if (c->over || c->at > INSN_MAX)
			return;
	}
}

/* c4, c5, 62 and, where it is no pop, 8f: the prefix says the map. False: it says none. */
static bool take_vector_prefix(struct insn *i, struct cursor *c, u8 first)
{
	u8 b = insn_next(c);

	i->prefixes |= INSN_PREFIX_VECTOR;
	i->map = first == 0xc5 ? INSN_MAP_0F : first == 0x62 ? b & 7 : b & 31;
	for (unsigned more = first == 0xc5 ? 0 : first == 0x62 ? 2 : 1; more > 0; more--)
		insn_next(c);
	switch (first) {
	case 0x8f:
		return i->map >= INSN_MAP_XOP8 && i->map <= INSN_MAP_XOPA;
	case 0x62:
		return !(b & 8) && i->map != INSN_MAP_1 && i->map != 4 && i->map != 7;
	default:
		return i->map >= INSN_MAP_0F && i->map <= INSN_MAP_0F3A;
	}
}

static bool is_vector_prefix(struct cursor *c, u8 b)
{
	return b == 0xc4 || b == 0xc5 || b == 0x62 ||
	       (b == 0x8f && (peek(c) & 31) >= INSN_MAP_XOP8);
}

/* The opcode with what it is escaped by. False: there is no such map. */
static bool take_opcode(struct insn *i, struct cursor *c)
{
	u8 b = insn_next(c);

	if (is_vector_prefix(c, b)) {
		if (!take_vector_prefix(i, c, b))
			return false;
		b = insn_next(c);
	} else if (b == 0x0f) {
		b = insn_next(c);
		i->map = INSN_MAP_0F;
		if (b == 0x38 || b == 0x3a) {
			i->map = b == 0x38 ? INSN_MAP_0F38 : INSN_MAP_0F3A;
			b = insn_next(c);
		}
	}
	i->opcode = b;
	return true;
}

/*
 * Vector instructions have the operands of the map they are in; where vmread is in the plain one,
 * they have no immediates.
 */
static char operands(const struct insn *i)
{
	switch (i->map) {
	case INSN_MAP_1:
		return one_byte[i->opcode];
	case INSN_MAP_0F: {
		char o = two_byte[i->opcode];
		if (!(i->prefixes & INSN_PREFIX_VECTOR))
			return o;
		return o == 'B' || i->opcode == 0x77 ? o : 'M';
	}
	case INSN_MAP_0F3A:
	case INSN_MAP_XOP8:
		return 'B';
	case INSN_MAP_XOPA:
		return 'Z';
	default:
		return 'M';
	}
}

static void take_modrm(struct insn *i, struct cursor *c, bool registers)
{
	i->has_modrm = true;
	i->modrm_at = c->at;
	i->modrm = insn_next(c);
	if (registers)
		i->modrm |= 0xc0;
	unsigned mod = insn_mod(i);
	if (mod == 3)
		return;
	if (insn_has_sib(i))
		i->sib = insn_next(c);
	if (mod == 1)
		i->disp_size = 1;
	else if (mod == 2 || insn_rip_relative(i) || (insn_has_sib(i) && (i->sib & 7) == 5))
		i->disp_size = 4;
	if (!i->disp_size)
		return;
	i->disp_at = c->at;
	i->disp = insn_take(c, i->disp_size);
}

static unsigned insn_imm_z(const struct insn *i)
{
	return i->prefixes & INSN_PREFIX_66 && !(i->rex & INSN_REX_W) ? 2 : 4;
}

static unsigned imm_size(const struct insn *i, char operand)
{
	switch (operand) {
	case 'b':
	case 'B':
		return 1;
	case 'z':
		return insn_imm_z(i);
	case 'Z':
		return i->map == INSN_MAP_XOPA || (i->opcode == 0xc7 && i->modrm == 0xf8)
			   ? 4
			   : insn_imm_z(i);
	case 'w':
		return 2;
	case 'e':
		return 3;
	case 'd':
		return 4;
	case 'v':
		return i->rex & INSN_REX_W ? 8 : insn_imm_z(i);
	case 'T':
		return insn_reg(i) < 2 ? 1 : 0;
	case 'U':
		return insn_reg(i) < 2 ? insn_imm_z(i) : 0;
	case 'X':
		return i->prefixes & (INSN_PREFIX_66 | INSN_PREFIX_REPNE) ? 2 : 0;
	default:
		return 0;
	}
}

static bool has_modrm(char operand)
{
	return operand == 'C' || (operand >= 'A' && operand <= 'Z');
}

unsigned insn_decode(struct insn *i, const u8 *p, size_t room)
{
	struct cursor c = {.p = p, .room = room};
	char operand;

	*i = (struct insn){.len = 0};
	take_prefixes(i, &c);
	if (c.at > INSN_MAX || !take_opcode(i, &c))
		return 0;
	operand = operands(i);
	if (operand == '-')
		return 0;
	if (has_modrm(operand))
		take_modrm(i, &c, operand == 'C');
	if (operand == 'a') {
		i->disp_at = c.at;
		i->disp_size = i->prefixes & INSN_PREFIX_67 ? 4 : 8;
		i->disp = insn_take(&c, i->disp_size);
	}
	i->imm_size = imm_size(i, operand);
	if (i->imm_size) {
		i->imm_at = c.at;
		i->imm = insn_take(&c, i->imm_size);
	}
	if (c.over || c.at > INSN_MAX)
		return 0;
	return i->len = c.at;
}

/* ---- kinds ---- */

static enum insn_kind kind_of_ff(const struct insn *i)
{
	switch (insn_reg(i)) {
	case 2:
		return INSN_CALL_NEAR;
	case 4:
		return INSN_JMP_NEAR;
	case 3:
	case 5:
		return INSN_SYSTEM;
	case 7:
		return INSN_UD;
	default:
		return INSN_PLAIN;
	}
}

static enum insn_kind kind_one_byte(const struct insn *i)
{
	switch (i->opcode) {
	case 0x70 ... 0x7f:
		return INSN_JCC;
	case 0x8e: /* mov to a segment register: %ss is 2 */
		return insn_reg(i) == 2 ? INSN_STI : INSN_PLAIN;
	case 0x90:
		return i->rex & INSN_REX_B ? INSN_PLAIN : INSN_NOP;
	case 0xc2:
	case 0xc3:
		return INSN_RET;
	case 0xc7: /* xbegin */
		return i->modrm == 0xf8 ? INSN_SYSTEM : INSN_PLAIN;
	case 0xca:
	case 0xcb:
	case 0xcd:
	case 0xcf:
	case 0xf1:
		return INSN_SYSTEM;
	case 0xcc:
		return INSN_INT3;
	case 0xe0 ... 0xe3:
		return INSN_LOOP;
	case 0xe8:
		return INSN_CALL;
	case 0xe9:
	case 0xeb:
		return INSN_JMP;
	case 0xf4:
		return INSN_HLT;
	case 0xfb:
		return INSN_STI;
	case 0xff:
		return kind_of_ff(i);
	default:
		return INSN_PLAIN;
	}
}

static enum insn_kind kind_two_byte(const struct insn *i)
{
	switch (i->opcode) {
	/* swapgs and its like change nothing in %rip; what enters or leaves another mode does */
	case 0x01:
		return i->modrm >= 0xc0 && i->modrm < 0xe0 && i->modrm != 0xca && i->modrm != 0xcb
			   ? INSN_SYSTEM
			   : INSN_PLAIN;
	case 0x05:
	case 0x07:
	case 0x34:
	case 0x35:
	case 0x37:
	case 0xaa:
		return INSN_SYSTEM;
	case 0x0b:
	case 0xb9:
	case 0xff:
		return INSN_UD;
	case 0x1f:
		return INSN_NOP;
	case 0x80 ... 0x8f:
		return INSN_JCC;
	default:
		return INSN_PLAIN;
	}
}

enum insn_kind insn_kind(const struct insn *i)
{
	if (i->prefixes & INSN_PREFIX_VECTOR)
		return INSN_PLAIN;
	switch (i->map) {
	case INSN_MAP_1:
		return kind_one_byte(i);
	case INSN_MAP_0F:
		return kind_two_byte(i);
	default:
		return INSN_PLAIN;
	}
}
