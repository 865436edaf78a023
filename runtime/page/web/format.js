"use strict";
// Numbers and texts as people read them, and elements of the document.

const MINUS = "\u2212";

function scaled(value, base, units) {
  let unit = 0;
  while (Math.abs(value) >= base && unit + 1 < units.length) value /= base, ++unit;
  const digits = unit === 0 && Number.isInteger(value) ? 0 : Math.abs(value) >= 100 ? 1 : 2;
  return `${value.toFixed(digits)} ${units[unit]}`.trim();
}

const bytesText = (bytes) => scaled(bytes, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
const countText = (count) => scaled(count, 1000, ["", "K", "M", "G", "T", "P"]);
const rateText = (rate, unit) => scaled(rate, 1000, [unit, `K${unit}`, `M${unit}`, `G${unit}`, `T${unit}`, `P${unit}`]);
const percentText = (share) => `${(100 * share).toFixed(share < 0.1 && share > 0 ? 1 : 0)} %`;

function secondsText(seconds) {
  const size = Math.abs(seconds);
  if (size === 0) return "0";
  const [factor, unit] = size < 1e-6 ? [1e9, "ns"] : size < 1e-3 ? [1e6, "\u00b5s"] : size < 1 ? [1e3, "ms"] : [1, "s"];
  return `${Number((seconds * factor).toPrecision(4))} ${unit}`;
}

// A name from a model, on one line: control characters and those that turn the direction of text are shown, not obeyed.
function shown(text, most = 400) {
  const plain = String(text ?? "").slice(0, most + 1)
    .replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, "\ufffd");
  return plain.length > most ? `${plain.slice(0, most)}\u2026` : plain;
}

// An element with attributes and children; texts become text, never markup. A function is a listener.
function element(tag, attributes = {}, ...children) {
  const made = tag === "svg" || element.isSvg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) made.setAttribute(name, value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined && child !== false) made.append(child);
  return made;
}

function svg(tag, attributes, ...children) {
  element.isSvg = true;
  const made = element(tag, attributes, ...children);
  element.isSvg = false;
  return made;
}

// The end of a long name, which tells it from others.
const tailOf = (text, most) => text.length > most ? `\u2026${text.slice(1 - most)}` : text;

// A long name is cut by its place on the page, and is whole when pointed at.
const cutText = (text, kind = "") => element("span", {class: `cut ${kind}`, title: shown(text, 2000)}, shown(text));

// A table whose columns sort: [{name, number, value: row => to sort by, cell: row => content}].
function table(columns, rows, options = {}) {
  const body = element("tbody");
  const state = {column: -1, down: true};
  const buttons = columns.map((column, at) => element("button", {type: "button", click: () => sort(at)}, column.name));
  function fill(ordered) {
    const shownRows = options.most ? ordered.slice(0, options.most) : ordered;
    body.replaceChildren(...shownRows.map((row) => {
      const line = element("tr", {class: options.isChosen?.(row) ? "chosen" : null},
        columns.map((column) => element("td", {class: column.number ? "number" : column.kind}, column.cell(row))));
      if (options.choose) {
        line.tabIndex = 0;
        line.style.cursor = "pointer";
        line.addEventListener("click", (event) => event.target.closest("a, button, summary") || options.choose(row, line));
        line.addEventListener("keydown", (event) => event.key === "Enter" && event.target === line && options.choose(row, line));
      }
      return line;
    }));
    if (ordered.length > shownRows.length)
      body.append(element("tr", {}, element("td", {colspan: columns.length, class: "soft"}, `and ${ordered.length - shownRows.length} more`)));
  }
  function sort(at) {
    state.down = state.column === at ? !state.down : Boolean(columns[at].number);
    state.column = at;
    buttons.forEach((button, i) => i === at ? button.setAttribute("data-order", state.down ? "down" : "up") : button.removeAttribute("data-order"));
    const value = columns[at].value;
    const compare = (a, b) => { const x = value(a), y = value(b); return x < y ? -1 : x > y ? 1 : 0; };
    fill([...rows].sort((a, b) => state.down ? compare(b, a) : compare(a, b)));
  }
  fill(rows);
  const heads = columns.map((column, at) => element("th", {scope: "col", class: column.number ? "number" : null}, column.value ? buttons[at] : column.name));
  return element("div", {class: "scroll"}, element("table", {}, element("thead", {}, element("tr", {}, heads)), body));
}

const legend = (entries) => element("div", {class: "legend"}, entries.map(([color, text]) =>
  element("span", {}, element("i", {style: `background:${color}`}), text)));

// Labels of round numbers on an axis from low to high, at most about `count`.
function ticksOf(low, high, count = 8) {
  const rough = (high - low) / count;
  if (!(rough > 0) || !Number.isFinite(rough)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9 && ticks.length < 50; ++i) ticks.push(i * step);
  return ticks;
}

// The same for bytes: multiples of powers of two.
function byteTicksOf(high, count = 5) {
  if (!(high > 0)) return [];
  let step = 2 ** Math.floor(Math.log2(high / count));
  while (high / step > count) step *= 2;
  const ticks = [];
  for (let value = 0; value <= high * 1.0001; value += step) ticks.push(value);
  return ticks;
}
