/*
 * The ring buffer's algorithm, for Spin: the steps of trace/ring/ring.c (W, C, discarding) and trace/ring/reader.c
 * (L, R), by the same numbers. One CPU writes in three contexts, each interrupting the ones below between any two steps; a
 * reader on another CPU runs at any time. tests/drive/spin-check says which runs there are; the environment chooses:
 *
 *   OVERWRITE 0, 1      CAP  units of room in a sub-buffer          TASK, IRQ, NMI  events written by each context
 *   DISCARD   0, 1: events may be discarded     FRONT 0, 1: events may need a unit of time in front
 *   EXCHANGE  0, 1: the reader may take whole sub-buffers away      HURRY 0, 1: the reader may give up waiting at R4
 *   LEAVE     0, 1: instead of an event, an interrupt may send the tail out of the reader's page (trace/ring/map.c, G2)
 *   MUTANT    0: none; else the step that is done wrong, see tests/drive/spin-check
 *
 * An access to memory that others see is one step. Where the machine does a read and a write without a lock prefix, they are
 * two steps for the reader, but one for interrupts (RMW). Compiled with -DTSO, the writer's stores reach the reader through a
 * queue, as x86 has it; an access with a lock prefix waits for the queue to be empty.
 *
 * The clock ticks with each reservation, so times are as different as they can be. Variables g_* are what a spectator knows.
 */
#define COUNT	2		/* sub-buffers in the ring */
#define PAGES	(COUNT + 3)	/* and the reader's, the spare one, the user's */
#define MAXCAP	3
#define LAPS	8		/* a lap is counted modulo this, as with 28 bits */
#define NUMBERS (LAPS * COUNT)
#define EVENTS	12		/* ids are 1.. */

byte overwrite, cap, mutant, may_discard, may_front, may_exchange, may_hurry, may_leave, budget[3];
#define MUT(k) (mutant == k)

/* ---- Words ---- */

#define NUM_LAP(n)	((n) / COUNT)
#define NUM_INDEX(n)	((n) % COUNT)
#define NUM_ADD(n, k)	(((n) + (k)) % NUMBERS)
#define NUM_DIST(a, b)	(((b) + NUMBERS - (a)) % NUMBERS)	/* more than half of NUMBERS: negative */
#define SLOT(p, lap)	((p) + 8 * (lap))
#define SLOT_PAGE(s)	((s) % 8)
#define SLOT_LAP(s)	((s) / 8)
#define LAP_ADD(l, k)	(((l) + (k)) % LAPS)
#define TAIL(cross, p, off)	((off) + 8 * (p) + 64 * (cross))
#define TAIL_OFF(t)	((t) % 8)
#define TAIL_PAGE(t)	(((t) / 8) % 8)
#define TAIL_ADDR(t)	((t) % 64)
#define TAIL_CROSS(t)	((t) / 64)
#define NO_PAGE		7
#define ACC(lap, pad, ev, bytes)	((bytes) + 8 * (ev) + 64 * (pad) + 512 * (lap))
#define ACC_BYTES(a)	((a) % 8)
#define ACC_EVENTS(a)	(((a) / 8) % 8)
#define ACC_PAD(a)	(((a) / 64) % 8)
#define ACC_LAP(a)	((a) / 512)
#define FINISHED(a)	(ACC_BYTES(a) == cap)

/* What a unit of a sub-buffer holds: an event's id while only its header is there, WHOLE when its data is. */
#define WHOLE	16
#define PADDING 32	/* the rest of the sub-buffer */
#define TIME	33	/* a unit of time in front of an event */
#define DISCARDED 64	/* with the id */

/* ---- Memory: `mem` is what other CPUs see; `own` what the writing CPU sees ---- */

#define A_TAIL	 0
#define A_NUMBER 1
#define A_EVENTS 2	/* evicted_events */
#define A_PAGES	 3	/* evicted_pages */
#define A_ACC(p) (4 + (p))
#define A_STAMP(p) (4 + PAGES + (p))
#define A_DATA(p, u) (4 + 2 * PAGES + (p) * MAXCAP + (u))
#define WORDS	 (4 + 2 * PAGES + PAGES * MAXCAP)

short mem[WORDS];
#ifdef TSO
short own[WORDS];
chan queue = [2] of { byte, short };
#define STORE(a, v)	own[a] = v; queue!a,own[a]
#define READER_STORE(a, v) mem[a] = v; own[a] = v
#define ROOM		nfull(queue)
#define DRAINED		empty(queue)
#else
#define own mem
#define STORE(a, v)	mem[a] = v
#define READER_STORE(a, v) mem[a] = v
#define ROOM		true
#define DRAINED		true
#endif
byte slots[COUNT];	/* only changed by locked accesses: one view */
byte tail_b;		/* the tail's second word: no other CPU looks at it */
byte depth;		/* lane.depth */
byte dropped, overrun;

/* ---- The CPU that writes ---- */

byte level;		/* the context that runs */
bool r_lock, r_open;	/* the reader lock; the page that is read is not finished */
byte r_page = COUNT;
#define RMW 8		/* it is between the read and the write of one instruction */
#define ON	(level == me)
byte done;		/* contexts that have written all they will */

/* ---- The spectator ---- */

#define NONE	 0
#define RESERVED 1
#define STORED	 2
#define GONE	 3	/* discarded */
#define REFUSED	 4
#define EVICTED	 5
#define READ	 6
byte g_state[EVENTS], g_page[EVENTS], g_size[EVENTS], g_stamp[EVENTS], g_delta[EVENTS];
byte g_clock, g_number = COUNT - 1, g_open, g_evicted;

/* An event got its place. */
inline reserved(id, page, size, stamp)
{
	g_state[id] = RESERVED;
	g_page[id] = page;
	g_size[id] = size;
	g_stamp[id] = stamp;
	g_open++;
	g_clock++
}

/* An event's fate is known: nobody will ask for the rest of it. */
inline settle(id, fate)
{
	g_state[id] = fate;
	g_page[id] = 0;
	g_size[id] = 0;
	g_stamp[id] = 0;
	g_delta[id] = 0
}

/* A sub-buffer was evicted by a writer that believes it to be `nx` - COUNT, with account `a`. */
inline evicted(page, nx, a)
{
	assert(nx == NUM_ADD(g_number, 1));
	assert(cap - TAIL_OFF(own[A_TAIL]) < size + front || leaving);	/* and there is need */
	g_i = 1;
	g_n = 0;
	do
	:: g_i < EVENTS ->
		if
		:: g_page[g_i] == page && g_state[g_i] == STORED -> settle(g_i, EVICTED); g_n++
		:: g_page[g_i] == page && g_state[g_i] == RESERVED -> assert(false)
		:: else
		fi;
		g_i++
	:: else -> break
	od;
	assert(g_n == ACC_EVENTS(a));
	g_evicted = g_evicted + g_n;
	g_i = 0;
	g_n = 0
}
hidden byte g_i, g_n;

/* A writer is refused: is there a reason? */
inline refused(id, nx, word)
{
	assert(nx == NUM_ADD(g_number, 1));
	assert(SLOT_LAP(word) == LAP_ADD(NUM_LAP(nx), LAPS - 1));
	assert(cap - TAIL_OFF(own[A_TAIL]) < size + front && !leaving);
	if
	:: overwrite -> assert(g_open > 0); overrun++
	:: else -> dropped++
	fi;
	g_state[id] = REFUSED
}

/* ---- Writers ---- */

/* One instruction that adds v to a word, without a lock prefix. */
#define ADD(a, v) \
	atomic { ON; x = own[a]; level = level | RMW }; \
	atomic { level == (me | RMW) && ROOM; STORE(a, x + (v)); x = 0; level = me }

/* Variables that are not needed any more are 0, here and in the reader: fewer states. */
#define FORGET	ta = 0; tb = 0; now = 0; n = 0; nx = 0; word = 0; acc = 0; tries = 0

proctype writer(byte me; byte id)
{
	byte saved, size, front, off, p, now, tb, n, nx, word, tries, last;
	bool discard, leaving;
	short ta, acc, x;

	last = id + budget[me];
next_event:
	atomic {					/* W1 */
		if
		:: id == last -> done++; goto out
		:: id < last && ((me == 0 && level == 0) || (me > 0 && level < me))
		fi;
		assert(depth > 0 || g_open == 0);	/* here the rings could be swapped */
		saved = level;
		level = me;
		depth++;
		if
		:: size = 1
		:: cap > 1 -> size = 2
		fi;
		if
		:: discard = false
		:: may_discard -> discard = true
		:: may_leave && me == 1 && depth == 1 && r_open && !r_lock -> discard = true; leaving = true; r_lock = true
		fi;
		if
		:: front = 0
		:: may_front && size < cap -> front = 1
		fi }
again:
	atomic { ON;					/* W2 */
		assert(tries <= EVENTS);
		tries++;
		n = 0; nx = 0; word = 0; acc = 0; p = 0; now = 0;
		ta = own[A_TAIL] };
	if						/* write.h reads the clock first */
	:: tries > 1 || leaving
	:: tries == 1 && !leaving -> atomic { ON; now = g_clock + 1 }
	fi;
	atomic { ON; tb = tail_b };
	atomic { ON;					/* W3 */
		if
		:: now && now - 1 < tb -> goto again
		:: now && now - 1 >= tb -> now = now - 1
		:: !now -> now = (leaving -> tb : g_clock)
		fi;
		off = TAIL_OFF(ta);
		if
		:: leaving && (TAIL_PAGE(ta) != r_page || off == cap) -> g_state[id] = GONE; goto leave
		:: leaving && TAIL_PAGE(ta) == r_page && off < cap -> goto cross
		:: !leaving
		fi;
		if
		:: cap - off < size + front && (overwrite || tries > 1) -> goto cross
		:: cap - off < size + front && !overwrite && tries == 1
		:: else -> p = TAIL_PAGE(ta); goto here
		fi };
	atomic { ON; nx = NUM_ADD(own[A_NUMBER], 1) };	/* full? */
	atomic { ON; word = slots[NUM_INDEX(nx)];
		if
		:: SLOT_LAP(word) == LAP_ADD(NUM_LAP(nx), LAPS - 1)
		:: else -> goto again
		fi };
	atomic { ON;
		if
		:: own[A_TAIL] == ta || MUT(29) -> refused(id, nx, word); goto leave
		:: else -> goto again
		fi };
here:
	atomic { ON && ROOM;				/* W4 */
		if
		:: own[A_TAIL] != ta && !MUT(1) -> goto again
		:: tail_b != tb && !MUT(1) && !MUT(2) -> goto again
		:: else
		fi;
		assert(now >= tail_b || MUT(1));
		STORE(A_TAIL, ta + size + front);
		g_delta[id] = now - tb;
		reserved(id, p, size, now);
		if
		:: MUT(2)
		:: else -> tail_b = now
		fi;
		if
		:: front || MUT(2)
		:: else -> FORGET; goto fill
		fi };
	atomic { ON && ROOM;
		if
		:: MUT(2) -> tail_b = now
		:: else
		fi;
		if
		:: front -> STORE(A_DATA(p, off), TIME); off++
		:: else -> FORGET; goto fill
		fi };
	ADD(A_ACC(p), 1);
	atomic { ON; front = 0; FORGET; goto fill };

cross:
	atomic { ON; n = own[A_NUMBER]; nx = NUM_ADD(n, 1) };	/* C0 */
	atomic { ON; word = slots[NUM_INDEX(nx)];
		if
		:: SLOT_LAP(word) == NUM_LAP(nx) && SLOT_PAGE(word) == TAIL_PAGE(ta) && !MUT(3)
		:: else -> goto same
		fi };
	atomic { ON;
		if
		:: own[A_TAIL] != ta && !MUT(20) -> goto again
		:: else
		fi };
	atomic { ON && ROOM;
		if
		:: own[A_NUMBER] == n -> STORE(A_NUMBER, nx)
		:: else
		fi;
		n = nx;
		nx = NUM_ADD(nx, 1) };
same:
	atomic { ON;
		word = 0;
		if
		:: own[A_TAIL] != ta && !MUT(4) -> goto again
		:: else
		fi };
look:
	atomic { ON; word = slots[NUM_INDEX(nx)]; p = SLOT_PAGE(word) };	/* C1 */
	atomic { ON; acc = own[A_ACC(p)];
		if
		:: SLOT_LAP(word) == NUM_LAP(nx) && ACC_LAP(acc) == NUM_LAP(nx) -> goto enter
		:: SLOT_LAP(word) == NUM_LAP(nx) && ACC_LAP(acc) != NUM_LAP(nx)
		:: SLOT_LAP(word) == LAP_ADD(NUM_LAP(nx), LAPS - 1) || (SLOT_LAP(word) != NUM_LAP(nx) && MUT(8)) ->
			goto unread
		:: else -> goto again
		fi };
	atomic { ON;
		if
		:: slots[NUM_INDEX(nx)] != word && !MUT(5) -> goto again
		:: else
		fi };
	if							/* C4 */
	:: atomic { ON && DRAINED && !MUT(6) && !MUT(7);
		if
		:: own[A_ACC(p)] == acc -> READER_STORE(A_ACC(p), ACC(NUM_LAP(nx), 0, 0, 0))
		:: else
		fi;
		goto enter }
	:: atomic { ON && ROOM && MUT(6); STORE(A_ACC(p), ACC(NUM_LAP(nx), 0, 0, 0)); goto enter }
	:: atomic { ON && MUT(7); x = own[A_ACC(p)]; level = level | RMW };
		atomic { level == (me | RMW) && ROOM;
			STORE(A_ACC(p), (x == acc -> ACC(NUM_LAP(nx), 0, 0, 0) : x));	/* it stores in any case */
			x = 0;
			level = me;
			goto enter }
	fi;
unread:
	atomic { ON && (DRAINED || !overwrite || !FINISHED(acc));
		if						/* C2 */
		:: !overwrite || (!FINISHED(acc) && !MUT(9)) ->
			if
			:: slots[NUM_INDEX(nx)] != word && !MUT(10) -> goto look
			:: else -> refused(id, nx, word); goto leave
			fi
		:: else
		fi;
		if						/* C3 */
		:: slots[NUM_INDEX(nx)] != word && !MUT(11) -> goto look
		:: else
		fi;
		slots[NUM_INDEX(nx)] = SLOT(p, NUM_LAP(nx));
		evicted(p, nx, acc) };
	ADD((MUT(12) -> A_PAGES : A_EVENTS), (MUT(12) -> 1 : ACC_EVENTS(acc)));
	ADD((MUT(12) -> A_EVENTS : A_PAGES), (MUT(12) -> ACC_EVENTS(acc) : 1));
	goto look;

enter:
	atomic { ON && ROOM;					/* C5 */
		word = 0;
		acc = 0;
		if
		:: own[A_TAIL] != ta || tail_b != tb -> goto again
		:: else
		fi;
		assert(nx == NUM_ADD(g_number, 1) && now >= tail_b);
		STORE(A_TAIL, TAIL((TAIL_CROSS(ta) + 1) % 8, p, size));
		tail_b = now;
		g_number = nx;
		g_delta[id] = 0;
		reserved(id, p, size, now);
		tries = 0;
		tb = 0 };
	atomic { ON && ROOM;
		if
		:: own[A_NUMBER] == n && !MUT(14) -> STORE(A_NUMBER, nx)
		:: else
		fi;
		n = 0;
		nx = 0;
		if
		:: off == cap -> goto stamp
		:: else
		fi };
	atomic { ON && ROOM; STORE(A_DATA(TAIL_PAGE(ta), off), PADDING) };
	ADD(A_ACC(TAIL_PAGE(ta)), (cap - off) * (MUT(15) -> 0 : (MUT(16) -> 1 : 65)));
stamp:
	atomic { ON && ROOM;
		if
		:: MUT(17)
		:: else -> STORE(A_STAMP(p), now)
		fi;
		off = 0;
		front = 0;
		FORGET };

fill:
	if
	:: atomic { ON && ROOM && !MUT(13); STORE(A_DATA(p, off), id) }			/* W5 */
	:: atomic { ON && MUT(13) && ROOM; STORE(A_ACC(p), own[A_ACC(p)] + size + 8) }
	fi;
	atomic { ON && ROOM;
		STORE(A_DATA(p, off), id + WHOLE);
		if
		:: discard -> goto drop
		:: !discard && MUT(18) -> depth--
		:: else
		fi };
	atomic { ON; x = own[A_ACC(p)]; level = level | RMW };			/* W6 */
	atomic { level == (me | RMW) && ROOM;
		STORE(A_ACC(p), x + (MUT(13) -> 0 : size + 8));
		x = 0;
		level = me;
		g_state[id] = STORED;
		g_open--;
		goto leave };

drop:
	atomic { ON; ta = own[A_TAIL] };
	atomic { ON; tb = tail_b;
		if
		:: TAIL_ADDR(ta) == TAIL(0, p, off + size) || MUT(19)
		:: else -> goto pad
		fi };
	atomic { ON && ROOM;
		if
		:: own[A_TAIL] == ta && tail_b == tb ->
			STORE(A_TAIL, ta - size);
			tail_b = (MUT(21) -> tb : tb - g_delta[id]);
			settle(id, GONE);
			g_open--;
			goto leave
		:: else
		fi };
pad:
	atomic { ON && ROOM; ta = 0; tb = 0; STORE(A_DATA(p, off), id + DISCARDED) };
	atomic { ON; x = own[A_ACC(p)]; level = level | RMW };
	atomic { level == (me | RMW) && ROOM;
		STORE(A_ACC(p), x + size);
		x = 0;
		level = me;
		g_state[id] = GONE;
		g_open-- };

leave:
	atomic { ON;						/* W7 */
		if
		:: MUT(18) && g_state[id] == STORED
		:: else -> depth--
		fi;
		level = saved;
		id++;
		FORGET;
		saved = 0; size = 0; front = 0; off = 0; p = 0; discard = false;
		if
		:: leaving -> leaving = false; r_lock = false
		:: else
		fi;
		goto next_event };
out:
	skip
}

#ifdef TSO
active proctype store_queue()
{
	byte a;
	short v;

end:
	do
	:: atomic { queue?a,v; mem[a] = v; a = 0; v = 0 }
	od
}
#endif

/* ---- The reader ---- */

byte r_spare = COUNT + 1, u_page = COUNT + 2, r_off, r_end, r_stamp, r_next = COUNT, r_skipped, g_last;
short u_commit;		/* what the user's page was given with */

/* Reads what there is from r_off to r_end. */
inline read_events()
{
	do
	:: r_off < r_end ->
		w = mem[A_DATA(r_page, r_off)];
		if
		:: w == TIME -> r_off++
		:: w >= DISCARDED ->
			w = w - DISCARDED;
			r_stamp = r_stamp + g_delta[w];
			r_off = r_off + g_size[w];
			settle(w, GONE)
		:: w < DISCARDED && w != TIME ->
			assert(w > WHOLE && w < WHOLE + EVENTS);	/* an event, and all of it */
			w = w - WHOLE;
			assert(g_state[w] == STORED);			/* and not read before */
			r_stamp = r_stamp + g_delta[w];
			assert(r_stamp == g_stamp[w]);
			assert(r_stamp + 1 > g_last);			/* in order */
			g_last = r_stamp + 1;
			r_off = r_off + g_size[w];
			settle(w, READ)
		fi
	:: else -> break
	od;
	assert(r_off == r_end);
	w = 0
}

/* Everything is written and nothing is left to read: does it add up? */
inline balance()
{
	g_i = 1;
	g_n = 0;
	do
	:: g_i < EVENTS ->
		assert(g_state[g_i] != RESERVED && g_state[g_i] != STORED);
		if
		:: g_state[g_i] == REFUSED -> g_n++
		:: else
		fi;
		g_i++
	:: else -> break
	od;
	assert(g_n == dropped + overrun);
	assert(mem[A_EVENTS] == g_evicted);
	assert(depth == 0 && g_open == 0);
	assert(mem[A_ACC(u_page)] == u_commit);
	g_i = 0;
	g_n = 0
}

proctype reader()
{
	short acc, t, w;
	byte word, ev, x, tries;
	bool last, late;

end:
	atomic {
		!r_lock;
		r_lock = true;
		last = (done == 3 && DRAINED);
		tries = (last -> tries + 1 : 0);
		assert(tries < 2 * NUMBERS) };
look:
	if						/* R1 */
	:: atomic { r_open && MUT(22); t = mem[A_TAIL] };
		acc = mem[A_ACC(r_page)]
	:: atomic { r_open && !MUT(22); acc = mem[A_ACC(r_page)] };		/* L1 */
		t = mem[A_TAIL]							/* L2 */
	:: atomic { !r_open -> goto next }
	fi;
	atomic {
		if
		:: FINISHED(acc) -> r_open = false; r_end = cap - ACC_PAD(acc)
		:: !FINISHED(acc) && (TAIL_ADDR(t) == TAIL(0, r_page, ACC_BYTES(acc)) || MUT(23)) ->
			r_end = ACC_BYTES(acc)
		:: else							/* L3 */
		fi;
		acc = 0;
		t = 0;
		if
		:: r_off == r_end && r_open -> goto nothing
		:: r_off == r_end && !r_open -> goto next
		:: r_off < r_end && r_off == 0 && !r_open && may_exchange -> goto away
		:: r_off < r_end -> read_events(); r_lock = false; goto end
		fi };
away:							/* the whole sub-buffer */
	atomic {
		read_events();
		assert(mem[A_ACC(u_page)] == u_commit);
		READER_STORE(A_ACC(r_page), r_end);
		u_commit = r_end;
		x = r_page;
		r_page = u_page;
		u_page = x;
		x = 0;
		r_off = 0;
		r_end = 0;
		r_lock = false; goto end };
next:
	atomic { word = slots[NUM_INDEX(r_next)];	/* R2 */
		if
		:: SLOT_LAP(word) == NUM_LAP(r_next) -> goto there
		:: else -> word = 0
		fi };
	atomic { x = NUM_DIST(r_next, mem[A_NUMBER]);
		if
		:: x >= COUNT && x < NUMBERS / 2 -> x = x - (MUT(24) -> 0 : COUNT - 1)
		:: else -> x = (SLOT_LAP(slots[NUM_INDEX(r_next)]) != NUM_LAP(r_next) -> 1 : 0)
		fi;
		r_next = NUM_ADD(r_next, x);
		r_skipped = r_skipped + x;
		x = 0;
		r_lock = false; goto end };
there:
	if						/* R3 */
	:: atomic { MUT(22); t = mem[A_TAIL] };
		acc = mem[A_ACC(SLOT_PAGE(word))]
	:: atomic { !MUT(22); acc = mem[A_ACC(SLOT_PAGE(word))] };		/* L1 */
		t = mem[A_TAIL]							/* L2 */
	fi;
	atomic {
		if
		:: ACC_BYTES(acc) == 0 || (ACC_LAP(acc) != SLOT_LAP(word) && !MUT(25)) ||
		   (!FINISHED(acc) && TAIL_ADDR(t) != TAIL(0, SLOT_PAGE(word), ACC_BYTES(acc)) && !MUT(23)) ->
			acc = 0;
			t = 0;
			if
			:: slots[NUM_INDEX(r_next)] == word -> word = 0; goto nothing
			:: else -> word = 0; r_lock = false; goto end
			fi
		:: else
		fi;
		acc = 0;
		t = 0 };
	atomic {					/* R4 */
		if
		:: mem[A_PAGES] >= r_skipped || MUT(26)
		:: may_hurry -> late = true
		fi };
	ev = mem[A_EVENTS];
	atomic {					/* R5 */
		READER_STORE(A_ACC(r_spare), ACC(LAP_ADD(NUM_LAP(r_next), 1), 0, 0, 0)) };
	atomic {
		if
		:: slots[NUM_INDEX(r_next)] != word && !MUT(28) -> word = 0; ev = 0; late = false; r_lock = false; goto end
		:: else
		fi;
		slots[NUM_INDEX(r_next)] = SLOT((MUT(27) -> r_page : r_spare), LAP_ADD(NUM_LAP(r_next), 1));
		assert(late || ev == g_evicted);	/* what is told to be lost, is: all of it, and no more */
		x = r_page;
		r_page = SLOT_PAGE(word);
		r_spare = x;
		x = 0;
		r_open = true;
		r_off = 0;
		r_end = 0;
		r_stamp = mem[A_STAMP(r_page)];
		r_next = NUM_ADD(r_next, 1);
		word = 0;
		ev = 0;
		late = false;
		goto look };
nothing:
	atomic {
		if
		:: last -> balance()
		:: else -> r_lock = false; goto end
		fi }
}

c_code {
	static int setting(const char *name, int otherwise)
	{
		char *value = getenv(name);

		return value ? atoi(value) : otherwise;
	}
}

init {
	byte i;

	atomic {
		c_code {
			now.overwrite = setting("OVERWRITE", 0);
			now.cap = setting("CAP", 2);
			now.mutant = setting("MUTANT", 0);
			now.budget[0] = setting("TASK", 1);
			now.budget[1] = setting("IRQ", 1);
			now.budget[2] = setting("NMI", 1);
			now.may_discard = setting("DISCARD", 0);
			now.may_front = setting("FRONT", 0);
			now.may_exchange = setting("EXCHANGE", 0);
			now.may_hurry = setting("HURRY", 0);
			now.may_leave = setting("LEAVE", 0);
		};
		for (i : 0 .. COUNT - 1) {
			slots[i] = SLOT(i, 1);
			READER_STORE(A_ACC(i), ACC(1, 0, 0, 0))
		}
		READER_STORE(A_TAIL, TAIL(0, NO_PAGE, cap));
		READER_STORE(A_NUMBER, COUNT - 1);
		i = 0;
		run writer(0, 1);
		run writer(1, 1 + budget[0]);
		run writer(2, 1 + budget[0] + budget[1]);
		run reader()
	}
}
