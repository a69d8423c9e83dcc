/*
 * Tracepoints declared once (style: one row per field). A .def file holds rows
 *
 *   TRACE_EVENT(system, name, PROTO(type a, ...), ARGS(a, ...),
 *       F(type, field, where its value comes from)
 *       F_ARRAY(type, field, n, pointer to n of them)
 *       F_COMM(field, pointer to 16 bytes)            char field[16]
 *       F_CHARS(field, n, NUL-terminated string)      char field[n]
 *       F_STR(field, NUL-terminated string or NULL)   __data_loc char[] field
 *       F_MEM(field, pointer, length)                 the same of bytes
 *       F_MASK(field, u64)                            __data_loc cpumask_t field,
 *       "format", arguments ...)                      may use REC->field, __get_str(field),
 *           __long_long(REC->field), __unsigned_int(REC->field), __print_flags() ...
 *
 * TRACE_EVENT_FN is the same for an event whose call site calls a hand-written probe_<name>()
 * instead of recording only.
 *
 * Users: #define TRACE_DEF "that file", then include this header for the call sites
 * trace_<name>(...), and once, in a .c file, trace/tracepoint_define.h for everything else.
 * TRACE_KEY is the type of a key and TRACE_BRANCH(key) the test of one. It has no include guard:
 * one set of tracepoints after the other may use it.
 */
#include "kernel/lib/types.h"

#ifdef TRACE_DEF
#define PROTO(...) __VA_ARGS__
#define ARGS(...)  __VA_ARGS__

#define TRACE_CALL_SITE(name, target, proto, args)                                                 \
	extern TRACE_KEY key_##name;                                                               \
	void trace_record_##name(proto);                                                           \
	void target(proto);                                                                        \
	static inline __maybe_unused void trace_##name(proto)                                      \
	{                                                                                          \
		if (TRACE_BRANCH(key_##name))                                                      \
			target(args);                                                              \
	}
#define TRACE_EVENT(system, name, proto, args, fields, ...)                                        \
	TRACE_CALL_SITE(name, trace_record_##name, PROTO(proto), ARGS(args))
#define TRACE_EVENT_FN(system, name, proto, args, fields, ...)                                     \
	TRACE_CALL_SITE(name, probe_##name, PROTO(proto), ARGS(args))
#include TRACE_DEF
#undef TRACE_EVENT
#undef TRACE_EVENT_FN
#undef TRACE_CALL_SITE
#endif
