// Canvases: sharp on any screen, in the colours of the theme, drawn once a frame.

const colors = new Map();
function color(name) {
  if (!colors.has(name)) {
    const style = getComputedStyle(document.documentElement);
    colors.set(name, style.getPropertyValue(`--${name}`).trim() || style.getPropertyValue("--none").trim());
  }
  return colors.get(name);
}
const forgetColors = () => colors.clear();

const FONT = '12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';

class Picture {
  constructor(height, label, draw) {
    this.canvas = element("canvas", {tabindex: 0, role: "img", "aria-label": label});
    this.height = height;
    this.drawing = draw;
    this.canvas.style.height = `${height}px`;
    this.observer = typeof ResizeObserver === "undefined" ? null : new ResizeObserver(() => this.draw());
    this.observer?.observe(this.canvas);
  }

  setHeight(height) {
    this.height = height;
    this.canvas.style.height = `${height}px`;
  }

  drawSoon() {
    if (this.isWaiting) return;
    this.isWaiting = true;
    requestAnimationFrame(() => { this.isWaiting = false; this.draw(); });
  }

  draw() {
    const ratio = window.devicePixelRatio || 1, width = this.canvas.clientWidth;
    if (width === 0) return;
    this.width = width;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    const context = this.canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = FONT;
    context.textBaseline = "middle";
    this.drawing(context, width, this.height);
  }

  // Where the pointer is, in pixels of the picture.
  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }
}

function line(context, x1, y1, x2, y2, stroke, width = 1) {
  context.strokeStyle = stroke;
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

function label(context, text, x, y, fill, align = "left") {
  context.fillStyle = fill;
  context.textAlign = align;
  context.fillText(text, x, y);
}

// As much of a text as is `width` wide; nothing where that is too little to read.
function fitText(context, text, width) {
  if (width < 12) return "";
  const perLetter = 6.2;
  if (text.length * perLetter <= width) return text;
  const letters = Math.floor(width / perLetter) - 1;
  return letters < 2 ? "" : `${text.slice(0, letters)}\u2026`;
}

const tooltip = {
  show(event, ...content) {
    const box = document.getElementById("tooltip");
    box.replaceChildren(...content);
    box.hidden = false;
    const x = Math.min(event.clientX + 14, window.innerWidth - box.offsetWidth - 8);
    const below = event.clientY + 16, above = event.clientY - box.offsetHeight - 12;
    box.style.left = `${Math.max(4, x)}px`;
    box.style.top = `${below + box.offsetHeight < window.innerHeight ? below : Math.max(4, above)}px`;
  },
  hide() { document.getElementById("tooltip").hidden = true; },
};

const say = (text) => { document.getElementById("spoken").textContent = text; };
const definitions = (entries) => element("dl", {}, entries.filter(([, value]) => value !== "" && value !== null && value !== undefined && value !== false)
  .flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
