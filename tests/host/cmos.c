/* drivers/cmos.c on registers as a PC's clock has them: what time it makes of each. */
#include "drivers/cmos.h"
#include "kernel/lib/ktap.h"
#include "kernel/lib/string.h"
#include "tests/host/ports.h"

enum { SECOND = 0, MINUTE = 2, HOUR = 4, DAY = 7, MONTH = 8, YEAR = 9, A = 0xa, B = 0xb };
enum { CENTURY = 0x32, BINARY = 4, HOURS_24 = 2, PM = 0x80, UPDATING = 0x80 };

static u8 reg[128], index;
static unsigned updates;	/* readings of A that are within an update, from now on */
static unsigned reads, tick_at; /* of the seconds; the reading after which a second passes */

static u32 in(u16 port, unsigned bytes)
{
	u8 v = reg[index & 127];

	EXPECT_EQ(bytes, 1);
	if (port == 0x70)
		return 0xff;
	if (index == A && updates) {
		updates--;
		return v | UPDATING;
	}
	if (index == SECOND && ++reads == tick_at)
		reg[SECOND]++;
	return v;
}

static void out(u16 port, unsigned bytes, u32 v)
{
	EXPECT_EQ(bytes, 1);
	if (port == 0x70)
		index = v;
	else
		ktap_fail(__FILE__, __LINE__, "the clock is set");
}

static const struct port_device clock[] = {{0x70, 0x71, in, out}};

static void begin(u8 mode)
{
	memset(reg, 0, sizeof(reg));
	reg[B] = mode;
	updates = reads = tick_at = 0;
	ports_begin(clock, 1);
}

static void set(u8 year, u8 month, u8 day, u8 hour, u8 minute, u8 second)
{
	reg[YEAR] = year;
	reg[MONTH] = month;
	reg[DAY] = day;
	reg[HOUR] = hour;
	reg[MINUTE] = minute;
	reg[SECOND] = second;
}

/* The day is the calendar's, leap days and the years without one among them. */
static void days(void)
{
	static const struct {
		u8 century, year, month, day;
		u64 seconds;
	} rows[] = {{19, 70, 1, 1, 0}, {20, 0, 2, 29, 951782400}, {20, 0, 3, 1, 951868800},
	    {20, 24, 2, 29, 1709164800}, {20, 24, 12, 31, 1735603200}, {20, 25, 1, 1, 1735689600},
	    {21, 0, 2, 28, 4107456000}, {21, 0, 3, 1, 4107542400}};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		begin(BINARY | HOURS_24);
		reg[CENTURY] = rows[i].century;
		set(rows[i].year, rows[i].month, rows[i].day, 0, 0, 0);
		EXPECT_EQ(cmos_unix_seconds(CENTURY), rows[i].seconds);
		ports_end();
	}
}

/* Without a century the year lies between 1970 and 2069. */
static void centuries(void)
{
	static const struct {
		u8 year;
		u64 seconds;
	} rows[] = {{70, 0}, {99, 915148800}, {0, 946684800}, {69, 3124224000}};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++)
		for (unsigned wrong = 0; wrong < 2; wrong++) {
			begin(BINARY | HOURS_24);
			set(rows[i].year, 1, 1, 0, 0, 0);
			reg[CENTURY] = wrong ? 99 : 0; /* no century that can be */
			EXPECT_EQ(cmos_unix_seconds(wrong ? CENTURY : 0), rows[i].seconds);
			ports_end();
		}
}

/* Of twelve hours, 12 comes first: 12 AM is midnight, 12 PM noon. */
static void hours(void)
{
	static const u8 rows[][2] = {
	    {12, 0}, {1, 1}, {11, 11}, {12 | PM, 12}, {1 | PM, 13}, {11 | PM, 23}};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		begin(BINARY);
		set(70, 1, 1, rows[i][0], 2, 3);
		EXPECT_EQ(cmos_unix_seconds(0), rows[i][1] * 3600 + 2 * 60 + 3);
		ports_end();
	}
	begin(BINARY | HOURS_24);
	set(70, 1, 1, 12, 0, 0);
	EXPECT_EQ(cmos_unix_seconds(0), 12 * 3600);
	ports_end();
}

/* Digits are usually decimal, also those of twelve hours and of the century. */
static void decimal(void)
{
	begin(HOURS_24);
	reg[CENTURY] = 0x20;
	set(0x24, 0x12, 0x31, 0x23, 0x59, 0x58);
	EXPECT_EQ(cmos_unix_seconds(CENTURY), 1735603200 + 86400 - 2);
	ports_end();
	begin(0);
	set(0x70, 1, 1, 0x12 | PM, 0, 0);
	EXPECT_EQ(cmos_unix_seconds(0), 12 * 3600);
	reg[HOUR] = 0x12;
	EXPECT_EQ(cmos_unix_seconds(0), 0);
	reg[HOUR] = 0x10 | PM;
	EXPECT_EQ(cmos_unix_seconds(0), 22 * 3600);
	ports_end();
}

/* A time that cannot be is none. */
static void implausible(void)
{
	static const u8 rows[][6] = {{70, 0, 1, 0, 0, 0}, {70, 13, 1, 0, 0, 0}, {70, 1, 0, 0, 0, 0},
	    {70, 1, 32, 0, 0, 0}, {70, 1, 2, 24, 0, 0}, {70, 1, 2, 0, 60, 0}, {70, 1, 2, 0, 0, 61},
	    {100, 1, 2, 0, 0, 0}};

	for (unsigned i = 0; i < ARRAY_SIZE(rows); i++) {
		begin(BINARY | HOURS_24);
		set(rows[i][0], rows[i][1], rows[i][2], rows[i][3], rows[i][4], rows[i][5]);
		EXPECT_EQ(cmos_unix_seconds(0), 0);
		ports_end();
	}
	begin(BINARY | HOURS_24);
	memset(reg, 0xff, sizeof(reg)); /* there is no chip */
	EXPECT_EQ(cmos_unix_seconds(0), 0);
	ports_end();
}

/* It waits for an update to end, but not for ever, and reads again what changed meanwhile. */
static void updated(void)
{
	begin(BINARY | HOURS_24);
	set(70, 1, 1, 0, 0, 5);
	updates = 100;
	EXPECT_EQ(cmos_unix_seconds(0), 5);
	EXPECT_EQ(updates, 0);
	updates = ~0u;
	EXPECT_EQ(cmos_unix_seconds(0), 5);
	reads = updates = 0;
	tick_at = 1;
	EXPECT_EQ(cmos_unix_seconds(0), 6);
	ports_end();
}

static const struct ktap_case cases[] = {
    {"cmos.days", days},
    {"cmos.centuries", centuries},
    {"cmos.hours", hours},
    {"cmos.decimal", decimal},
    {"cmos.implausible", implausible},
    {"cmos.updated", updated},
    {NULL, NULL},
};
extern const struct ktap_suite suite_cmos;
const struct ktap_suite suite_cmos = {cases};
