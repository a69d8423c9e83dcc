/* wrmsr [-p CPU | -a] REGISTER VALUE: sets a model-specific register, by /dev/cpu/N/msr. */
#include "user/msr.h"

#include <unistd.h>

int main(int argc, char **argv)
{
	struct msr_call call = {.write = true};
	int c;

	command_begin(argv[0], "[-p CPU | -a] REGISTER VALUE");
	while ((c = command_option(argc, argv, "ap:")) > 0) {
		if (c == 'a')
			call.all = true;
		else if (!command_number(optarg, 10, &call.cpu))
			return 1;
	}
	if (!c)
		return 1;
	if (argc - optind != 2)
		return command_usage();
	if (!msr_number(argv[optind], &call.msr) ||
	    !command_number(argv[optind + 1], 0, &call.value))
		return 1;
	return msr_run(&call);
}
