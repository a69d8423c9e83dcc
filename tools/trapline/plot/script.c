/* The script of a page: calls.js, then page.js, which calls it. See plot.h. */
#include "tools/trapline/plot/plot.h"

__asm__(".pushsection .rodata\n"
	".global plot_script\n"
	".type plot_script, @object\n"
	"plot_script:\n"
	".incbin \"tools/trapline/plot/calls.js\"\n"
	".incbin \"tools/trapline/plot/page.js\"\n"
	".byte 0\n"
	".size plot_script, . - plot_script\n"
	".popsection\n");
