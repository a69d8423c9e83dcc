/*
 * The C library's memory and strings for a host that has no C library; the compiler calls memcpy(),
 * memmove(), memset() and memcmp(), too. Pure: any context, NMI included; nothing shared.
 *
 * Blocks of up to 64 bytes go by a few 8-byte moves that overlap in the middle, longer ones by the
 * 8-byte string instructions, which cost one guest instruction a word and no set-up worth avoiding
 * on hardware. Every load of a short block, and the odd end of a long one, comes before the first
 * store: that is what lets memmove() share the code.
 */
#include "kernel/lib/libc.h"

/* Any address, any type behind it. */
struct __packed word64 {
	u64 v;
} __attribute__((may_alias));
struct __packed word32 {
	u32 v;
} __attribute__((may_alias));
struct __packed word16 {
	u16 v;
} __attribute__((may_alias));

static inline u64 load64(const void *p)
{
	return ((const struct word64 *)p)->v;
}

static inline void store64(void *p, u64 v)
{
	((struct word64 *)p)->v = v;
}

static inline u32 load32(const void *p)
{
	return ((const struct word32 *)p)->v;
}

static inline void store32(void *p, u32 v)
{
	((struct word32 *)p)->v = v;
}

static inline void store16(void *p, u16 v)
{
	((struct word16 *)p)->v = v;
}

/* n < 8. */
static inline void copy_tiny(u8 *d, const u8 *s, size_t n)
{
	if (n >= 4) {
		u32 a = load32(s), b = load32(s + n - 4);
		store32(d, a);
		store32(d + n - 4, b);
	} else if (n) {
		u8 a = s[0], b = s[n / 2], c = s[n - 1];
		d[0] = a;
		d[n / 2] = b;
		d[n - 1] = c;
	}
}

/* 8 <= n <= 32. */
static inline void copy_short(u8 *d, const u8 *s, size_t n)
{
	u64 a = load64(s), z = load64(s + n - 8);
	if (n > 16) {
		u64 b = load64(s + 8), y = load64(s + n - 16);
		store64(d + 8, b);
		store64(d + n - 16, y);
	}
	store64(d, a);
	store64(d + n - 8, z);
}

/* n > 32, first byte first: right also when dst overlaps src from below. */
static inline void copy_up(u8 *d, const u8 *s, size_t n)
{
	u64 tail = load64(s + n - 8);
	u8 *end = d + n - 8;
	size_t words = (n - 1) / 8; /* the last 1..8 bytes are the tail's */
	__asm__ volatile("rep movsq" : "+D"(d), "+S"(s), "+c"(words)::"memory");
	store64(end, tail);
}

/* n > 32, last byte first: right when dst overlaps src from above. */
static inline void copy_down(u8 *d, const u8 *s, size_t n)
{
	u64 head = load64(s);
	size_t i = n;
	for (; i >= 8; i -= 8)
		store64(d + i - 8, load64(s + i - 8));
	store64(d, head);
}

void *memcpy(void *dst, const void *src, size_t n)
{
	if (n < 8)
		copy_tiny(dst, src, n);
	else if (n <= 32)
		copy_short(dst, src, n);
	else
		copy_up(dst, src, n);
	return dst;
}

void *memmove(void *dst, const void *src, size_t n)
{
	if (n > 32 && (uintptr_t)dst - (uintptr_t)src < n)
		copy_down(dst, src, n);
	else
		memcpy(dst, src, n);
	return dst;
}

void *memset(void *dst, int c, size_t n)
{
	u8 *d = dst;
	u64 v = (u8)c * 0x0101010101010101UL;

	if (n >= 8) {
		u8 *end = d + n - 8;
		if (n <= 32) {
			if (n > 16) {
				store64(d + 8, v);
				store64(end - 8, v);
			}
			store64(d, v);
		} else {
			size_t words = n / 8;
			__asm__ volatile("rep stosq" : "+D"(d), "+c"(words) : "a"(v) : "memory");
		}
		store64(end, v);
	} else if (n >= 4) {
		store32(d, v);
		store32(d + n - 4, v);
	} else if (n >= 2) {
		store16(d, v);
		store16(d + n - 2, v);
	} else if (n) {
		*d = v;
	}
	return dst;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const u8 *p = a, *q = b;

	for (; n >= 8; n -= 8, p += 8, q += 8) {
		u64 x = load64(p), y = load64(q);
		if (x != y)
			return __builtin_bswap64(x) < __builtin_bswap64(y) ? -1 : 1;
	}
	for (; n; n--, p++, q++)
		if (*p != *q)
			return *p - *q;
	return 0;
}

void *memchr(const void *s, int c, size_t n)
{
	for (const u8 *p = s; n; n--, p++)
		if (*p == (u8)c)
			return (void *)p;
	return NULL;
}

#define ONES  0x0101010101010101UL
#define HIGHS 0x8080808080808080UL

/*
 * Which bytes of w are 0: the high bit of each, right up to the lowest such byte (Mycroft's test; a
 * borrow may reach bytes above it).
 */
static inline u64 zero_bytes(u64 w)
{
	return (w - ONES) & ~w & HIGHS;
}

/*
 * A word at a time. All words are aligned, so none reaches into a page that the string does not;
 * the sanitizers would see the bytes before and after it, though.
 */
__attribute__((no_sanitize("address"))) size_t strlen(const char *s)
{
	const u64 *w = (const u64 *)((uintptr_t)s & ~7UL);
	u64 before = (1UL << (uintptr_t)s % 8 * 8) - 1; /* bytes in front of s: not 0 */
	u64 zeros = zero_bytes(*w | before);

	while (!zeros)
		zeros = zero_bytes(*++w);
	return (const char *)w + __builtin_ctzl(zeros) / 8 - s;
}

__attribute__((no_sanitize("address"))) size_t strnlen(const char *s, size_t max)
{
	if (!max)
		return 0;
	const u64 *w = (const u64 *)((uintptr_t)s & ~7UL);
	uintptr_t last;
	if (__builtin_add_overflow((uintptr_t)s, max - 1, &last))
		last = UINTPTR_MAX;
	u64 before = (1UL << (uintptr_t)s % 8 * 8) - 1;
	u64 zeros = zero_bytes(*w | before);

	while (!zeros && last - (uintptr_t)w >= 8)
		zeros = zero_bytes(*++w);
	if (!zeros)
		return max;
	size_t n = (const char *)w + __builtin_ctzl(zeros) / 8 - s;
	return MIN(n, max);
}

/* True if the eight bytes at p lie in one page. */
static inline bool word_in_page(const char *p)
{
	return (uintptr_t)p % 4096 <= 4096 - 8;
}

/* Compares by words while they are equal and hold no 0; then byte by byte. */
__attribute__((no_sanitize("address"))) int strcmp(const char *a, const char *b)
{
	while (word_in_page(a) && word_in_page(b)) {
		u64 x = ((const struct word64 *)a)->v, y = ((const struct word64 *)b)->v;
		u64 ends = zero_bytes(x) | (x ^ y);

		if (ends) {
			unsigned shift = __builtin_ctzl(ends) & ~7u;
			return (int)(u8)(x >> shift) - (int)(u8)(y >> shift);
		}
		a += 8, b += 8;
	}
	while (*a && *a == *b)
		a++, b++;
	return (u8)*a - (u8)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	while (n && *a && *a == *b)
		a++, b++, n--;
	return n ? (u8)*a - (u8)*b : 0;
}

char *strchr(const char *s, int c)
{
	for (;; s++) {
		if (*s == (char)c)
			return (char *)s;
		if (!*s)
			return NULL;
	}
}

char *strrchr(const char *s, int c)
{
	const char *last = NULL;
	for (;; s++) {
		if (*s == (char)c)
			last = s;
		if (!*s)
			return (char *)last;
	}
}

char *strstr(const char *s, const char *what)
{
	size_t n = strlen(what);
	if (!n)
		return (char *)s;
	for (; (s = strchr(s, *what)); s++)
		if (strncmp(s, what, n) == 0)
			return (char *)s;
	return NULL;
}

/* A set of bytes: a bit for each. */
struct byte_set {
	u64 bit[4];
};

static inline void byte_set_add(struct byte_set *set, u8 c)
{
	set->bit[c / 64] |= 1UL << c % 64;
}

static inline bool byte_set_has(const struct byte_set *set, u8 c)
{
	return set->bit[c / 64] >> c % 64 & 1;
}

static inline void byte_set_make(struct byte_set *set, const char *bytes)
{
	*set = (struct byte_set){{0}};
	for (; *bytes; bytes++)
		byte_set_add(set, *bytes);
}

size_t strspn(const char *s, const char *set)
{
	struct byte_set bytes;
	size_t n = 0;

	byte_set_make(&bytes, set);
	while (byte_set_has(&bytes, s[n]))
		n++;
	return n;
}

size_t strcspn(const char *s, const char *set)
{
	struct byte_set bytes;
	size_t n = 0;

	byte_set_make(&bytes, set);
	byte_set_add(&bytes, '\0');
	while (!byte_set_has(&bytes, s[n]))
		n++;
	return n;
}

char *strsep(char **s, const char *delims)
{
	char *token = *s;
	if (!token)
		return NULL;
	char *end = token + strcspn(token, delims);
	if (*end) {
		*end = '\0';
		*s = end + 1;
	} else {
		*s = NULL;
	}
	return token;
}
