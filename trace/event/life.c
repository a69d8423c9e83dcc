/* A table of the lives that go on, by number. Task context under host_lock. */
#include "trace/event/life.h"

#define CHAINS 512 /* a power of two; there are about as many events */

static struct trace_life *chains[CHAINS];
static u64 last_number;

static struct trace_life **chain_of(u64 number)
{
	return &chains[number % CHAINS];
}

void trace_life_begin(struct trace_life *life)
{
	struct trace_life **chain;

	life->number = ++last_number;
	chain = chain_of(life->number);
	life->next = *chain;
	*chain = life;
}

void trace_life_end(struct trace_life *life)
{
	struct trace_life **at = chain_of(life->number);

	while (*at && *at != life)
		at = &(*at)->next;
	if (*at)
		*at = life->next;
	life->number = 0;
}

bool trace_life_goes_on(u64 number)
{
	struct trace_life *life = *chain_of(number);

	while (life && life->number != number)
		life = life->next;
	return life;
}
