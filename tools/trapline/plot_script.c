/* The script of a page: plot_calls.js, then plot_page.js, which calls it. See plot.h. */
#include "tools/trapline/plot.h"

__asm__(".pushsection .rodata\n"
	".global plot_script\n"
	".type plot_script, @object\n"
	"plot_script:\n"
	".incbin \"tools/trapline/plot_calls.js\"\n"
	".incbin \"tools/trapline/plot_page.js\"\n"
	".byte 0\n"
	".size plot_script, . - plot_script\n"
	".popsection\n");
