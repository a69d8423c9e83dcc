/* rdmsr [-p CPU | -a] [-dcz] REGISTER: prints a model-specific register, from /dev/cpu/N/msr. */
#include "user/msr.h"

#include <inttypes.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct msr_call call = {.format = "%" PRIx64 "\n"};
	int c;

	command_begin(argv[0], "[-p CPU | -a] [-dcz] REGISTER");
	while ((c = command_option(argc, argv, "adczp:")) > 0) {
		if (c == 'a')
			call.all = true;
		else if (c == 'd')
			call.format = "%" PRIu64 "\n";
		else if (c == 'c')
			call.format = "0x%" PRIx64 "\n";
		else if (c == 'z')
			call.format = "%016" PRIx64 "\n";
		else if (!command_number(optarg, 10, &call.cpu))
			return 1;
	}
	if (!c)
		return 1;
	if (argc - optind != 1)
		return command_usage();
	return msr_number(argv[optind], &call.msr) ? msr_run(&call) : 1;
}
