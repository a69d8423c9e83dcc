/* Times of EventHeader fields, as dates. Pure: any context. */
#include "trace/user/eventheader/priv.h"

/*
 * The first and the last second of the years that C's struct tm can hold: those that Microsoft's
 * decoder shows as a date.
 */
#define TIME_FIRST (-67768040609740800)
#define TIME_LAST  67768036191676799
#define DAY	   86400
#define CYCLE	   146097  /* days of 400 years, after which the calendar repeats itself */
#define PAST	   5368710 /* cycles added before counting: no year above lies before them */
#define EPOCH	   719468  /* days from March 1 of the year 0 to January 1, 1970 */

static void put_year(struct seq *s, s64 year)
{
	if (year < 0)
		seq_putc(s, '-');
	seq_dec(s, year < 0 ? -year : year, 4, '0');
}

/*
 * days: since January 1, 1970, and PAST cycles more, so that none is negative. The year begins on
 * March 1 here: a leap day is its last day, and the first day of a month is a matter of arithmetic.
 */
static void put_date(struct seq *s, u64 days)
{
	u64 since = days + EPOCH, cycles = since / CYCLE, day = since % CYCLE;
	u64 year = (day - day / 1460 + day / 36524 - day / (CYCLE - 1)) / 365;

	day -= year * 365 + year / 4 - year / 100;
	u64 month = (5 * day + 2) / 153; /* 0: March */
	day -= (153 * month + 2) / 5;
	put_year(s, ((s64)cycles - PAST) * 400 + year + (month >= 10));
	seq_putc(s, '-');
	seq_dec(s, month < 10 ? month + 3 : month - 9, 2, '0');
	seq_putc(s, '-');
	seq_dec(s, day + 1, 2, '0');
}

void eh_time_put(struct seq *s, s64 v)
{
	if (v < TIME_FIRST || v > TIME_LAST) {
		seq_puts(s, "TIME(");
		eh_signed_put(s, v);
		seq_putc(s, ')');
		return;
	}
	u64 t = v + (s64)PAST * CYCLE * DAY;
	put_date(s, t / DAY);
	t %= DAY;
	seq_putc(s, 'T');
	seq_dec(s, t / 3600, 2, '0');
	seq_putc(s, ':');
	seq_dec(s, t / 60 % 60, 2, '0');
	seq_putc(s, ':');
	seq_dec(s, t % 60, 2, '0');
	seq_putc(s, 'Z');
}
