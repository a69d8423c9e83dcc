/*
 * The timeline of a page that `trapline plot` makes: tracks of CPUs and tasks on a canvas, to zoom, pan and search. The data is JSON in
 * the page (data.c says what is in it). Nothing is fetched, and texts of the trace only ever become text.
 */
"use strict";
(function () {
const data = JSON.parse(document.getElementById("data").textContent);
const scroller = document.getElementById("scroller"), spacer = document.getElementById("spacer"), canvas = document.getElementById("tracks"),
	head = document.getElementById("head"), search = document.getElementById("search"), found = document.getElementById("found"),
	tip = document.getElementById("tip"), chosen = document.getElementById("chosen");
const GUTTER = 178, TASKS_SHOWN = 30, HEAD_HEIGHT = 66, OVERVIEW_TOP = 4, OVERVIEW_HEIGHT = 34;
const FONT = "12px system-ui, 'DejaVu Sans', sans-serif", SMALL = "10.5px system-ui, 'DejaVu Sans', sans-serif";
const COLOUR = {text: "#1f2328", dim: "#656d76", grid: "#e4e8ec", band: "#f6f8fa", line: "#d0d7de", irq: "#d1242f", call: "#1f7a8c",
	mark: "#8250df", bar: "#d9c8f5", wait: "#e8a33d", lost: "#fff3cd", lostLine: "#bf8700", rate: "#aab4c0", view: "#0969da"};
const TASK_COLOURS = ["#7fb2e5", "#f2a65e", "#86c98a", "#c3a0e0", "#e6cf5c", "#6fc9bf", "#ee9ab8", "#b4c468", "#9aa5ea", "#ea8f85", "#8fd0ea",
	"#cdaa86", "#b9bec6"];
/* Tasks of one name have one colour, and shades of it: how much of white (or, below 0, of black) is mixed in. */
const SHADES = [0, .3, -.12, .48, -.22, .16];

function shade(colour, part) {
	const parts = [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
	return "rgb(" + parts.map((n) => Math.round(part < 0 ? n * (1 + part) : n + (255 - n) * part)).join(",") + ")";
}

{
	const tasks = {};
	for (const task of data.tasks) {
		tasks[task.comm] = (tasks[task.comm] || 0) + 1;
		task.fill = shade(TASK_COLOURS[task.colour], SHADES[(tasks[task.comm] - 1) % SHADES.length]);
	}
}

/* ---- data ---------------------------------------------------------------------------------------------------------- */

/* Numbers of a track: begin after the one before, duration, id, how many; if that is more than one, how much of it they fill. */
function unpack(packed) {
	const items = [];
	let begin = 0;
	for (let i = 0; packed && i < packed.length;) {
		begin += packed[i++];
		const item = {begin, end: begin + packed[i++], id: packed[i++], count: packed[i++]};
		item.busy = item.count > 1 ? packed[i++] : item.end - item.begin;
		items.push(item);
	}
	return items;
}

function taskName(i) {
	const task = data.tasks[i];
	return task ? task.comm + " " + task.pid : "a task that has no lane";
}

/* A row of the picture: its tracks from top to bottom, each with its own place in it. */
function addTrack(row, kind, items, height, depth) {
	if (!items.length)
		return;
	row.tracks.push({kind, items, height, depth: depth || 0, top: row.height, row});
	row.height += height + 1;
}

function cpuRow(cpu) {
	const row = {title: "CPU " + cpu.cpu, note: cpu.busy + " busy", kind: "cpu", tracks: [], height: 3, gaps: unpack(cpu.gaps)};
	cpu.irq.forEach((packed, depth) => addTrack(row, "irq", unpack(packed), 9, depth));
	addTrack(row, "run", unpack(cpu.run), 22);
	row.height = Math.max(row.height, 34) + 3;
	return row;
}

function taskRow(task, i) {
	const row = {title: task.comm, note: String(task.pid), kind: "task", task: i, tracks: [], height: 3, gaps: []};
	const run = unpack(task.run), wait = unpack(task.wait);
	addTrack(row, "marks", unpack(task.marks), 15);
	task.bars.forEach((packed, depth) => addTrack(row, "bar", unpack(packed), 15, depth));
	if (run.length || wait.length) {
		row.tracks.push({kind: "wait", items: wait, height: 14, depth: 0, top: row.height, row});
		row.tracks.push({kind: "state", items: run, height: 14, depth: 0, top: row.height, row});
		row.height += 15;
	}
	addTrack(row, "call", unpack(task.call), 11);
	row.height = Math.max(row.height, 20) + 3;
	return row;
}

const cpuRows = data.cpus.map(cpuRow), taskRows = data.tasks.map(taskRow);
let unfolded = data.tasks.length <= TASKS_SHOWN, rows = [], contentHeight = 0;
const view = {begin: 0, end: data.range};
let width = 800, query = "", matches = [], at = -1, hover = null, selected = null, wanted = false;

function header(title) {
	return {title, kind: "header", tracks: [], height: 24, gaps: []};
}

function layout() {
	rows = [header("CPUs")].concat(cpuRows);
	if (taskRows.length) {
		rows.push(header("Tasks"));
		/* the busiest, in the order in which they began */
		rows = rows.concat(unfolded ? taskRows : taskRows.filter((row) => data.tasks[row.task].rank < TASKS_SHOWN));
		if (data.tasks.length > TASKS_SHOWN)
			rows.push({title: unfolded ? "\u25be fold all but the " + TASKS_SHOWN + " busiest tasks" :
				"\u25b8 " + (data.tasks.length - TASKS_SHOWN) + " more tasks: click to unfold", kind: "fold", tracks: [], height: 28, gaps: []});
		if (data.more)
			rows.push({title: data.more + " more tasks have no lane: draw a shorter span", kind: "note", tracks: [], height: 24, gaps: []});
	}
	let y = 0;
	for (const row of rows) {
		row.y = y;
		y += row.height;
	}
	contentHeight = y;
	spacer.style.height = y + "px";
}

/* ---- texts --------------------------------------------------------------------------------------------------------- */

function duration(n) {
	if (!data.ns)
		return String(Math.round(n));
	const units = ["ns", "\u00b5s", "ms", "s"];
	let unit = 0;
	for (; unit < 3 && n >= 999.5; unit++)
		n /= 1000;
	return n.toFixed(unit === 0 || n >= 99.95 ? 0 : n >= 9.995 ? 1 : 2) + " " + units[unit];
}

/* A time as the trace has it: too large for a number of JavaScript. */
function clock(offset, step) {
	const time = BigInt(data.base) + BigInt(Math.round(offset));
	if (!data.ns)
		return String(time);
	let digits = 9;
	for (; digits > 0 && step >= 10; step /= 10)
		digits--;
	const part = String(time % 1000000000n).padStart(9, "0").slice(0, digits);
	return time / 1000000000n + (digits ? "." + part : "");
}

function label(track, item) {
	switch (track.kind) {
	case "run": return taskName(item.id);
	case "state": return "on CPU " + item.id;
	case "wait": return "waits for a CPU";
	case "irq":
	case "call": return data.names[item.id];
	default: return data.labels[item.id];
	}
}

function describe(track, item) {
	const lines = [];
	if (item.count > 1)
		lines.push(item.count + " " + {run: "stretches, mostly of " + taskName(item.id), state: "stretches of running", wait: "waits for a CPU",
			irq: "interrupts, the longest " + label(track, item), call: "system calls, the longest " + label(track, item), bar: "intervals, the longest " +
			label(track, item), marks: "marks, the first: " + label(track, item)}[track.kind],
			"together " + duration(item.busy) + " within " + duration(item.end - item.begin));
	else
		lines.push(label(track, item));
	if (track.row.kind === "task" && track.kind !== "state")
		lines.push("in " + taskName(track.row.task));
	if (item.count === 1 && track.kind !== "marks")
		lines.push(duration(item.end - item.begin) + (track.kind === "wait" ? " until it runs on CPU " + item.id : ""));
	lines.push("from " + clock(item.begin, 1) + (item.end > item.begin ? " to " + clock(item.end, 1) : ""));
	return lines;
}

/* ---- places -------------------------------------------------------------------------------------------------------- */

function toX(time) {
	return GUTTER + (time - view.begin) / (view.end - view.begin) * (width - GUTTER);
}

function toTime(x) {
	return view.begin + (x - GUTTER) / (width - GUTTER) * (view.end - view.begin);
}

function show(begin, end) {
	const least = Math.min(data.range, 200), span = Math.max(least, Math.min(end - begin, data.range));
	begin = Math.max(0, Math.min(begin + (end - begin - span) / 2, data.range - span));
	view.begin = begin;
	view.end = begin + span;
	draw();
}

function zoom(factor, x) {
	const time = x === undefined ? (view.begin + view.end) / 2 : toTime(x);
	show(time - (time - view.begin) * factor, time + (view.end - time) * factor);
}

function pan(part) {
	const by = (view.end - view.begin) * part;
	show(view.begin + by, view.end + by);
}

/* The first item that ends at a time or later. */
function firstAt(items, time) {
	let low = 0, high = items.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (items[middle].end < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- drawing ------------------------------------------------------------------------------------------------------- */

function context(element, height) {
	const scale = window.devicePixelRatio || 1, c = element.getContext("2d");
	element.width = Math.round(width * scale);
	element.height = Math.round(height * scale);
	element.style.width = width + "px";
	element.style.height = height + "px";
	c.setTransform(scale, 0, 0, scale, 0, 0);
	c.textBaseline = "middle";
	return c;
}

function fit(c, text, room) {
	if (c.measureText(text).width <= room)
		return text;
	let low = 0, high = text.length;
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (c.measureText(text.slice(0, middle) + "\u2026").width <= room)
			low = middle;
		else
			high = middle - 1;
	}
	return low ? text.slice(0, low) + "\u2026" : "";
}

function step(range, most) {
	const wanted = range / most;
	let ten = 1;
	while (wanted / 5 > ten)
		ten *= 10;
	return wanted <= ten ? ten : wanted <= 2 * ten ? 2 * ten : 5 * ten;
}

function ticks() {
	const every = step(view.end - view.begin, Math.max(2, (width - GUTTER) / 120)), list = [],
		first = Number((BigInt(every) - BigInt(data.base) % BigInt(every)) % BigInt(every));
	for (let time = first + Math.max(0, Math.floor((view.begin - first) / every)) * every; time <= view.end; time += every)
		if (time >= view.begin)
			list.push(time);
	return {every, list};
}

function drawHead() {
	const c = context(head, HEAD_HEIGHT), room = width - GUTTER, top = Math.max(1, ...data.rate);
	c.fillStyle = "#fff";
	c.fillRect(0, 0, width, HEAD_HEIGHT);
	c.fillStyle = COLOUR.band;
	c.fillRect(GUTTER, OVERVIEW_TOP, room, OVERVIEW_HEIGHT);
	c.fillStyle = COLOUR.rate;
	data.rate.forEach((n, i) => {
		const height = n / top * OVERVIEW_HEIGHT;
		c.fillRect(GUTTER + i * room / data.rate.length, OVERVIEW_TOP + OVERVIEW_HEIGHT - height, Math.max(1, room / data.rate.length), height);
	});
	const left = GUTTER + view.begin / data.range * room, right = GUTTER + view.end / data.range * room;
	c.fillStyle = "rgba(255,255,255,.72)";
	c.fillRect(GUTTER, OVERVIEW_TOP, left - GUTTER, OVERVIEW_HEIGHT);
	c.fillRect(right, OVERVIEW_TOP, width - right, OVERVIEW_HEIGHT);
	c.strokeStyle = COLOUR.view;
	c.strokeRect(left + .5, OVERVIEW_TOP + .5, Math.max(2, right - left - 1), OVERVIEW_HEIGHT - 1);
	c.fillStyle = COLOUR.dim;
	c.font = SMALL;
	c.textAlign = "right";
	c.fillText("events over time", GUTTER - 10, OVERVIEW_TOP + OVERVIEW_HEIGHT / 2);
	c.fillText(data.ns ? "seconds" : "clock", GUTTER - 10, HEAD_HEIGHT - 12);
	c.textAlign = "center";
	const {every, list} = ticks();
	for (const time of list) {
		const x = toX(time);
		c.fillStyle = COLOUR.line;
		c.fillRect(Math.round(x), HEAD_HEIGHT - 5, 1, 5);
		c.fillStyle = COLOUR.text;
		const text = clock(time, every), half = c.measureText(text).width / 2;
		c.fillText(text, Math.min(Math.max(x, GUTTER + half), width - half - 2), HEAD_HEIGHT - 13);
	}
	c.fillStyle = COLOUR.line;
	c.fillRect(0, HEAD_HEIGHT - 1, width, 1);
}

function colour(track, item) {
	switch (track.kind) {
	case "run": return data.tasks[item.id] ? data.tasks[item.id].fill : TASK_COLOURS[12];
	case "state": return data.tasks[track.row.task].fill;
	case "bar": return track.depth % 2 ? "#c9b3f0" : COLOUR.bar;
	case "wait": return COLOUR.wait;
	case "irq": return COLOUR.irq;
	case "call": return COLOUR.call;
	default: return COLOUR.mark;
	}
}

function isMatch(track, item) {
	if (!query)
		return true;
	const text = item.text || (item.text = label(track, item).toLowerCase());
	return text.includes(query) || (track.row.kind === "task" && track.row.matches);
}

function drawMarks(c, track, y) {
	let free = -1e9;
	const items = track.items, first = firstAt(items, toTime(GUTTER));
	for (let i = first; i < items.length && items[i].begin <= view.end; i++) {
		const item = items[i], x = toX(item.begin);
		c.globalAlpha = isMatch(track, item) ? 1 : .2;
		c.fillStyle = item === selected ? COLOUR.view : COLOUR.mark;
		c.beginPath();
		c.moveTo(x, y + 3);
		c.lineTo(x + 4, y + 8);
		c.lineTo(x, y + 13);
		c.lineTo(x - 4, y + 8);
		c.fill();
		const last = i + 1 === items.length, room = (last ? width : Math.min(toX(items[i + 1].begin) - 6, width)) - x - 8,
			full = item.count > 1 ? item.count + " marks" : label(track, item), fullWidth = c.measureText(full).width;
		c.fillStyle = COLOUR.text;
		if (last && room < fullWidth && x - 8 - fullWidth > Math.max(free, GUTTER)) {
			c.fillText(full, x - 7 - fullWidth, y + 8);
			continue;
		}
		if (x < free || room < 24)
			continue;
		const text = fit(c, full, room);
		c.fillText(text, x + 7, y + 8);
		free = x + 7 + c.measureText(text).width;
	}
	c.globalAlpha = 1;
}

function drawBox(c, track, item, left, wide, y, part, match) {
	const thin = track.kind === "wait", height = thin ? 5 : track.height, top = y + (thin ? track.height - 5 : 0),
		high = Math.max(2, height * (.25 + .75 * Math.min(1, part)));
	c.globalAlpha = match ? 1 : .13;
	c.fillStyle = colour(track, item);
	c.fillRect(left, top + height - high, wide, high);
	c.globalAlpha = 1;
	if (item === selected) {
		c.strokeStyle = COLOUR.view;
		c.lineWidth = 2;
		c.strokeRect(left, top, wide, height);
		c.lineWidth = 1;
	}
	if (wide < 26 || thin)
		return;
	c.fillStyle = track.kind === "irq" || track.kind === "call" ? "#fff" : COLOUR.text;
	c.globalAlpha = match ? 1 : .35;
	const name = item.count > 1 && track.kind !== "run" ? item.count + "\u00d7 " + label(track, item) : label(track, item);
	c.fillText(fit(c, name, wide - 8), left + 4, top + height / 2 + .5);
	c.globalAlpha = 1;
}

/* Items narrower than a pixel share it, and are as high as they fill it; what is alone there has its whole height. */
function drawItems(c, track, y) {
	const items = track.items, pixel = (view.end - view.begin) / (width - GUTTER);
	let shared = null;
	const flush = () => {
		if (shared)
			drawBox(c, track, shared.item, shared.x, 1, y, shared.count > 1 ? shared.busy / pixel : 1, shared.match);
		shared = null;
	};
	for (let i = firstAt(items, view.begin); i < items.length && items[i].begin <= view.end; i++) {
		const item = items[i], left = Math.max(GUTTER, toX(item.begin)), right = Math.min(width, toX(item.end)), x = Math.floor(left), match = isMatch(track, item);
		if (shared && (right - left >= 1 || x !== shared.x))
			flush();
		if (right - left >= 1) {
			drawBox(c, track, item, left, right - left - (right - left > 3 ? .6 : 0), y, item.count > 1 ? item.busy / (item.end - item.begin) : 1, match);
			continue;
		}
		shared = shared || {x, item, busy: 0, count: 0, match: false};
		if (item.busy > shared.item.busy || item === selected)
			shared.item = item;
		shared.busy += item.busy;
		shared.count += item.count;
		shared.match = shared.match || match;
	}
	flush();
}

function drawGaps(c, row, y) {
	for (const gap of row.gaps) {
		const left = Math.max(GUTTER, toX(gap.begin)), right = Math.min(width, Math.max(toX(gap.end), toX(gap.begin) + 3));
		if (right <= GUTTER || left >= width)
			continue;
		c.save();
		c.beginPath();
		c.rect(left, y + 1, right - left, row.height - 2);
		c.clip();
		c.fillStyle = COLOUR.lost;
		c.fillRect(left, y, right - left, row.height);
		c.strokeStyle = "#e3b341";
		c.beginPath();
		for (let x = left - row.height - left % 8; x < right; x += 8) {
			c.moveTo(x, y + row.height);
			c.lineTo(x + row.height, y);
		}
		c.stroke();
		c.restore();
		const text = data.lost[gap.id] + " lost", room = c.measureText(text).width, inside = right - left > room + 12;
		const x = inside ? (left + right - room) / 2 : Math.min(right + 4, width - room - 4);
		c.fillStyle = "rgba(255,255,255,.85)";
		c.fillRect(x - 3, y + row.height / 2 - 8, room + 6, 16);
		c.fillStyle = "#7d4e00";
		c.fillText(text, x, y + row.height / 2);
	}
}

function drawTitle(c, row, y) {
	c.textAlign = "left";
	if (row.kind === "header" || row.kind === "note" || row.kind === "fold") {
		c.font = row.kind === "header" ? "600 " + FONT : FONT;
		c.fillStyle = row.kind === "header" ? COLOUR.text : row.kind === "fold" ? COLOUR.view : COLOUR.dim;
		c.fillText(row.title, row.kind === "header" ? 8 : GUTTER + 4, y + row.height / 2 + 1);
		c.font = SMALL;
		return;
	}
	c.font = (row.kind === "cpu" ? "600 " : "") + FONT;
	c.textAlign = "right";
	if (row.kind === "cpu") {
		c.fillStyle = COLOUR.text;
		c.fillText(row.title, GUTTER - 10, y + row.height / 2 - 7);
		c.font = SMALL;
		c.fillStyle = COLOUR.dim;
		c.fillText(row.note, GUTTER - 10, y + row.height / 2 + 8);
		return;
	}
	c.fillStyle = COLOUR.dim;
	c.font = SMALL;
	c.fillText(row.note, GUTTER - 10, y + row.height / 2);
	const room = GUTTER - 10 - c.measureText(row.note).width - 6;
	c.font = FONT;
	c.fillStyle = query && row.matches ? COLOUR.view : COLOUR.text;
	c.fillText(fit(c, row.title, room - 26), room, y + row.height / 2);
	c.fillStyle = data.tasks[row.task].fill;
	c.fillRect(8, y + row.height / 2 - 5, 10, 10);
	c.font = SMALL;
}

function drawTracks() {
	const height = scroller.clientHeight, c = context(canvas, height), from = scroller.scrollTop;
	c.fillStyle = "#fff";
	c.fillRect(0, 0, width, height);
	c.font = SMALL;
	const {list} = ticks();
	for (const row of rows) {
		const y = row.y - from;
		if (y > height || y + row.height < 0)
			continue;
		if (row.kind === "cpu" || row.kind === "task") {
			c.fillStyle = COLOUR.band;
			c.fillRect(GUTTER, y + 1, width - GUTTER, row.height - 2);
			c.fillStyle = COLOUR.grid;
			for (const time of list)
				c.fillRect(Math.round(toX(time)), y + 1, 1, row.height - 2);
		}
		drawTitle(c, row, y);
		c.save();
		c.textAlign = "left";
		c.beginPath();
		c.rect(GUTTER, y, width - GUTTER, row.height);
		c.clip();
		for (const track of row.tracks)
			(track.kind === "marks" ? drawMarks : drawItems)(c, track, y + track.top);
		drawGaps(c, row, y);
		c.restore();
	}
	if (hover) {
		c.fillStyle = "rgba(9,105,218,.45)";
		c.fillRect(Math.round(hover.x), 0, 1, height);
	}
	if (drag && drag.select) {
		c.fillStyle = "rgba(9,105,218,.15)";
		c.fillRect(Math.min(drag.x, drag.now), 0, Math.abs(drag.now - drag.x), height);
	}
}

function draw() {
	if (wanted)
		return;
	wanted = true;
	requestAnimationFrame(() => {
		wanted = false;
		width = scroller.clientWidth;
		drawHead();
		drawTracks();
		document.getElementById("span").textContent = duration(view.end - view.begin) + " from " + clock(view.begin, (view.end - view.begin) / 1000 + 1);
	});
}

/* ---- what is under the mouse --------------------------------------------------------------------------------------- */

function near(track, time, slack) {
	const items = track.items;
	let best = null, least = slack;
	for (let i = Math.max(0, firstAt(items, time - slack)); i < items.length && items[i].begin <= time + slack; i++) {
		const away = time < items[i].begin ? items[i].begin - time : time > items[i].end ? time - items[i].end : 0;
		if (away <= least) {
			best = items[i];
			least = away;
		}
	}
	return best;
}

function pick(x, y) {
	const slack = (view.end - view.begin) / (width - GUTTER) * 4, time = toTime(x), down = y + scroller.scrollTop;
	const row = rows.find((r) => down >= r.y && down < r.y + r.height);
	if (!row || x < GUTTER)
		return {row};
	for (const gap of row.gaps)
		if (time >= gap.begin - slack && time <= gap.end + slack)
			return {row, lines: [data.lost[gap.id] + " events lost", "before " + clock(gap.end, 1)]};
	let found = {row};
	for (const track of row.tracks)
		if (down >= row.y + track.top && down <= row.y + track.top + track.height) {
			const item = near(track, time, slack);
			if (item && !(found.item && track.kind === "wait"))
				found = {row, track, item, lines: describe(track, item)};
		}
	return found;
}

function showTip(event, lines) {
	tip.hidden = !lines;
	if (!lines)
		return;
	tip.textContent = lines.join("\n");
	tip.style.left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8) + "px";
	tip.style.top = Math.min(event.clientY + 16, window.innerHeight - tip.offsetHeight - 8) + "px";
}

function select(track, item) {
	selected = item;
	chosen.textContent = item ? describe(track, item).join(" \u00b7 ") : "Click something to keep what it says here.";
	draw();
}

/* ---- search -------------------------------------------------------------------------------------------------------- */

function find(text) {
	query = text.trim().toLowerCase();
	matches = [];
	at = -1;
	for (const row of taskRows)
		row.matches = query !== "" && taskName(row.task).toLowerCase().includes(query);
	if (query) {
		for (const row of cpuRows.concat(taskRows)) {
			if (row.matches)
				matches.push({row});
			for (const track of row.tracks)
				if (track.kind !== "state" && track.kind !== "wait" && track.kind !== "run")
					for (const item of track.items)
						if (!row.matches && isMatch(track, item))
							matches.push({row, track, item});
		}
	}
	matches.sort((a, b) => (a.item ? a.item.begin : -1) - (b.item ? b.item.begin : -1));
	found.textContent = query ? matches.length + " found" : "";
	draw();
}

function reveal(row) {
	if (!rows.includes(row)) {
		unfolded = true;
		layout();
	}
	if (row.y < scroller.scrollTop || row.y + row.height > scroller.scrollTop + scroller.clientHeight)
		scroller.scrollTop = row.y - scroller.clientHeight / 3;
}

function goTo(by) {
	if (!matches.length)
		return;
	at = (at + by + matches.length) % matches.length;
	const {row, track, item} = matches[at];
	reveal(row);
	found.textContent = at + 1 + " of " + matches.length;
	if (item) {
		const span = Math.min(view.end - view.begin, Math.max(item.end - item.begin, data.range / 1e4) * 20), middle = (item.begin + item.end) / 2;
		show(middle - span / 2, middle + span / 2);
		select(track, item);
	}
	draw();
}

/* ---- hands --------------------------------------------------------------------------------------------------------- */

let drag = null;

function place(event) {
	const box = scroller.getBoundingClientRect();
	return {x: event.clientX - box.left, y: event.clientY - box.top};
}

scroller.addEventListener("wheel", (event) => {
	const {x} = place(event);
	if (event.ctrlKey || event.metaKey) {
		event.preventDefault();
		zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 200))), Math.max(x, GUTTER));
	} else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
		event.preventDefault();
		pan((event.deltaX || event.deltaY) / 1000);
	}
}, {passive: false});
scroller.addEventListener("mousedown", (event) => {
	const {x, y} = place(event);
	if (event.button === 0 && x >= GUTTER && x < width)
		drag = {x, y, now: x, begin: view.begin, end: view.end, select: event.shiftKey, moved: false};
});
window.addEventListener("mousemove", (event) => {
	const {x, y} = place(event);
	if (drag && drag.overview) {
		slide(event);
	} else if (drag) {
		drag.now = x;
		drag.moved = drag.moved || Math.abs(x - drag.x) > 3;
		const by = (drag.x - x) / (width - GUTTER) * (drag.end - drag.begin);
		if (drag.moved && !drag.select)
			show(drag.begin + by, drag.end + by);
		draw();
	} else if (event.target === canvas) {
		hover = x >= GUTTER ? {x} : null;
		showTip(event, pick(x, y).lines);
		draw();
	} else if (hover || !tip.hidden) {
		hover = null;
		tip.hidden = true;
		draw();
	}
});
window.addEventListener("mouseup", (event) => {
	const was = drag, {x, y} = place(event);
	drag = null;
	if (was && was.select && was.moved)
		show(toTime(Math.min(was.x, x)), toTime(Math.max(was.x, x)));
	else if (was && !was.moved && !was.overview) {
		const hit = pick(x, y);
		select(hit.track, hit.item || null);
	}
});
scroller.addEventListener("click", (event) => {
	const {x, y} = place(event), {row} = pick(x, y);
	if (row && row.kind === "fold") {
		unfolded = !unfolded;
		layout();
		draw();
	}
});
scroller.addEventListener("dblclick", (event) => {
	const {x, y} = place(event), {item} = pick(x, y);
	if (item) {
		const margin = Math.max(item.end - item.begin, 100) * .1;
		show(item.begin - margin, item.end + margin);
	} else {
		zoom(.5, x);
	}
});
scroller.addEventListener("scroll", draw);
function slide(event) {
	const box = head.getBoundingClientRect(), time = (event.clientX - box.left - GUTTER) / (width - GUTTER) * data.range, half = (view.end - view.begin) / 2;
	show(time - half, time + half);
}
head.addEventListener("mousedown", (event) => {
	if (event.clientX - head.getBoundingClientRect().left < GUTTER)
		return;
	drag = {overview: true};
	slide(event);
});
search.addEventListener("input", () => find(search.value));
search.addEventListener("keydown", (event) => {
	if (event.key === "Enter")
		goTo(event.shiftKey ? -1 : 1);
	else if (event.key === "Escape") {
		search.value = "";
		find("");
		search.blur();
	}
});
const KEYS = {w: () => zoom(.7), s: () => zoom(1 / .7), "+": () => zoom(.7), "-": () => zoom(1 / .7), a: () => pan(-.25), d: () => pan(.25),
	ArrowLeft: () => pan(-.25), ArrowRight: () => pan(.25), 0: () => show(0, data.range), n: () => goTo(1), N: () => goTo(-1),
	"/": () => search.focus()};
window.addEventListener("keydown", (event) => {
	if (/^(INPUT|SELECT)$/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key])
		return;
	event.preventDefault();
	KEYS[event.key]();
});
for (const [id, act] of [["in", () => zoom(.5)], ["out", () => zoom(2)], ["all", () => show(0, data.range)], ["before", () => goTo(-1)],
	["after", () => goTo(1)]])
	document.getElementById(id).addEventListener("click", act);
window.addEventListener("resize", draw);

/* The address may say what to show: #from=0.0190&to=0.0195&find=frame */
function fromAddress() {
	const wish = new URLSearchParams(location.hash.slice(1)), base = Number(data.base), unit = data.ns ? 1e9 : 1;
	if (wish.get("find")) {
		search.value = wish.get("find");
		find(search.value);
	}
	if (wish.get("from") || wish.get("to"))
		show((wish.get("from") || 0) * unit - base, wish.get("to") ? wish.get("to") * unit - base : data.range);
}

document.documentElement.classList.add("interactive");
if (data.calls)
	drawCalls(data.calls, duration, showTip);
layout();
fromAddress();
select(null, null);
})();
