/* Headers of `trace` that tracers have of their own. Task context under host_lock. */
#pragma once

struct seq;

void trace_print_osnoise_header(struct seq *s);
void trace_print_timerlat_header(struct seq *s);
