/*
 * Function calls in a page that `trapline plot` makes: a flame graph of a task on a canvas, or the same upside down, to look into and
 * to search. `calls` is a member of the page's data (calls.c); `duration` and `showTip` are the page's.
 */
"use strict";
/* A caller's numbers as a tree: a frame has the calls of one way; those it called lie side by side from its own beginning on. */
function callTree(caller, names) {
	const root = {name: caller.name, calls: 0, total: caller.total, depth: 0, inner: [], outer: null}, way = [root], n = caller.tree;
	for (let i = 0; i < n.length; i += 4) {
		const frame = {name: names[n[i + 1]], calls: n[i + 2], total: n[i + 3], depth: n[i], inner: [], outer: way[n[i] - 1]};
		frame.outer.inner.push(frame);
		way[frame.depth] = frame;
	}
	return root;
}

/* Adds a tree to another one. */
function mergeCalls(into, from) {
	into.calls += from.calls;
	into.total += from.total;
	for (const inner of from.inner) {
		let same = into.inner.find((frame) => frame.name === inner.name);
		if (!same) {
			same = {name: inner.name, calls: 0, total: 0, depth: into.depth + 1, inner: [], outer: into};
			into.inner.push(same);
		}
		mergeCalls(same, inner);
	}
	into.inner.sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}

function ownTime(frame) {
	return frame.total - frame.inner.reduce((sum, inner) => sum + inner.total, 0);
}

/*
 * Where frames are drawn: [frame, x, width, row] with x and width from 0 to 1. Those around the chosen one are as wide as the picture.
 * Frames narrower than `least` are left out, and what they called with them.
 */
function placeCalls(chosen, least) {
	const placed = [], way = [];
	for (let frame = chosen.outer; frame; frame = frame.outer)
		way.unshift(frame);
	for (const frame of way)
		placed.push([frame, 0, 1, frame.depth]);
	const todo = [[chosen, 0]];
	while (todo.length) {
		const [frame, x] = todo.pop(), width = frame.total / chosen.total;
		if (width < least)
			continue;
		placed.push([frame, x, width, frame.depth]);
		let at = x;
		for (const inner of frame.inner) {
			todo.push([inner, at]);
			at += inner.total / chosen.total;
		}
	}
	return placed;
}

/* How much of the tree's time functions with that text in their names take, each within others of them counted once. */
function shareOf(frame, text) {
	if (frame.outer && frame.name.toLowerCase().includes(text))
		return frame.total;
	return frame.inner.reduce((sum, inner) => sum + shareOf(inner, text), 0);
}

function drawCalls(calls, duration, showTip) {
	const part = (id) => document.getElementById(id), canvas = part("frames"), callers = part("caller"), turn = part("turn"),
		search = part("function");
	const HEIGHT = 18, COLOURS = ["#f2b07a", "#f0c06b", "#ee9f84", "#f5cf8e", "#e8a25c", "#f3b79a", "#ecd07a", "#e9937a"];
	const trees = calls.callers.map((caller) => callTree(caller, calls.names));
	let icicle = calls.icicle, chosen, placed = [], width = 0, text = "";

	if (trees.length > 1) {
		const all = {name: "all tasks", calls: 0, total: 0, depth: 0, inner: [], outer: null};
		for (const tree of trees)
			mergeCalls(all, tree);
		trees.push(all);
	}
	chosen = trees[0];
	for (const tree of trees)
		callers.add(new Option(tree.name + " (" + duration(tree.total) + ")"));

	function colour(name) {
		let hash = 0;
		for (let i = 0; i < name.length; i++)
			hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
		return COLOURS[hash % COLOURS.length];
	}

	function lines(frame) {
		let root = frame;
		while (root.outer)
			root = root.outer;
		return [frame.name, duration(frame.total) + " in all (" + (100 * frame.total / root.total).toFixed(1) + " %), " + duration(ownTime(frame)) +
			" of its own" + (frame.calls ? ", " + frame.calls + (frame.calls > 1 ? " calls" : " call") : "")];
	}

	function draw() {
		const scale = window.devicePixelRatio || 1, c = canvas.getContext("2d");
		width = canvas.parentNode.clientWidth;
		placed = placeCalls(chosen, .5 / width);
		const rows = 1 + placed.reduce((most, [, , , row]) => Math.max(most, row), 0), height = rows * HEIGHT;
		canvas.width = Math.round(width * scale);
		canvas.height = Math.round(height * scale);
		canvas.style.width = width + "px";
		canvas.style.height = height + "px";
		c.setTransform(scale, 0, 0, scale, 0, 0);
		c.font = "11.5px system-ui, 'DejaVu Sans', sans-serif";
		c.textBaseline = "middle";
		for (const box of placed) {
			const [frame, x, part, row] = box, y = (icicle ? row : rows - 1 - row) * HEIGHT, dim = text && !frame.name.toLowerCase().includes(text);
			box[4] = y;
			c.globalAlpha = frame.depth < chosen.depth || dim ? .4 : 1;
			c.fillStyle = frame.outer ? colour(frame.name) : "#d5dae0";
			c.fillRect(x * width, y, Math.max(part * width - .6, .4), HEIGHT - 1);
			const letters = Math.floor((part * width - 8) / 6.4);
			c.fillStyle = "#16191d";
			if (letters > 2)
				c.fillText(frame.name.length > letters ? frame.name.slice(0, letters - 1) + "\u2026" : frame.name, x * width + 4, y + HEIGHT / 2);
		}
		c.globalAlpha = 1;
		turn.textContent = icicle ? "Flame graph" : "Icicles";
		part("frame").textContent = lines(chosen).join(": ");
		part("share").textContent = text ? (100 * shareOf(chosen, text) / chosen.total).toFixed(1) + " % of " + chosen.name : "";
	}

	function pick(event) {
		const box = canvas.getBoundingClientRect(), x = (event.clientX - box.left) / width, y = event.clientY - box.top;
		const hit = placed.find(([, left, part, , top]) => x >= left && x < left + part && y >= top && y < top + HEIGHT);
		return hit && hit[0];
	}

	function choose(frame) {
		if (frame && frame.total)
			chosen = frame;
		draw();
	}

	canvas.addEventListener("mousemove", (event) => {
		const frame = pick(event);
		event.stopPropagation();
		showTip(event, frame && lines(frame));
	});
	canvas.addEventListener("mouseleave", (event) => showTip(event, null));
	canvas.addEventListener("click", (event) => choose(pick(event)));
	callers.addEventListener("change", () => choose(trees[callers.selectedIndex]));
	turn.addEventListener("click", () => {
		icicle = !icicle;
		draw();
	});
	part("whole").addEventListener("click", () => choose(trees[callers.selectedIndex]));
	search.addEventListener("input", () => {
		text = search.value.trim().toLowerCase();
		draw();
	});
	window.addEventListener("resize", draw);
	draw();
}
