/* sleep N[smhd]...: waits for the sum of the times given, fractions too. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds_per(char unit)
{
	switch (unit) {
	case '\0':
	case 's':
		return 1;
	case 'm':
		return 60;
	case 'h':
		return 3600;
	case 'd':
		return 86400;
	default:
		return -1;
	}
}

int main(int argc, char **argv)
{
	double sum = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: sleep N[smhd]...\n");
		return 1;
	}
	for (int i = 1; i < argc; i++) {
		char *end;
		double n = strtod(argv[i], &end), unit = seconds_per(*end);

		if (end == argv[i] || !(n >= 0) || unit < 0 || (*end && end[1])) {
			fprintf(stderr, "sleep: invalid number '%s'\n", argv[i]);
			return 1;
		}
		sum += n * unit;
	}
	if (sum > 1e9)
		sum = 1e9;
	struct timespec t = {.tv_sec = (time_t)sum};
	t.tv_nsec = (long)((sum - t.tv_sec) * 1e9);
	while (nanosleep(&t, &t) && errno == EINTR)
		;
	return 0;
}
