/* Random bytes; see the header. The key is protected by key_lock, taken with interrupts off. */
#include "kernel/base/random.h"
#include "arch/arch.h"
#include "kernel/base/spinlock.h"
#include "kernel/lib/string.h"

static struct spinlock key_lock = SPINLOCK_INIT;
static u32 key[8]; /* [key_lock] */
static bool keyed; /* [key_lock] */

static inline u32 rotl(u32 x, unsigned n)
{
	return x << n | x >> (32 - n);
}

static void random_quarter_round(u32 x[16], unsigned a, unsigned b, unsigned c, unsigned d)
{
	x[a] += x[b];
	x[d] = rotl(x[d] ^ x[a], 16);
	x[c] += x[d];
	x[b] = rotl(x[b] ^ x[c], 12);
	x[a] += x[b];
	x[d] = rotl(x[d] ^ x[a], 8);
	x[c] += x[d];
	x[b] = rotl(x[b] ^ x[c], 7);
}

/* RFC 8439 section 2.3. */
static void random_chacha_block(const u32 k[8], u64 counter, u64 nonce, u32 out[16])
{
	u32 in[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};

	memcpy(in + 4, k, 32);
	memcpy(in + 12, &counter, 8);
	memcpy(in + 14, &nonce, 8);
	memcpy(out, in, 64);
	for (unsigned i = 0; i < 10; i++) {
		for (unsigned c = 0; c < 4; c++)
			random_quarter_round(out, c, 4 + c, 8 + c, 12 + c);
		for (unsigned c = 0; c < 4; c++)
			random_quarter_round(
			    out, c, 4 + (c + 1) % 4, 8 + (c + 2) % 4, 12 + (c + 3) % 4);
	}
	for (unsigned i = 0; i < 16; i++)
		out[i] += in[i];
}

/* key_lock held: one block gives the next key and the key for what the caller gets. */
static void random_next_key(u32 mine[8])
{
	u32 block[16];

	if (!keyed) {
		u64 now = clock_boot_unix_ns();
		memcpy(key, &now, sizeof(now));
		keyed = true;
	}
	random_chacha_block(key, cycles(), 0, block);
	memcpy(key, block, sizeof(key));
	memcpy(mine, block + 8, sizeof(key));
}

void random_bytes(void *buf, size_t n)
{
	u32 mine[8], block[16];
	u64 flags = spin_lock_irqsave(&key_lock);

	random_next_key(mine);
	spin_unlock_irqrestore(&key_lock, flags);
	for (size_t at = 0; at < n; at += sizeof(block)) {
		random_chacha_block(mine, at / sizeof(block), 1, block);
		memcpy((u8 *)buf + at, block, MIN(n - at, sizeof(block)));
	}
}

u64 random_u64(void)
{
	u64 v;

	random_bytes(&v, sizeof(v));
	return v;
}

void random_stir(const void *data, size_t n)
{
	u32 unused[8];
	u64 flags = spin_lock_irqsave(&key_lock);

	for (size_t i = 0; i < n; i++) {
		((u8 *)key)[i % sizeof(key)] ^= ((const u8 *)data)[i];
		if (i % sizeof(key) == sizeof(key) - 1)
			random_next_key(unused);
	}
	random_next_key(unused);
	spin_unlock_irqrestore(&key_lock, flags);
}
