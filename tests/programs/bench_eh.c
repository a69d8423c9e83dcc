/* The cost of an EventHeader event with three fields for a program: disabled, and recorded. */
#include "tests/programs/bench.h"
#include "user/eventheader.h"

static struct eh_provider provider = EH_PROVIDER("Bench", "");
static struct eh_tracepoint tp = EH_TRACEPOINT(&provider, EVENTHEADER_INFORMATION, 0x1);

/* Values the compiler cannot know. */
static volatile uint32_t number = 4711;
static const char *volatile text = "fifteen letters";
static volatile uint64_t address = 0x1234;

static inline void write_event(void)
{
	EH_WRITE(&tp, "Event", EHF_U32("number", number), EHF_STR("text", text),
	    EHF_X64("address", address));
}

int main(void)
{
	unsigned long base = median(nothing);

	must(!eh_register(&tp), "register");
	report("eh.off", median(write_event), base);
	put(TRACING "events/user_events/Bench_L4K1/enable", "1");
	must(eh_enabled(&tp), "enable");
	report("eh.three_fields", median(write_event), base);
	put(TRACING "events/user_events/Bench_L4K1/enable", "0");
	eh_unregister(&tp);
	return 0;
}
