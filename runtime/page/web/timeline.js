// The step as bars over time: a row for each stream of each stage. Only bars that can be seen are drawn, and bars of one
// pixel once.

const LABELS = 170, AXIS = 26, ROW = 24, GROUP_GAP = 10, MOST_HEIGHT = 620;
const COLLECTIVES = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "permute", "broadcast", "gather_range"];

function barColor(row, i, way) {
  const stage = row.stage, instruction = row.instruction[i], op = stage.op(instruction);
  if (COLLECTIVES.includes(op)) return op;
  if (op === "send" || op === "receive") return "message";
  if (way === "op") return {matmul: "parameter", convolution: "parameter", attention: "optimizer_state", launch: "input", launch_group: "input",
    tiled: "output", copy: "copy", fill: "copy"}[op] ?? "none";
  if (row.lane !== "compute") return op === "done" ? "none" : "copy";
  return stage.phase(instruction);
}

// "3 mlp/dense": the micro-batch, and what is computed.
function barText(row, i) {
  const stage = row.stage, instruction = row.instruction[i];
  const part = row.part && row.part[i] >= 0 ? `${row.part[i]} ` : "";
  if (row.count && row.count[i] > 1) return `${part}${row.count[i]} bars`;
  return part + shown(stage.scope(instruction) || stage.op(instruction), 60);
}

function barContent(row, i) {
  const stage = row.stage, instruction = row.instruction[i], op = stage.op(instruction), what = stage.what(instruction);
  const length = row.end[i] - row.begin[i], flops = stage.column("flops", instruction), sent = stage.column("sent", instruction);
  const loop = stage.loops.find((one) => one[0] === instruction);
  return [element("b", {}, shown(what && what !== op ? `${op} ${what}` : op, 160)), definitions([
    ["source", shown(stage.loc(instruction), 200)], ["scope", shown(stage.scope(instruction), 200)],
    ["phase", stage.phase(instruction) === "none" ? "" : PHASE_NAMES[stage.phase(instruction)]],
    ["micro-batch", row.part && row.part[i] >= 0 ? String(row.part[i]) : ""],
    [row.measured ? "measured" : "predicted", `${secondsText(length)} from ${secondsText(row.begin[i])}`],
    ["drawn as one", row.count && row.count[i] > 1 ? `${row.count[i]} bars; zoomed in they stay one` : ""],
    ["loop", loop ? (loop[2] ? `${loop[2]} iterations` : "until its condition ends it") : ""],
    ["sent", sent ? bytesText(sent) : ""], ["read and written", stage.column("bytes", instruction) ? bytesText(stage.column("bytes", instruction)) : ""],
    ["operations", flops ? `${countText(flops)}flops${length > 0 && !(row.count && row.count[i] > 1) ? `, ${rateText(flops / length, "flops/s")}` : ""}` : ""],
    ["executions", stage.column("executions", instruction) > 1 ? `${stage.column("executions", instruction)} a step` : ""],
    ["on", `${stage.label}, ${row.label}`],
  ])];
}

class Timeline {
  constructor(page) {
    this.page = page;
    this.way = "phase";
    this.picture = new Picture(200, "Timeline of a step. Arrow keys go from bar to bar, plus and minus zoom, 0 shows all.", (...all) => this.draw(...all));
    const canvas = this.picture.canvas;
    canvas.classList.add("pans");
    canvas.setAttribute("role", "application");
    canvas.addEventListener("pointerdown", (event) => this.grab(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointerleave", () => tooltip.hide());
    canvas.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("dblclick", () => this.zoomToChosen());
    this.detail = element("div", {class: "detail soft"}, "Point at a bar, or click it to keep it here.");
  }

  // `stages` of `program`, and measured rows below those of their stage.
  show(program, stages, measured) {
    this.rows = [];
    for (const stage of stages) {
      this.rows.push(...stage.rows);
      this.rows.push(...measured.filter((row) => row.stage === stage));
    }
    this.end = Math.max(program.seconds, ...this.rows.map((row) => row.last)) || 1;
    this.predicted = program.seconds;
    this.from = 0;
    this.to = this.end;
    this.top = 0;
    this.chosen = null;
    let y = 0, stage = null;
    for (const row of this.rows) {
      if (stage && row.stage !== stage) y += GROUP_GAP;
      stage = row.stage;
      row.y = y;
      y += ROW;
    }
    this.inner = y;
    this.showsStages = stages.length > 1 || (stages[0] && stages[0].number >= 0);
    this.picture.setHeight(Math.min(MOST_HEIGHT, y + AXIS + 6));
    this.picture.drawSoon();
  }

  x(time) { return LABELS + (time - this.from) / (this.to - this.from) * (this.picture.width - LABELS - 10); }
  time(x) { return this.from + (x - LABELS) / (this.picture.width - LABELS - 10) * (this.to - this.from); }

  draw(context, width, height) {
    context.clearRect(0, 0, width, height);
    this.drawn = 0;
    const text = color("text"), soft = color("soft");
    for (const tick of ticksOf(this.from, this.to, width / 130)) {
      line(context, this.x(tick), AXIS, this.x(tick), height, color("grid"));
      label(context, secondsText(tick), this.x(tick), AXIS / 2, soft, "center");
    }
    context.save();
    context.beginPath();
    context.rect(0, AXIS, width, height - AXIS);
    context.clip();
    for (const row of this.rows) {
      const y = AXIS + row.y - this.top;
      if (y + ROW < AXIS || y > height) continue;
      this.drawRow(context, row, y, width);
      const name = this.showsStages && !row.measured ? `stage ${row.stage.number}: ${row.label}` : row.label;
      context.fillStyle = color("panel");
      context.fillRect(0, y, LABELS - 4, ROW);
      label(context, fitText(context, shown(name, 60), LABELS - 12), 4, y + ROW / 2 - 1, row.measured ? text : soft);
    }
    const end = this.x(this.predicted);
    if (end >= LABELS && this.rows.some((row) => row.measured)) line(context, end, AXIS, end, height, color("focus"));
    context.restore();
    this.page.isDrawn();
  }

  drawRow(context, row, y, width) {
    const left = LABELS, right = width - 10;
    const perSecond = (right - left) / (this.to - this.from);
    let i = firstAbove(row.reach, this.from);
    while (i < row.size && row.begin[i] < this.to) {
      const x0 = left + (row.begin[i] - this.from) * perSecond, x1 = left + (row.end[i] - this.from) * perSecond;
      const name = barColor(row, i, this.way);
      if (x1 - x0 < 1) {
        // All that end before the next pixel are this one, as bright as they fill it.
        const pixel = Math.floor(x0);
        const next = Math.max(i + 1, firstAbove(row.reach, this.from + (pixel + 1 - left) / perSecond, i + 1, row.size));
        context.globalAlpha = Math.min(1, Math.max(0.3, (row.busy[next] - row.busy[i]) * perSecond));
        context.fillStyle = color(name);
        context.fillRect(Math.max(left, pixel), y + 2, 1, ROW - 5);
        context.globalAlpha = 1;
        ++this.drawn;
        i = next;
        continue;
      }
      this.drawBar(context, row, i, name, Math.max(x0, left), Math.min(x1, right), y);
      ++this.drawn;
      ++i;
    }
  }

  drawBar(context, row, i, name, x0, x1, y) {
    const isChosen = this.chosen && this.chosen.row.stage === row.stage && this.chosen.row.instruction[this.chosen.i] === row.instruction[i];
    const gap = x1 - x0 > 4 ? 1 : 0;
    context.globalAlpha = this.chosen && !isChosen ? 0.45 : 1;
    context.fillStyle = color(name);
    context.fillRect(x0, y + 2, x1 - x0 - gap, ROW - 5);
    if (row.measured) {
      context.fillStyle = color("panel");
      context.fillRect(x0 + 1, y + ROW - 8, x1 - x0 - gap - 2, 2);
    }
    const text = fitText(context, barText(row, i), x1 - x0 - 6);
    if (text) label(context, text, x0 + 4, y + ROW / 2, color("on-bar"));
    else if (row.part && row.part[i] >= 0 && x1 - x0 > 9) label(context, String(row.part[i]), (x0 + x1) / 2, y + ROW / 2, color("on-bar"), "center");
    context.globalAlpha = 1;
    if (!isChosen) return;
    context.strokeStyle = color("text");
    context.lineWidth = 1.5;
    context.strokeRect(x0, y + 2, x1 - x0 - gap, ROW - 5);
  }

  // The bar at a place of the picture.
  find(x, y) {
    const row = this.rows.find((one) => y >= AXIS + one.y - this.top && y < AXIS + one.y - this.top + ROW);
    if (!row || x < LABELS || y < AXIS || row.size === 0) return null;
    const time = this.time(x), slack = (this.to - this.from) / this.picture.width * 2;
    const i = Math.min(firstAbove(row.reach, time - slack), row.size - 1);
    return row.begin[i] - slack <= time && time <= row.end[i] + slack ? {row, i} : null;
  }

  grab(event) {
    const [x, y] = this.picture.at(event);
    this.grabbed = {x, y, from: this.from, to: this.to, top: this.top, moved: false};
    this.picture.canvas.setPointerCapture(event.pointerId);
  }

  move(event) {
    const [x, y] = this.picture.at(event);
    if (this.grabbed && event.buttons) {
      const by = (this.grabbed.x - x) / (this.picture.width - LABELS - 10) * (this.grabbed.to - this.grabbed.from);
      this.grabbed.moved ||= Math.abs(x - this.grabbed.x) + Math.abs(y - this.grabbed.y) > 3;
      if (!this.grabbed.moved) return;
      this.setRange(this.grabbed.from + by, this.grabbed.to + by);
      this.scrollTo(this.grabbed.top + this.grabbed.y - y);
      return tooltip.hide();
    }
    const found = this.find(x, y);
    if (found) tooltip.show(event, ...barContent(found.row, found.i)); else tooltip.hide();
  }

  release(event) {
    const wasMoved = this.grabbed?.moved;
    this.grabbed = null;
    if (wasMoved) return;
    const found = this.find(...this.picture.at(event));
    this.choose(found);
  }

  wheel(event) {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.zoom(Math.exp(event.deltaY * 0.003), this.time(this.picture.at(event)[0]));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      const by = (event.deltaX || event.deltaY) / this.picture.width * (this.to - this.from);
      this.setRange(this.from + by, this.to + by);
    } else if (this.inner > this.picture.height - AXIS) {
      event.preventDefault();
      this.scrollTo(this.top + event.deltaY);
    }
  }

  scrollTo(top) {
    this.top = Math.max(0, Math.min(top, this.inner + AXIS + 6 - this.picture.height));
    this.picture.drawSoon();
  }

  zoom(factor, around = (this.from + this.to) / 2) {
    this.setRange(around + (this.from - around) * factor, around + (this.to - around) * factor);
  }

  setRange(from, to) {
    const length = Math.min(Math.max(to - from, this.end * 1e-7), this.end);
    this.from = Math.max(0, Math.min(from, this.end - length));
    this.to = this.from + length;
    this.picture.drawSoon();
  }

  zoomToChosen() {
    if (!this.chosen) return;
    const {row, i} = this.chosen, margin = (row.end[i] - row.begin[i]) * 2;
    this.setRange(row.begin[i] - margin, row.end[i] + margin);
  }

  key(event) {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key], rows = {ArrowDown: 1, ArrowUp: -1}[event.key];
    const pan = {d: 0.2, a: -0.2, PageDown: 0.8, PageUp: -0.8}[event.key] * (this.to - this.from);
    if (step) this.stepBy(step);
    else if (rows) this.stepRow(rows);
    else if (pan) this.setRange(this.from + pan, this.to + pan);
    else if (event.key === "+" || event.key === "=" || event.key === "w") this.zoom(0.6);
    else if (event.key === "-" || event.key === "s") this.zoom(1 / 0.6);
    else if (event.key === "0" || event.key === "Home") this.setRange(0, this.end);
    else if (event.key === "Enter") this.zoomToChosen();
    else if (event.key === "Escape") this.choose(null);
    else return;
    event.preventDefault();
  }

  stepBy(step) {
    const row = this.chosen?.row ?? this.rows.find((one) => one.size > 0);
    if (!row) return;
    const i = this.chosen ? Math.max(0, Math.min(row.size - 1, this.chosen.i + step)) : Math.min(row.size - 1, firstAbove(row.reach, this.from));
    this.choose({row, i});
    this.follow();
  }

  stepRow(step) {
    if (!this.chosen) return this.stepBy(1);
    let at = this.rows.indexOf(this.chosen.row) + step;
    while (this.rows[at] && this.rows[at].size === 0) at += step;
    const row = this.rows[at];
    if (!row) return;
    this.choose({row, i: Math.min(row.size - 1, firstAbove(row.reach, this.chosen.row.begin[this.chosen.i]))});
    this.follow();
  }

  // Moves the picture so that the chosen bar is in it.
  follow() {
    const {row, i} = this.chosen, length = this.to - this.from;
    if (row.begin[i] < this.from || row.begin[i] > this.to) this.setRange(row.begin[i] - length / 3, row.begin[i] + length * 2 / 3);
    const bottom = this.picture.height - AXIS - ROW;
    if (row.y < this.top) this.scrollTo(row.y);
    if (row.y > this.top + bottom) this.scrollTo(row.y - bottom);
  }

  choose(found) {
    this.chosen = found;
    if (found) {
      this.detail.classList.remove("soft");
      this.detail.replaceChildren(...barContent(found.row, found.i), this.page.linksOf(found.row.stage, found.row.instruction[found.i]));
      say(this.detail.textContent);
    } else {
      this.detail.classList.add("soft");
      this.detail.replaceChildren("Point at a bar, or click it to keep it here.");
    }
    this.picture.drawSoon();
  }

  // Chooses the first bar of an instruction.
  chooseInstruction(stage, instruction) {
    for (const row of this.rows) {
      if (row.stage !== stage || row.measured) continue;
      const i = row.instruction.indexOf(instruction);
      if (i < 0) continue;
      this.choose({row, i});
      this.zoomToChosen();
      return this.follow();
    }
  }

  section() {
    const buttons = [["+", () => this.zoom(0.5), "Zoom in"], [MINUS, () => this.zoom(2), "Zoom out"], ["all", () => this.setRange(0, this.end), "Show the whole step"]]
      .map(([text, act, title]) => element("button", {type: "button", title, "aria-label": title, click: act}, text));
    const ways = element("select", {"aria-label": "Colours", change: (event) => { this.way = event.target.value; this.picture.drawSoon(); this.fillLegend(); }},
      element("option", {value: "phase"}, "colours by phase"), element("option", {value: "op"}, "colours by operation"));
    this.legend = element("div");
    this.fillLegend();
    return [element("div", {class: "bar"}, buttons, ways, element("span", {class: "soft"},
      "Drag to move, Ctrl and wheel to zoom; keys: arrows, + and \u2212, 0, Enter, Esc")), this.legend, this.picture.canvas, this.detail];
  }

  fillLegend() {
    const rows = this.rows ?? [], ops = new Set(rows.flatMap((row) => row.stage.seenOps ??= [...new Set(Array.from(row.stage.columns.op ?? [], (_, i) => row.stage.op(i)))]));
    const compute = this.way === "phase" ? ["forward", "backward", "weight_gradients", "none"].filter((phase) => rows.some((row) => row.stage.phases.includes(PHASES.indexOf(phase))))
      .map((phase) => [color(phase), PHASE_NAMES[phase]])
      : [[color("parameter"), "matmuls, convolutions"], [color("optimizer_state"), "attention"], [color("input"), "kernels"], [color("output"), "tiled"], [color("copy"), "copies, fills"]];
    const others = COLLECTIVES.filter((op) => ops.has(op)).map((op) => [color(op), op]);
    if (ops.has("send") || ops.has("receive")) others.push([color("message"), "messages"]);
    this.legend.replaceChildren(legend([...compute, ...others]));
  }
}
