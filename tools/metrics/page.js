// SPDX-License-Identifier: GPL-2.0-only
// Of a page that "perf metrics report --html" has made: lines over time, a slider, a table.
'use strict';

const data = JSON.parse(document.getElementById('data').textContent);
const SVG = 'http://www.w3.org/2000/svg';

function draw(parent, name, attributes, text) {
	const one = parent.appendChild(document.createElementNS(SVG, name));
	for (const key in attributes)
		one.setAttribute(key, attributes[key]);
	if (text !== undefined)
		one.textContent = text;
	return one;
}

function put(parent, name, text) {
	const one = parent.appendChild(document.createElement(name));
	if (text !== undefined)
		one.textContent = text;
	return one;
}

// As the tables have it: a prefix for rates alone.
function number(value, unit, digits) {
	const prefixes = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
	let n = 0;
	if (value === null)
		return 'n/a';
	if (unit === 'B/s' || unit === '1/s') {
		for (; Math.abs(value) >= 1000 && n < 6; n++)
			value /= 1000;
		unit = prefixes[n] + unit.replace('1', '');
	}
	return Number(value.toPrecision(digits)) + (unit ? ' ' + unit : '');
}

// A step of 1, 2 or 5 with about so many of them in a range.
function step(range, num) {
	const size = 10 ** Math.floor(Math.log10(range / num));
	return size * ([1, 2, 5].find(by => by * size * num >= range * 0.99) || 10);
}

/* ---- lines over time ---- */

const charts = [];

function chart(metric) {
	const figure = put(document.getElementById('charts'), 'figure');
	const caption = put(figure, 'figcaption'), keys = put(figure, 'div');
	const svg = draw(figure, 'svg', { role: 'img', 'aria-label': metric.name + ' over time' });
	const all = metric.series.flatMap(one => one.values).filter(value => value !== null);
	const end = data.times[data.times.length - 1];
	let low = Math.min(0, ...all), high = Math.max(0, ...all), width = 0, left = 0;

	figure.className = 'card';
	keys.className = 'keys';
	put(caption, 'b', metric.name);
	put(caption, 'small', metric.help);
	if (high === low)
		high = low + 1;
	const labels = metric.series.map((one, i) => {
		const key = put(keys, 'span');
		put(key, 'i').style.background = `var(--s${i % 8})`;
		return put(key, 'span', one.scope);
	});
	const by = step(high - low, 4);
	high = Math.ceil(high / by - 1e-9) * by;
	low = Math.floor(low / by + 1e-9) * by;

	const top = 8, right = 28, height = 190, bottom = 26;
	const x = time => left + time / end * (width - left - right);
	const y = value => top + (high - value) / (high - low) * height;
	let mark = null;

	function redraw() {
		width = Math.max(figure.clientWidth - 32, 240);
		svg.replaceChildren();
		svg.setAttribute('viewBox', `0 0 ${width} ${top + height + bottom}`);
		const levels = [];
		for (let at = low; at < high + by / 2; at += by) {
			const value = Math.abs(at) < by / 1e6 ? 0 : at;
			levels.push(draw(svg, 'text', { y: y(at) + 4, 'text-anchor': 'end' },
					 number(value, metric.unit, 4)));
		}
		// As wide as the widest of these.
		left = 16 + Math.max(...levels.map(one => one.getComputedTextLength()));
		levels.forEach((one, i) => {
			const at = y(low + i * by);
			one.setAttribute('x', left - 8);
			draw(svg, 'path', { class: 'grid', d: `M${left},${at}H${width - right}` });
		});
		const ticks = step(end, Math.max(Math.floor(width / 110), 2));
		for (let at = 0; at <= end; at += ticks)
			draw(svg, 'text', { x: x(at), y: top + height + 18,
					    'text-anchor': 'middle' }, Number(at.toPrecision(6)) + ' s');
		metric.series.forEach((one, i) => {
			let path = '', pen = false;
			one.values.forEach((value, n) => {
				// Of a value between two that are n/a there is a dot.
				if (value !== null)
					path += (pen ? 'L' : 'M') + x(data.times[n]).toFixed(1) +
						',' + y(value).toFixed(1) + (pen ? '' : 'h0.1');
				pen = value !== null;
			});
			draw(svg, 'path', { class: 'curve', d: path || 'M0,0',
					    stroke: `var(--s${i % 8})`, 'stroke-linecap': 'round' });
		});
		if (!all.length)
			draw(svg, 'text', { x: width / 2, y: top + height / 2,
					    'text-anchor': 'middle' }, 'n/a in every interval');
		mark = draw(svg, 'path', { class: 'at' });
	}

	// The values of an interval, or none for -1.
	function show(n) {
		mark.setAttribute('d', n < 0 ? '' : `M${x(data.times[n])},${top}v${height}`);
		metric.series.forEach((one, i) => {
			labels[i].textContent = one.scope +
				(n < 0 ? '' : ' ' + number(one.values[n], metric.unit, 4));
		});
	}

	svg.addEventListener('pointermove', event => {
		const box = svg.getBoundingClientRect();
		const time = ((event.clientX - box.left) / box.width * width - left) /
			     (width - left - right) * end;
		const n = data.times.reduce((best, at, i) =>
			Math.abs(at - time) < Math.abs(data.times[best] - time) ? i : best, 0);
		charts.forEach(one => one.show(n));
	});
	svg.addEventListener('pointerleave', () => charts.forEach(one => one.show(-1)));
	redraw();
	return { redraw, show };
}

data.metrics.forEach(metric => charts.push(chart(metric)));
let last = innerWidth;
addEventListener('resize', () => {
	if (innerWidth !== last)
		charts.forEach(one => one.redraw());
	last = innerWidth;
});

/* ---- the map ---- */

const slider = document.getElementById('time');

function showMap() {
	const one = data.maps[slider.value];
	const svg = new DOMParser().parseFromString(one.svg, 'image/svg+xml').documentElement;
	document.getElementById('map').replaceChildren(document.importNode(svg, true));
	document.getElementById('when').textContent =
		one.time ? `until ${one.time.toFixed(3)} s` : 'the whole time';
}

if (slider) {
	slider.addEventListener('input', showMap);
	showMap();
}

/* ---- the table ---- */

const head = document.querySelector('#values thead tr');
const body = document.querySelector('#values tbody');

function key(row, column) {
	const cell = row.cells[column];
	return cell.dataset.v ? Number(cell.dataset.v) : cell.dataset.v ?? cell.textContent;
}

[...head.cells].forEach((cell, column) => cell.firstElementChild.addEventListener('click', () => {
	const down = cell.getAttribute('aria-sort') === 'ascending' ? -1 : 1;
	const rows = [...body.rows];

	// What is n/a comes last, either way.
	rows.sort((a, b) => {
		const x = key(a, column), y = key(b, column);
		if (x === '' || y === '')
			return (x === '') - (y === '');
		return down * (typeof x === 'number' && typeof y === 'number' ? x - y :
			       String(x).localeCompare(String(y), 'en', { numeric: true }));
	});
	[...head.cells].forEach(other => other.removeAttribute('aria-sort'));
	cell.setAttribute('aria-sort', down > 0 ? 'ascending' : 'descending');
	body.replaceChildren(...rows);
}));
