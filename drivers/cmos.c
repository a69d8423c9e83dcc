/* Motorola MC146818 data sheet; registers behind ports 0x70 and 0x71. Contexts: cmos.h. */
#include "drivers/cmos.h"

#include "arch/arch.h"

enum { CMOS_INDEX = 0x70, CMOS_DATA = 0x71 };
enum {
	CMOS_SECOND = 0,
	CMOS_MINUTE = 2,
	CMOS_HOUR = 4,
	CMOS_DAY = 7,
	CMOS_MONTH = 8,
	CMOS_YEAR = 9,
	CMOS_A = 0xa,
	CMOS_B = 0xb
};
enum { A_UPDATING = 0x80, B_BINARY = 4, B_24_HOURS = 2, HOUR_PM = 0x80 };

#define UPDATE_POLLS 10000 /* an update lasts at most 2 ms */

struct cmos_time {
	u8 second, minute, hour, day, month, year, century;
};

static u8 cmos_read(u8 reg)
{
	port_out8(CMOS_INDEX, reg);
	return port_in8(CMOS_DATA);
}

static struct cmos_time cmos_read_registers(u8 century_register)
{
	for (unsigned i = 0; i < UPDATE_POLLS && cmos_read(CMOS_A) & A_UPDATING; i++)
		cpu_relax();
	return (struct cmos_time){
	    .second = cmos_read(CMOS_SECOND),
	    .minute = cmos_read(CMOS_MINUTE),
	    .hour = cmos_read(CMOS_HOUR),
	    .day = cmos_read(CMOS_DAY),
	    .month = cmos_read(CMOS_MONTH),
	    .year = cmos_read(CMOS_YEAR),
	    .century = century_register ? cmos_read(century_register) : 0,
	};
}

static u8 from_bcd(u8 v)
{
	return (v & 15) + (v >> 4) * 10;
}

/* To binary and 24 hours. */
static void normalise(struct cmos_time *t, u8 b)
{
	bool pm = !(b & B_24_HOURS) && t->hour & HOUR_PM;
	if (!(b & B_24_HOURS))
		t->hour &= (u8)~HOUR_PM;
	if (!(b & B_BINARY)) {
		u8 *field = &t->second;
		for (size_t i = 0; i < sizeof(*t); i++)
			field[i] = from_bcd(field[i]);
	}
	if (!(b & B_24_HOURS))
		t->hour = t->hour % 12 + (pm ? 12 : 0);
}

static bool plausible(const struct cmos_time *t)
{
	return t->second < 61 && t->minute < 60 && t->hour < 24 && t->day >= 1 && t->day <= 31 &&
	       t->month >= 1 && t->month <= 12 && t->year < 100;
}

/* Days from 1970-01-01 to the date in the Gregorian calendar; years counted from March so that the
 * leap day is last. */
static u64 days_since_1970(u64 year, unsigned month, unsigned day)
{
	if (month <= 2)
		year--;
	unsigned from_march = (month + 9) % 12;
	u64 days =
	    year * 365 + year / 4 - year / 100 + year / 400 + (from_march * 153 + 2) / 5 + day - 1;
	return days - 719468; /* the same count for 1970-01-01 */
}

u64 cmos_unix_seconds(u8 century_register)
{
	if (cmos_read(CMOS_A) == 0xff)
		return 0; /* nobody answers */
	struct cmos_time t = cmos_read_registers(century_register), again;
	for (unsigned i = 0; i < 4; i++) {
		again = cmos_read_registers(century_register);
		if (!__builtin_memcmp(&t, &again, sizeof(t)))
			break;
		t = again;
	}
	normalise(&t, cmos_read(CMOS_B));
	if (!plausible(&t))
		return 0;
	u64 year = t.year + (t.century >= 19 && t.century <= 21 ? t.century * 100
				: t.year < 70			? 2000
								: 1900);
	u64 days = days_since_1970(year, t.month, t.day);
	return ((days * 24 + t.hour) * 60 + t.minute) * 60 + t.second;
}
