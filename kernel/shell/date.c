/* Calendar dates (Gregorian, UTC). Pure; any context. */
#include "kernel/shell/date.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/seq.h"

static const char months[][4] = {
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
static const char weekdays[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};

/* Days are counted in a year that begins in March, so that the leap day is its last. */
struct sh_date sh_date_of(u64 unix_ns)
{
	u64 seconds = unix_ns / 1000000000, days = seconds / 86400;
	u64 d = days + 719468, era = d / 146097, doe = d % 146097;
	u64 yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	u64 doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
	struct sh_date r = {
	    .day = doy - (153 * mp + 2) / 5 + 1,
	    .month = mp < 10 ? mp + 3 : mp - 9,
	    .hour = seconds / 3600 % 24,
	    .minute = seconds / 60 % 60,
	    .second = seconds % 60,
	    .weekday = (days + 4) % 7,
	};

	r.year = yoe + era * 400 + (r.month <= 2);
	return r;
}

void sh_date_ls(u64 unix_ns, u64 now_ns, char out[32])
{
	const u64 half_year = 15768000UL * 1000000000UL;
	struct sh_date d = sh_date_of(unix_ns);
	u64 apart = unix_ns > now_ns ? unix_ns - now_ns : now_ns - unix_ns;

	if (apart > half_year)
		snprintf(out, 32, "%s %2d  %4d", months[d.month - 1], d.day, d.year);
	else
		snprintf(out, 32, "%s %2d %02d:%02d", months[d.month - 1], d.day, d.hour, d.minute);
}

void sh_date_full(u64 unix_ns, char out[32])
{
	sh_date_format(unix_ns, "%a %b %e %T UTC %Y", out, 32);
}

static void put_conversion(struct seq *s, char c, const struct sh_date *d, u64 unix_ns)
{
	switch (c) {
	case 'a':
		seq_puts(s, weekdays[d->weekday]);
		break;
	case 'b':
		seq_puts(s, months[d->month - 1]);
		break;
	case 'd':
		seq_printf(s, "%02d", d->day);
		break;
	case 'e':
		seq_printf(s, "%2d", d->day);
		break;
	case 'F':
		seq_printf(s, "%04d-%02d-%02d", d->year, d->month, d->day);
		break;
	case 'H':
		seq_printf(s, "%02d", d->hour);
		break;
	case 'm':
		seq_printf(s, "%02d", d->month);
		break;
	case 'M':
		seq_printf(s, "%02d", d->minute);
		break;
	case 'N':
		seq_printf(s, "%09llu", (unsigned long long)(unix_ns % 1000000000));
		break;
	case 's':
		seq_printf(s, "%llu", (unsigned long long)(unix_ns / 1000000000));
		break;
	case 'S':
		seq_printf(s, "%02d", d->second);
		break;
	case 'T':
		seq_printf(s, "%02d:%02d:%02d", d->hour, d->minute, d->second);
		break;
	case 'Y':
		seq_printf(s, "%04d", d->year);
		break;
	case '%':
		seq_putc(s, '%');
		break;
	default:
		seq_printf(s, "%%%c", c);
	}
}

size_t sh_date_format(u64 unix_ns, const char *format, char *out, size_t size)
{
	struct sh_date d = sh_date_of(unix_ns);
	struct seq s;

	seq_init(&s, out, size - 1);
	for (; *format; format++) {
		if (format[0] == '%' && format[1])
			put_conversion(&s, *++format, &d, unix_ns);
		else
			seq_putc(&s, *format);
	}
	out[s.len] = 0;
	return s.len;
}
