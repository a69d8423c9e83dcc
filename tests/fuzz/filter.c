/*
 * The filter's parser and evaluator. Input: the text up to the first NUL, after it the bytes of a
 * record. What is accepted must make a program that goes forward and must decide about the record,
 * and about every shorter one, without reading beyond it; what is refused must say why, and where
 * in the text.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/unit/trace/filter/sample.h"
#include "trace/filter/file.h"
#include "trace/filter/priv.h"
#include "trace/host_context.h"

static void run(const struct trace_filter *f, const uint8_t *data, size_t size)
{
	size_t step = size / 8 + 1;

	for (size_t len = 0; len <= size; len = len == size ? size + 1 : MIN(len + step, size)) {
		void *rec = malloc(len); /* exactly: so that a byte beyond is seen */
		if (len)
			memcpy(rec, data, len);
		trace_filter_match(f, rec, len);
		free(rec);
	}
}

static void check_program(const struct trace_filter *f)
{
	const struct filter_insn *end = f->start + f->count;

	for (const struct filter_insn *in = f->start; in < end; in++)
		for (unsigned k = 0; k < 2; k++)
			FUZZ_CHECK(
			    in->next[k] <= FILTER_PASS || (in->next[k] > in && in->next[k] < end));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_filter_error why = {0};
	struct trace_filter *f = NULL;
	size_t text_len = strnlen((const char *)data, size);
	char *text = malloc(text_len + 1);
	struct host_context ctx;

	memcpy(text, data, text_len);
	text[text_len] = '\0';
	data += MIN(text_len + 1, size);
	size -= MIN(text_len + 1, size);
	host_enter(&ctx);
	if (!trace_filter_create(&filter_sample_call, text, &f, &why)) {
		FUZZ_CHECK(!strcmp(trace_filter_text(f), text));
		check_program(f);
		run(f, data, size);
	} else {
		FUZZ_CHECK(why.text && why.pos <= text_len + 2);
		f = trace_filter_create_refused(text, &why);
		FUZZ_CHECK(trace_filter_match(f, data, size));
	}
	host_preempt_enable();
	trace_filter_free(f);
	free(text);
	return 0;
}
