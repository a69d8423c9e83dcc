/*
 * The second half of trace/event/tracepoint.h: from the same .def the record structs, the field
 * tables, the functions that record and print, the events and their list trace_event_list[] (in the
 * order of the file). One .c file per .def includes it.
 */
#include "trace/event/consumer.h"
#include "trace/event/record.h"
#include "trace/host_context.h"
#include "trace/host_key.h"
#include "trace/output/print.h"

#ifdef TRACE_DEF
#define TRACE_EVENT_FN	   TRACE_EVENT
#define F_COMM(name, from) F_ARRAY(char, name, 16, from)
#define F_STR(name, from)  F_MEM(name, trace_str(from), strlen(trace_str(from)))

/* 1. The record, laid out as C does; in the ring it stands at a multiple of 4. */
#define F(type, name, from)	     type name;
#define F_ARRAY(type, name, n, from) type name[n];
#define F_CHARS(name, n, from)	     char name[n];
#define F_MEM(name, from, len)	     u32 __data_loc_##name;
#define F_MASK(name, from)	     u32 __data_loc_##name;
#define TRACE_EVENT(system, name, proto, args, fields, ...)                                        \
	struct rec_##name {                                                                        \
		struct trace_entry ent;                                                            \
		fields                                                                             \
	};                                                                                         \
	typedef struct rec_##name rec_##name##_t __aligned(4);
#include TRACE_DEF
#undef F
#undef F_ARRAY
#undef F_CHARS
#undef F_MEM
#undef F_MASK
#undef TRACE_EVENT

/* 2. How many bytes lie after the fields. */
#define F(type, name, from)
#define F_ARRAY(type, name, n, from)
#define F_CHARS(name, n, from)
#define F_MEM(name, from, len) size_ += trace_mem_room(len);
#define F_MASK(name, from)     size_ += sizeof(u64);
#define TRACE_EVENT(system, name, proto, args, fields, ...)                                        \
	static inline u32 size_##name(proto)                                                       \
	{                                                                                          \
		u32 size_ = sizeof(struct rec_##name);                                             \
		fields return size_;                                                               \
	}
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include TRACE_DEF
#pragma GCC diagnostic pop
#undef F
#undef F_ARRAY
#undef F_CHARS
#undef F_MEM
#undef F_MASK
#undef TRACE_EVENT

/* 3. The table of fields, and the print format as text. */
#define F(type_, name_, from)                                                                      \
	{.type = #type_,                                                                           \
	    .name = #name_,                                                                        \
	    .offset = offsetof(rec_t, name_),                                                      \
	    .size = sizeof(type_),                                                                 \
	    .is_signed = TRACE_IS_SIGNED(type_),                                                   \
	    .kind = TRACE_KIND(type_)},
#define F_ARRAY(type_, name_, n, from)                                                             \
	{.type = #type_ "[" #n "]",                                                                \
	    .name = #name_,                                                                        \
	    .offset = offsetof(rec_t, name_),                                                      \
	    .size = sizeof(type_) * (n),                                                           \
	    .is_signed = TRACE_IS_SIGNED(type_),                                                   \
	    .kind = _Generic((type_)0, char                                                        \
			     : TRACE_FIELD_STRING, default                                         \
			     : TRACE_FIELD_ARRAY)},
#define F_CHARS(name_, n, from)                                                                    \
	{.type = "char[" #n "]",                                                                   \
	    .name = #name_,                                                                        \
	    .offset = offsetof(rec_t, name_),                                                      \
	    .size = n,                                                                             \
	    .is_signed = true,                                                                     \
	    .kind = TRACE_FIELD_STRING},
#define F_MEM(name_, from, len)                                                                    \
	{.type = "__data_loc char[]",                                                              \
	    .name = #name_,                                                                        \
	    .size = 4,                                                                             \
	    .is_signed = true,                                                                     \
	    .offset = offsetof(rec_t, __data_loc_##name_),                                         \
	    .kind = TRACE_FIELD_DYN_STRING},
#define F_MASK(name_, from)                                                                        \
	{.type = "__data_loc cpumask_t",                                                           \
	    .name = #name_,                                                                        \
	    .size = 4,                                                                             \
	    .offset = offsetof(rec_t, __data_loc_##name_),                                         \
	    .kind = TRACE_FIELD_DYN_ARRAY},
/* `format` shows no cast, as on Linux, where u64 is a long long. */
#define __long_long(value)    value
#define __unsigned_int(value) value
#define TRACE_TEXT(...)	      #__VA_ARGS__
#define TRACE_TEXT_OF(...)    TRACE_TEXT(__VA_ARGS__)
#define TRACE_EVENT(system, name_, proto, args, rows_, ...)                                        \
	static const struct trace_event_field *trace_event_fields_##name_(                         \
	    const struct trace_event_call *call __maybe_unused)                                    \
	{                                                                                          \
		typedef struct rec_##name_ rec_t;                                                  \
		static const struct trace_event_field f[] = {rows_{.name = NULL}};                 \
		(void)sizeof(rec_t);                                                               \
		return f;                                                                          \
	}                                                                                          \
	static const char print_fmt_##name_[] = TRACE_TEXT_OF(__VA_ARGS__);
#include TRACE_DEF
#undef F
#undef F_ARRAY
#undef F_CHARS
#undef F_MEM
#undef F_MASK
#undef TRACE_EVENT
#undef TRACE_TEXT
#undef TRACE_TEXT_OF
#undef __long_long
#undef __unsigned_int

/*
 * 4. The event, its printing, and its recording (trace/event/record.h):
 *
 *   trace_record_NAME()   what the call site calls. A dispatcher without a frame: it leads to the
 *                         fast path, to the general path, or to one of the short ways of the gate
 *                         that need no record.
 *   trace_fast_NAME()     the record is built in the ring.
 *   trace_retry_NAME()    the ring was full the last time: drops the event if it still is.
 *   trace_general_NAME()  an image of the record is built, for the gate to decide about. It lies on
 *                         the stack if the compiler knows its size.
 *   __probestub_NAME()    the same if the event is live; then it calls the tracepoint's consumers
 *                         with the arguments. Linux calls the place by that name, too.
 *
 * All of them run in the section that the dispatcher begins, and the last one called ends it.
 */
#define TRACE_VALUES_1(a)					(u64)(a)
#define TRACE_VALUES_2(a, ...)					(u64)(a), TRACE_VALUES_1(__VA_ARGS__)
#define TRACE_VALUES_3(a, ...)					(u64)(a), TRACE_VALUES_2(__VA_ARGS__)
#define TRACE_VALUES_4(a, ...)					(u64)(a), TRACE_VALUES_3(__VA_ARGS__)
#define TRACE_VALUES_5(a, ...)					(u64)(a), TRACE_VALUES_4(__VA_ARGS__)
#define TRACE_VALUES_6(a, ...)					(u64)(a), TRACE_VALUES_5(__VA_ARGS__)
#define TRACE_VALUES_7(a, ...)					(u64)(a), TRACE_VALUES_6(__VA_ARGS__)
#define TRACE_VALUES_8(a, ...)					(u64)(a), TRACE_VALUES_7(__VA_ARGS__)
#define TRACE_NINTH(_1, _2, _3, _4, _5, _6, _7, _8, ninth, ...) ninth
#define TRACE_COUNT(...)					TRACE_NINTH(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define TRACE_VALUES_OF(n)					TRACE_VALUES_##n
#define TRACE_VALUES_BY(n)					TRACE_VALUES_OF(n)
#define TRACE_VALUES(...)					TRACE_VALUES_BY(TRACE_COUNT(__VA_ARGS__))(__VA_ARGS__)
#define F(type, name, from)					rec_->name = (from);
#define F_ARRAY(type, name, n, from)				memcpy(rec_->name, (from), sizeof(rec_->name));
#define F_CHARS(name, n, from)					trace_put_chars(rec_->name, n, from);
#define F_MEM(name, from, len)					rec_->__data_loc_##name = trace_put_mem(rec_, &at_, end_, from, len);
#define F_MASK(name, from)					rec_->__data_loc_##name = trace_put_u64(rec_, &at_, from);
#define __long_long(value)                                                                         \
	_Generic((value), s64 : (long long)(value), default : (unsigned long long)(value))
#define __unsigned_int(value) ((unsigned int)(value))
#define __get_str(field)      trace_get_str(REC, len_, REC->__data_loc_##field)
#define __get_bitmask(field)  trace_get_mask(out_, REC, len_, REC->__data_loc_##field)
#define __print_flags(value, delim, ...)                                                           \
	({                                                                                         \
		static const struct trace_name names_[] = {__VA_ARGS__, {0, NULL}};                \
		trace_flags_text(out_, value, delim, names_);                                      \
	})
#define __print_symbolic(value, ...)                                                               \
	({                                                                                         \
		static const struct trace_name names_[] = {__VA_ARGS__, {0, NULL}};                \
		trace_symbol_text(out_, value, names_);                                            \
	})
#define TRACE_FORMAT_OF(fmt, ...) fmt
#define TRACE_EVENT(system_, name_, proto, args, rows_, ...)                                       \
	static void trace_event_print_##name_(struct trace_out *out_, const void *data_, u32 len_) \
	{                                                                                          \
		const rec_##name_##_t *REC = data_;                                                \
		if (len_ < sizeof(*REC))                                                           \
			return;                                                                    \
		trace_print_rec(out_, __VA_ARGS__);                                                \
	}                                                                                          \
	static const struct trace_event_class class_##name_ = {.system = #system_,                 \
	    .fixed = sizeof(struct rec_##name_),                                                   \
	    .fields = trace_event_fields_##name_,                                                  \
	    .print = trace_event_print_##name_};                                                   \
	TRACE_KEY key_##name_;                                                                     \
	struct trace_key switch_##name_ = {.host = (struct host_key *)&key_##name_};               \
	static __noinline __trace_text void __probestub_##name_(                                   \
	    proto, struct trace_event_file *live_);                                                \
	struct trace_event_call event_##name_;                                                     \
	static __noinline __trace_text void trace_general_##name_(                                 \
	    proto, struct trace_event_file *live_)                                                 \
	{                                                                                          \
		rec_##name_##_t image_;                                                            \
		const u32 end_ = size_##name_(args);                                               \
		const bool fixed_ = __builtin_constant_p(end_) && end_ == sizeof(image_);          \
		u32 at_ __maybe_unused = sizeof(rec_##name_##_t);                                  \
		rec_##name_##_t *rec_ = fixed_ ? &image_ : trace_image(end_);                      \
		if (likely(rec_)) {                                                                \
			rows_ trace_gate(live_, rec_, end_);                                       \
			if (!fixed_)                                                               \
				trace_image_end(end_);                                             \
		} else {                                                                           \
			trace_gate_no_image(live_, end_);                                          \
		}                                                                                  \
		host_preempt_enable();                                                             \
	}                                                                                          \
	static __noinline TRACE_DISPATCH void trace_retry_##name_(                                 \
	    proto, struct trace_event_file *live_)                                                 \
	{                                                                                          \
		if (trace_drop_full(live_, size_##name_(args)))                                    \
			host_preempt_enable();                                                     \
		else                                                                               \
			trace_general_##name_(args, live_);                                        \
	}                                                                                          \
	static __noinline __trace_text void trace_fast_##name_(                                    \
	    proto, struct trace_event_file *live_)                                                 \
	{                                                                                          \
		const u32 end_ = size_##name_(args);                                               \
		u32 at_ __maybe_unused = sizeof(rec_##name_##_t);                                  \
		struct trace_slot slot_;                                                           \
		rec_##name_##_t *rec_ = trace_record_now(&slot_, live_, end_);                     \
		if (likely(rec_)) {                                                                \
			rows_ trace_record_end(&slot_);                                            \
			host_preempt_enable();                                                     \
			return;                                                                    \
		}                                                                                  \
		trace_general_##name_(args, live_);                                                \
	}                                                                                          \
	static __noinline __trace_text void __probestub_##name_(                                   \
	    proto, struct trace_event_file *live_)                                                 \
	{                                                                                          \
		const u64 values_[] = {TRACE_VALUES(args), (u64)__builtin_frame_address(0)};       \
		if (live_) {                                                                       \
			trace_general_##name_(args, live_);                                        \
			host_preempt_disable();                                                    \
		}                                                                                  \
		trace_consumers_call(&event_##name_, values_);                                     \
		host_preempt_enable();                                                             \
	}                                                                                          \
	TRACE_DISPATCH void trace_record_##name_(proto)                                            \
	{                                                                                          \
		host_preempt_disable();                                                            \
		struct trace_event_file *live_ = READ_ONCE(event_##name_.live);                    \
		if (unlikely(!live_)) {                                                            \
			__probestub_##name_(args, NULL);                                           \
			return;                                                                    \
		}                                                                                  \
		const u32 way_ = READ_ONCE(live_->way), asks_ = way_ & TRACE_WAY_ASKS;             \
		if (likely(!way_))                                                                 \
			trace_fast_##name_(args, live_);                                           \
		else if (trace_is_off(live_, way_))                                                \
			trace_gate_lost_off(live_);                                                \
		else if (likely(!asks_))                                                           \
			trace_general_##name_(args, live_);                                        \
		else if (trace_is_unwanted(live_, way_))                                           \
			trace_gate_unwanted(live_);                                                \
		else if (asks_ == TRACE_WAY_ALONE)                                                 \
			trace_gate_alone(live_);                                                   \
		else if (way_ == TRACE_WAY_FULL)                                                   \
			trace_retry_##name_(args, live_);                                          \
		else if (unlikely(asks_ & TRACE_WAY_CONSUMED))                                     \
			__probestub_##name_(args, live_);                                          \
		else                                                                               \
			trace_general_##name_(args, live_);                                        \
	}
#include TRACE_DEF
#undef F
#undef F_ARRAY
#undef F_CHARS
#undef F_MEM
#undef F_MASK
#undef F_STR
#undef F_COMM
#undef TRACE_EVENT
#undef __get_str
#undef __long_long
#undef __unsigned_int
#undef __get_bitmask
#undef __print_flags
#undef __print_symbolic

/* 5. The list. */
#define TRACE_EVENT(system_, name_, proto, args, rows_, ...)                                       \
	{.call = &event_##name_,                                                                   \
	    .class = &class_##name_,                                                               \
	    .name = #name_,                                                                        \
	    .print_fmt = print_fmt_##name_,                                                        \
	    .fmt = TRACE_FORMAT_OF(__VA_ARGS__, ),                                                 \
	    .key = &switch_##name_,                                                                \
	    .stub = __probestub_##name_,                                                           \
	    .n_args = TRACE_COUNT(args)},
static const struct trace_event_row trace_event_list[] = {
#include TRACE_DEF
};
#undef TRACE_EVENT
#undef TRACE_EVENT_FN
#undef TRACE_FORMAT_OF
#undef TRACE_VALUES_1
#undef TRACE_VALUES_2
#undef TRACE_VALUES_3
#undef TRACE_VALUES_4
#undef TRACE_VALUES_5
#undef TRACE_VALUES_6
#undef TRACE_VALUES_7
#undef TRACE_VALUES_8
#undef TRACE_NINTH
#undef TRACE_COUNT
#undef TRACE_VALUES_OF
#undef TRACE_VALUES_BY
#undef TRACE_VALUES
#endif
