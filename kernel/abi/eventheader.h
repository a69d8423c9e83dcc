/*
 * EventHeader: how an event of a user_events tracepoint carries its own name, its attributes and
 * the names and types of its fields. Layout and numbers are those of Microsoft's LinuxTracepoints
 * 1.4.
 *
 *     tracepoint  PROVIDER_L<level>K<keyword>[OPTIONS], level and keyword in lower-case hex; an
 *                 option is an upper-case letter with digits and lower-case letters after it
 *     event       struct eventheader, [extensions], payload
 *     extension   struct eventheader_extension, then `size` bytes
 *
 * Nothing is aligned and nothing is filled up. Numbers are in the byte order that the header's
 * flags tell.
 *
 *     metadata    event name NUL, then for each field:
 *                 field name NUL, encoding byte, [format byte], [u16 tag], [u16 count]
 *
 * A name may be followed by attributes, each ";NAME=VALUE" (a ';' in a value is doubled). A field's
 * encoding determines its bytes in the payload; an array of variable length begins with a u16, its
 * number of elements. A struct has no bytes of its own: the number of fields in its format byte
 * belong to it, or as many as the metadata still has.
 */
#pragma once

#include <stdint.h>

struct eventheader {
	uint8_t flags; /* EVENTHEADER_POINTER64 ... */
	uint8_t version;
	uint16_t id; /* 0: none */
	uint16_t tag;
	uint8_t opcode; /* enum eventheader_opcode */
	uint8_t level;	/* the one in the tracepoint's name */
};

enum {
	EVENTHEADER_POINTER64 = 1,
	EVENTHEADER_LITTLE_ENDIAN = 2,
	EVENTHEADER_EXTENSION = 4, /* there is at least one */
	EVENTHEADER_FLAGS = 7,
};

/* The fields of such a tracepoint, in the words of DIAG_IOCSREG. */
#define EVENTHEADER_FIELDS "u8 eventheader_flags;u8 version;u16 id;u16 tag;u8 opcode;u8 level"

#define EVENTHEADER_NAME_MAX 256 /* bytes of a tracepoint's name, with its NUL */

enum eventheader_level {
	EVENTHEADER_CRITICAL = 1,
	EVENTHEADER_ERROR,
	EVENTHEADER_WARNING,
	EVENTHEADER_INFORMATION,
	EVENTHEADER_VERBOSE,
};

enum eventheader_opcode {
	EVENTHEADER_INFO,
	EVENTHEADER_ACTIVITY_START,
	EVENTHEADER_ACTIVITY_STOP,
	EVENTHEADER_COLLECTION_START,
	EVENTHEADER_COLLECTION_STOP,
	EVENTHEADER_OPCODE_EXTENSION,
	EVENTHEADER_REPLY,
	EVENTHEADER_RESUME,
	EVENTHEADER_SUSPEND,
	EVENTHEADER_SEND,
	EVENTHEADER_RECEIVE = 240,
};

struct eventheader_extension {
	uint16_t size; /* bytes after this structure */
	uint16_t kind; /* with EVENTHEADER_CHAIN */
};

enum {
	EVENTHEADER_KIND_METADATA = 1,
	EVENTHEADER_KIND_ACTIVITY = 2, /* an id of 16 bytes, or that and the id of its parent */
	EVENTHEADER_KIND_MASK = 0x7fff,
	EVENTHEADER_CHAIN = 0x8000, /* another extension follows */
};

enum eventheader_encoding {
	EH_STRUCT = 1,
	EH_VALUE8,
	EH_VALUE16,
	EH_VALUE32,
	EH_VALUE64,
	EH_VALUE128,
	EH_ZSTRING8, /* up to a NUL, of characters of 8, 16, 32 bits */
	EH_ZSTRING16,
	EH_ZSTRING32,
	EH_STRING8, /* a u16 counts the characters that follow */
	EH_STRING16,
	EH_STRING32,
	EH_BINARY8, /* a u16 counts the bytes that follow */
	EH_ENCODING_MAX,

	EH_ENCODING_MASK = 0x1f,
	EH_FIXED_ARRAY = 0x20,	  /* the count stands in the metadata, and is not 0 */
	EH_COUNTED_ARRAY = 0x40,  /* ... in the payload */
	EH_ENCODING_CHAIN = 0x80, /* there is a format byte */
};

/*
 * A decoder that does not know the format, or cannot use it with the encoding, uses the encoding's
 * default: an unsigned number, a string in UTF, bytes for EH_VALUE128 and EH_BINARY8.
 *
 * EH_STRING8 and EH_BINARY8 go with every format. With one that only values have, an empty field is
 * null, and a field as long as a value that the format goes with is shown as that value: EH_HEX
 * with 8 bytes as an EH_VALUE64.
 */
enum eventheader_format {
	EH_DEFAULT,
	EH_UNSIGNED,
	EH_SIGNED,
	EH_HEX,
	EH_ERRNO,
	EH_PID,
	EH_TIME, /* seconds since 1970 */
	EH_BOOLEAN,
	EH_FLOAT,
	EH_BYTES,
	EH_STRING_LATIN, /* a character a byte */
	EH_STRING_UTF,
	EH_STRING_BOM, /* the byte-order mark in front, if there is one, shows the encoding */
	EH_STRING_XML, /* the same */
	EH_STRING_JSON,
	EH_UUID, /* network byte order: this and what follows */
	EH_PORT,
	EH_IP_ADDRESS,		/* of IPv4 in an EH_VALUE32, of IPv6 in an EH_VALUE128 */
	EH_IP_ADDRESS_OBSOLETE, /* for decoders: the same */

	EH_FORMAT_MASK = 0x7f,	/* of a struct: its number of fields, not 0 */
	EH_FORMAT_CHAIN = 0x80, /* there is a tag */
};
