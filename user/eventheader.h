/*
 * Events in the EventHeader convention, written by programs: docs/eventheader.md.
 *
 *     static struct eh_provider provider = EH_PROVIDER("Example_Web", ""); static struct
 *     eh_tracepoint requests = EH_TRACEPOINT(&provider, EVENTHEADER_INFORMATION, 0x1);
 *
 *     eh_register(&requests); EH_WRITE(&requests, "Request", EHF_STR("path", path),
 *     EHF_U32("bytes", n), EHF_ERRNO("result", 0));
 *
 * A tracepoint is what can be switched on: one for each level and keyword that a provider uses,
 * here Example_Web_L4K1. Many events may go through it; each tells its own name and fields, in
 * bytes that the compiler has put together. While nobody listens, EH_WRITE is a load and a branch,
 * and evaluates none of its values.
 *
 * Of the two forms of user_events this uses Linux 6.4's: the kernel keeps a word in the program's
 * own memory. With the page of bits of Linux 6.1 a check would need two loads, the page's address
 * and the byte. It builds for Linux as it is, too.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel/abi/eventheader.h"

struct eh_provider {
	const char *name; /* without ' ' and ':' */
	/* "" or such as "Ggroup": upper-case letters with what belongs to them, sorted */
	const char *options;
	int fd;		/* of user_events_data; -1: not open */
	unsigned users; /* tracepoints registered */
};
#define EH_PROVIDER(name, options)                                                                 \
	{                                                                                          \
		name, options, -1, 0                                                               \
	}

struct eh_tracepoint {
	uint32_t enabled; /* written by the kernel: not 0 while somebody listens */
	uint32_t write_index;
	struct eh_provider *provider;
	uint64_t keyword;
	uint8_t level;
	bool registered;
};
#define EH_TRACEPOINT(provider, level, keyword)                                                    \
	{                                                                                          \
		0, 0, provider, keyword, level, false                                              \
	}

/*
 * The tracepoint's name, "PROVIDER_L<level>K<keyword>[OPTIONS]". 0; EINVAL: a provider's name that
 * is empty or has a ' ' or ':' in it, a level of 0, options that are none or not sorted;
 * ENAMETOOLONG: 256 characters or more.
 */
int eh_tracepoint_name(const struct eh_tracepoint *tp, char name[EVENTHEADER_NAME_MAX]);
/*
 * From here on somebody may listen. 0, or an errno: of the name, EALREADY, or of open() and ioctl()
 * of user_events_data.
 */
int eh_register(struct eh_tracepoint *tp);
/* Nobody listens any more. With its provider's last tracepoint the file is closed. */
void eh_unregister(struct eh_tracepoint *tp);

static inline bool eh_enabled(const struct eh_tracepoint *tp)
{
	return __builtin_expect(*(const volatile uint32_t *)&tp->enabled != 0, 0);
}

/*
 * What an event may have beside its fields. Ids are 16 bytes; a parent's without an id of its own
 * is not shown.
 */
struct eh_attributes {
	uint16_t id, tag;
	uint8_t version, opcode; /* enum eventheader_opcode */
	const void *activity, *related;
};

/*
 * Writes an event if somebody listens. Is 0, or an errno: E2BIG for more than a record holds.
 * Leaves errno alone.
 *
 *     EH_WRITE_AS(&requests, "Begin", EH_AS(.opcode = EVENTHEADER_ACTIVITY_START, .activity = id),
 *     EHF_U32("n", 1))
 *
 * The name and those of fields are string literals; after them may stand attributes:
 * "bytes;unit=KiB".
 */
#define EH_WRITE(tp, name, ...) EH_WRITE_AS(tp, name, EH_AS() __VA_OPT__(, ) __VA_ARGS__)
#define EH_AS(...)		((const struct eh_attributes){__VA_ARGS__})
#define EH_WRITE_AS(tp, name, attributes, ...)                                                     \
	({                                                                                         \
		int eh_result = 0;                                                                 \
		if (eh_enabled(tp)) {                                                              \
			static const EH_METADATA(name, __VA_ARGS__) eh_meta =                      \
			    EH_METADATA_INIT(eh_meta, name, __VA_ARGS__);                          \
			const struct eh_part eh_parts[] = {                                        \
			    EH_EACH(EH_PARTS, __VA_ARGS__){NULL, 0, 0, false}};                    \
			eh_result = eh_emit(tp, &attributes, &eh_meta, sizeof(eh_meta), eh_parts,  \
			    sizeof(eh_parts) / sizeof(eh_parts[0]) - 1);                           \
		}                                                                                  \
		eh_result;                                                                         \
	})

/* ---- fields ---- */

/* A number of any kind: encoding and format as in kernel/abi/eventheader.h. */
#define EHF_VALUE(name, encoding, format, type, value)                                             \
	(PLAIN, name, encoding, format, 0, 0, {&(const type){value}, sizeof(type), 0, false}, )
#define EHF_U8(name, v)		     EHF_VALUE(name, EH_VALUE8, EH_UNSIGNED, uint8_t, v)
#define EHF_U16(name, v)	     EHF_VALUE(name, EH_VALUE16, EH_UNSIGNED, uint16_t, v)
#define EHF_U32(name, v)	     EHF_VALUE(name, EH_VALUE32, EH_UNSIGNED, uint32_t, v)
#define EHF_U64(name, v)	     EHF_VALUE(name, EH_VALUE64, EH_UNSIGNED, uint64_t, v)
#define EHF_S8(name, v)		     EHF_VALUE(name, EH_VALUE8, EH_SIGNED, int8_t, v)
#define EHF_S16(name, v)	     EHF_VALUE(name, EH_VALUE16, EH_SIGNED, int16_t, v)
#define EHF_S32(name, v)	     EHF_VALUE(name, EH_VALUE32, EH_SIGNED, int32_t, v)
#define EHF_S64(name, v)	     EHF_VALUE(name, EH_VALUE64, EH_SIGNED, int64_t, v)
#define EHF_X8(name, v)		     EHF_VALUE(name, EH_VALUE8, EH_HEX, uint8_t, v)
#define EHF_X16(name, v)	     EHF_VALUE(name, EH_VALUE16, EH_HEX, uint16_t, v)
#define EHF_X32(name, v)	     EHF_VALUE(name, EH_VALUE32, EH_HEX, uint32_t, v)
#define EHF_X64(name, v)	     EHF_VALUE(name, EH_VALUE64, EH_HEX, uint64_t, v)
#define EHF_BOOL(name, v)	     EHF_VALUE(name, EH_VALUE8, EH_BOOLEAN, uint8_t, v)
#define EHF_BOOL32(name, v)	     EHF_VALUE(name, EH_VALUE32, EH_BOOLEAN, int32_t, v)
#define EHF_F32(name, v)	     EHF_VALUE(name, EH_VALUE32, EH_FLOAT, float, v)
#define EHF_F64(name, v)	     EHF_VALUE(name, EH_VALUE64, EH_FLOAT, double, v)
/* One character: of Latin-1, of UTF-16, of UTF-32. */
#define EHF_CHAR(name, v)	     EHF_VALUE(name, EH_VALUE8, EH_STRING_LATIN, uint8_t, v)
#define EHF_CHAR16(name, v)	     EHF_VALUE(name, EH_VALUE16, EH_STRING_UTF, uint16_t, v)
#define EHF_CHAR32(name, v)	     EHF_VALUE(name, EH_VALUE32, EH_STRING_UTF, uint32_t, v)
#define EHF_POINTER(name, v)	     EHF_VALUE(name, EH_VALUE64, EH_HEX, uintptr_t, (uintptr_t)(v))
#define EHF_PID(name, v)	     EHF_VALUE(name, EH_VALUE32, EH_PID, int32_t, v)
#define EHF_ERRNO(name, v)	     EHF_VALUE(name, EH_VALUE32, EH_ERRNO, int32_t, v)
#define EHF_TIME32(name, v)	     EHF_VALUE(name, EH_VALUE32, EH_TIME, int32_t, v)
#define EHF_TIME64(name, v)	     EHF_VALUE(name, EH_VALUE64, EH_TIME, int64_t, v)
/* In network byte order, as in struct sockaddr. */
#define EHF_PORT(name, v)	     EHF_VALUE(name, EH_VALUE16, EH_PORT, uint16_t, v)
#define EHF_IPV4(name, v)	     EHF_VALUE(name, EH_VALUE32, EH_IP_ADDRESS, uint32_t, v)
/* Of 16 bytes at p. */
#define EHF_BYTES16(name, format, p) (PLAIN, name, EH_VALUE128, format, 0, 0, {p, 16, 0, false}, )
#define EHF_IPV6(name, p)	     EHF_BYTES16(name, EH_IP_ADDRESS, p)
#define EHF_UUID(name, p)	     EHF_BYTES16(name, EH_UUID, p)

/* Strings up to a NUL, in UTF-8, UTF-16, UTF-32; NULL is an empty one. _AS: with a format. */
#define EHF_STR_AS(name, format, s)   (PLAIN, name, EH_ZSTRING8, format, 0, 0, eh_zstring(s, 1), )
#define EHF_STR16_AS(name, format, s) (PLAIN, name, EH_ZSTRING16, format, 0, 0, eh_zstring(s, 2), )
#define EHF_STR32_AS(name, format, s) (PLAIN, name, EH_ZSTRING32, format, 0, 0, eh_zstring(s, 4), )
#define EHF_STR(name, s)	      EHF_STR_AS(name, EH_STRING_UTF, s)
#define EHF_STR16(name, s)	      EHF_STR16_AS(name, EH_STRING_UTF, s)
#define EHF_STR32(name, s)	      EHF_STR32_AS(name, EH_STRING_UTF, s)
/* Strings of n characters. */
#define EHF_TEXT_AS(name, format, s, n)                                                            \
	(PLAIN, name, EH_STRING8, format, 0, 0, eh_counted(s, n, 1), )
#define EHF_TEXT16_AS(name, format, s, n)                                                          \
	(PLAIN, name, EH_STRING16, format, 0, 0, eh_counted(s, n, 2), )
#define EHF_TEXT32_AS(name, format, s, n)                                                          \
	(PLAIN, name, EH_STRING32, format, 0, 0, eh_counted(s, n, 4), )
#define EHF_TEXT(name, s, n)   EHF_TEXT_AS(name, EH_STRING_UTF, s, n)
#define EHF_TEXT16(name, s, n) EHF_TEXT16_AS(name, EH_STRING_UTF, s, n)
#define EHF_TEXT32(name, s, n) EHF_TEXT32_AS(name, EH_STRING_UTF, s, n)
/* n bytes. _AS: a value of that format in n bytes, or null if n is 0. */
#define EHF_BINARY_AS(name, format, p, n)                                                          \
	(PLAIN, name, EH_BINARY8, format, 0, 0, eh_counted(p, n, 1), )
#define EHF_BINARY(name, p, n) EHF_BINARY_AS(name, EH_BYTES, p, n)

/* Arrays of numbers: of `count`, a constant that is not 0; of n, at most 65535. */
#define EHF_FIXED(name, encoding, format, p, count)                                                \
	(FIXED, name, (encoding) | EH_FIXED_ARRAY, format, 0, count,                               \
	    {p, (count)*EH_SIZE(encoding), 0, false}, )
#define EHF_ARRAY(name, encoding, format, p, n)                                                    \
	(PLAIN, name, (encoding) | EH_COUNTED_ARRAY, format, 0, 0,                                 \
	    eh_counted(p, n, EH_SIZE(encoding)), )

/* The `members` fields that follow are in it. */
#define EHF_STRUCT(name, members)		(PLAIN, name, EH_STRUCT, members, 0, 0, )
/*
 * Arrays of structs, and of strings: n elements in `bytes` bytes at p, as they are to stand in the
 * event (kernel/abi/eventheader.h). After EHF_STRUCTS come its `members` fields, each an
 * EHF_MEMBER, which has no value of its own.
 */
#define EHF_STRUCTS(name, members, n, p, bytes) EHF_PACKED(name, EH_STRUCT, members, n, p, bytes)
#define EHF_PACKED(name, encoding, format, n, p, bytes)                                            \
	(PLAIN, name, (encoding) | EH_COUNTED_ARRAY, format, 0, 0, {p, bytes, n, true}, )
#define EHF_MEMBER(name, encoding, format) (PLAIN, name, encoding, format, 0, 0, )

/* The same field with a tag, which is not 0. */
#define EHF_TAG(tag, field) EH_RETAG(tag, EH_STRIP field)

/* ---- how it is done ---- */

/* Bytes of the payload, after a count of them if there is to be one. */
struct eh_part {
	const void *data;
	size_t size;
	uint32_t count;
	bool counted;
};

int eh_emit(const struct eh_tracepoint *tp, const struct eh_attributes *attributes,
    const void *meta, size_t meta_size, const struct eh_part *parts, unsigned n);
struct eh_part eh_zstring(const void *s, unsigned unit);

static inline struct eh_part eh_counted(const void *p, size_t n, unsigned unit)
{
	return (struct eh_part){p, n * unit, n > UINT32_MAX ? UINT32_MAX : n, true};
}

#define EH_SIZE(encoding) (1u << ((encoding)-EH_VALUE8))

/*
 * A field is (SHAPE, name, encoding, format, tag, count, parts...). EH_EACH calls a macro for each
 * field, with a name that is another each time: an underscore more.
 */
#define EH_STRIP(...) __VA_ARGS__
#define EH_NOTHING()
#define EH_EACH(m, ...) __VA_OPT__(EH_RESCAN(EH_EACH_ONE(m, f, __VA_ARGS__)))
#define EH_EACH_ONE(m, id, field, ...)                                                             \
	m(id, field) __VA_OPT__(EH_EACH_AGAIN EH_NOTHING()()(m, id##_, __VA_ARGS__))
#define EH_EACH_AGAIN() EH_EACH_ONE
#define EH_RESCAN(...)	EH_RESCAN4(EH_RESCAN4(EH_RESCAN4(EH_RESCAN4(__VA_ARGS__))))
#define EH_RESCAN4(...) EH_RESCAN3(EH_RESCAN3(EH_RESCAN3(EH_RESCAN3(__VA_ARGS__))))
#define EH_RESCAN3(...) EH_RESCAN2(EH_RESCAN2(EH_RESCAN2(EH_RESCAN2(__VA_ARGS__))))
#define EH_RESCAN2(...) EH_RESCAN1(EH_RESCAN1(EH_RESCAN1(EH_RESCAN1(__VA_ARGS__))))
#define EH_RESCAN1(...) __VA_ARGS__

#define EH_RETAG(...) EH_RETAG_FIELD(__VA_ARGS__)
#define EH_RETAG_FIELD(tag, shape, name, encoding, format, untagged, count, ...)                   \
	(TAGGED_##shape, name, encoding, (format) | EH_FORMAT_CHAIN, tag, count, __VA_ARGS__)

#define EH_PARTS(id, field)						  EH_PARTS_OF(EH_STRIP field)
#define EH_PARTS_OF(...)						  EH_PARTS_OF_FIELD(__VA_ARGS__)
#define EH_PARTS_OF_FIELD(shape, name, encoding, format, tag, count, ...) __VA_ARGS__

/* The metadata, as a structure without gaps. */
#define EH_METADATA(event, ...)                                                                    \
	struct __attribute__((packed)) {                                                           \
		struct eventheader_extension extension;                                            \
		char name[sizeof(event)];                                                          \
		EH_EACH(EH_DECLARE, __VA_ARGS__)                                                   \
	}
#define EH_METADATA_INIT(object, event, ...)                                                       \
	{                                                                                          \
		{sizeof(object) - sizeof(struct eventheader_extension),                            \
		    EVENTHEADER_KIND_METADATA},                                                    \
		    event, EH_EACH(EH_INIT, __VA_ARGS__)                                           \
	}

#define EH_DECLARE(id, field) EH_DECLARE_OF(id, EH_STRIP field)
#define EH_DECLARE_OF(...)    EH_DECLARE_FIELD(__VA_ARGS__)
#define EH_DECLARE_FIELD(id, shape, field, encoding_, format_, tag_, count_, ...)                  \
	struct __attribute__((packed)) {                                                           \
		char name[sizeof(field)];                                                          \
		uint8_t encoding, format;                                                          \
		EH_SHAPE_##shape                                                                   \
	} id;
#define EH_SHAPE_PLAIN
#define EH_SHAPE_FIXED	      uint16_t count;
#define EH_SHAPE_TAGGED_PLAIN uint16_t tag;
#define EH_SHAPE_TAGGED_FIXED uint16_t tag, count;

#define EH_INIT(id, field) EH_INIT_OF(EH_STRIP field)
#define EH_INIT_OF(...)	   EH_INIT_FIELD(__VA_ARGS__)
#define EH_INIT_FIELD(shape, field, encoding, format, tag, count, ...)                             \
	{field, (encoding) | EH_ENCODING_CHAIN, format, EH_INIT_##shape(tag, count)},
#define EH_INIT_PLAIN(tag, count)
#define EH_INIT_FIXED(tag, count)	 count
#define EH_INIT_TAGGED_PLAIN(tag, count) tag
#define EH_INIT_TAGGED_FIXED(tag, count) tag, count
