// Memory over the step: what is alive at each instant, one kind on the other, and what that is.

const MEMORY_LEFT = 90, MEMORY_BOTTOM = 24, MEMORY_TOP = 12;

class Memory {
  constructor(page) {
    this.page = page;
    this.grouping = "tensor";
    this.picture = new Picture(300, "Bytes that are alive over the step. Arrow keys move the instant.", (...all) => this.draw(...all));
    const canvas = this.picture.canvas;
    canvas.addEventListener("pointermove", (event) => this.point(event));
    canvas.addEventListener("pointerleave", () => tooltip.hide());
    canvas.addEventListener("click", (event) => this.setInstant(this.indexAt(this.picture.at(event)[0])));
    canvas.addEventListener("keydown", (event) => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (event.key === "Home") this.setInstant(this.peakIndex());
      else if (step) this.setInstant(Math.max(0, Math.min(this.order.length - 1, this.instant + step)));
      else return;
      event.preventDefault();
    });
    this.list = element("div");
    this.stages = element("div");
    this.legend = element("div");
  }

  show(program, stages, stage) {
    this.program = program;
    this.all = stages;
    this.stage = stage ?? [...stages].sort((a, b) => b.allocated - a.allocated)[0];
    this.order = this.stage.order();
    this.alive = this.stage.alive();
    this.end = this.order.length ? this.order[this.order.length - 1][2] : 1;
    this.hasTimes = this.stage.rows.some((row) => row.stream === 0);
    this.top = Math.max(this.stage.allocated, this.alive.total[this.alive.peak] ?? 0, 1) * 1.04;
    this.categories = Object.keys(CATEGORIES).filter((one) => one === "constant" ? this.constants > 0 : this.alive.byCategory.has(one));
    this.legend.replaceChildren(legend([...this.categories.map((one) => [categoryColor(one), CATEGORIES[one]]), [color("text"), "allocated"]]));
    this.fillStages();
    this.setInstant(this.peakIndex());
  }

  get constants() { return numberOf(this.stage.plan.data.constant_bytes); }

  peakIndex() {
    let peak = 0;
    const total = this.alive.total;
    this.order.forEach(([, instruction], i) => { if (total[instruction] > total[this.order[peak][1]]) peak = i; });
    return peak;
  }

  bytesOf(category, instruction) { return category === "constant" ? this.constants : this.alive.byCategory.get(category)[instruction]; }
  x(time) { return MEMORY_LEFT + time / this.end * (this.picture.width - MEMORY_LEFT - 10); }
  y(bytes) { return MEMORY_TOP + (1 - bytes / this.top) * (this.picture.height - MEMORY_TOP - MEMORY_BOTTOM); }
  indexAt(x) {
    const time = (x - MEMORY_LEFT) / (this.picture.width - MEMORY_LEFT - 10) * this.end;
    this.begins ??= null;
    if (this.begunFor !== this.order) this.begins = Float64Array.from(this.order, ([begin]) => begin), this.begunFor = this.order;
    return Math.max(0, firstAbove(this.begins, time) - 1);
  }

  draw(context, width, height) {
    context.clearRect(0, 0, width, height);
    if (!this.order?.length) return;
    for (const tick of byteTicksOf(this.top)) {
      line(context, MEMORY_LEFT, this.y(tick), width - 10, this.y(tick), color("grid"));
      label(context, bytesText(tick), MEMORY_LEFT - 8, this.y(tick), color("soft"), "right");
    }
    for (const tick of ticksOf(0, this.end, width / 130))
      label(context, this.hasTimes ? secondsText(tick) : `#${Math.round(tick)}`, this.x(tick), height - MEMORY_BOTTOM / 2, color("soft"), "center");
    const columns = this.columns(width);
    let below = new Float64Array(columns.length);
    for (const category of this.categories) {
      const above = Float64Array.from(columns, (instruction, i) => below[i] + this.bytesOf(category, instruction));
      context.fillStyle = categoryColor(category);
      context.beginPath();
      columns.forEach((_, i) => { context.lineTo(MEMORY_LEFT + i, this.y(above[i])); context.lineTo(MEMORY_LEFT + i + 1, this.y(above[i])); });
      for (let i = columns.length - 1; i >= 0; --i) context.lineTo(MEMORY_LEFT + i + 1, this.y(below[i])), context.lineTo(MEMORY_LEFT + i, this.y(below[i]));
      context.fill();
      below = above;
    }
    context.setLineDash([6, 4]);
    line(context, MEMORY_LEFT, this.y(this.stage.allocated), width - 10, this.y(this.stage.allocated), color("text"));
    context.setLineDash([]);
    const at = this.x(this.order[this.instant][0]);
    line(context, at, MEMORY_TOP, at, height - MEMORY_BOTTOM, color("text"));
  }

  // By pixel, the instruction that has most alive of those that begin there.
  columns(width) {
    const size = Math.max(1, Math.floor(width - MEMORY_LEFT - 10)), columns = new Int32Array(size).fill(-1), total = this.alive.total;
    for (const [begin, instruction] of this.order) {
      const pixel = Math.min(size - 1, Math.floor(begin / this.end * size));
      if (columns[pixel] < 0 || total[instruction] > total[columns[pixel]]) columns[pixel] = instruction;
    }
    let last = this.order[0][1];
    const seen = new Int32Array(size);
    for (let i = 0; i < size; ++i) seen[i] = last = columns[i] < 0 ? last : columns[i];
    return seen;
  }

  point(event) {
    const [, instruction] = this.order[this.indexAt(this.picture.at(event)[0])] ?? [];
    if (instruction === undefined) return;
    const entries = this.categories.map((one) => [CATEGORIES[one], this.bytesOf(one, instruction)]).filter(([, bytes]) => bytes > 0).reverse();
    tooltip.show(event, element("b", {}, `${bytesText(this.alive.total[instruction])} alive`), definitions([...entries.map(([name, bytes]) => [name, bytesText(bytes)]),
      ["during", shown(`${this.stage.op(instruction)} ${this.stage.scope(instruction)}`, 90)], ["source", shown(this.stage.loc(instruction), 120)]]));
  }

  setInstant(index) {
    this.instant = index;
    this.fillList();
    this.picture.drawSoon();
  }

  fillStages() {
    if (this.all.length < 2) return this.stages.replaceChildren();
    const most = Math.max(...this.all.map((stage) => stage.allocated), 1);
    const meter = (share) => element("span", {class: "meter"}, element("i", {style: `width:${100 * share}%`}));
    this.stages.replaceChildren(element("h3", {}, "By stage"), table([
      {name: "Stage", value: (stage) => stage.number, cell: (stage) => stage.label},
      {name: "Allocated", number: true, value: (stage) => stage.allocated, cell: (stage) => [meter(stage.allocated / most), ` ${bytesText(stage.allocated)}`]},
      {name: "Most alive at once", number: true, value: (stage) => stage.alive().total[stage.alive().peak], cell: (stage) => bytesText(stage.alive().total[stage.alive().peak] ?? 0)},
    ], this.all, {choose: (stage) => this.show(this.program, this.all, stage), isChosen: (stage) => stage === this.stage}));
  }

  fillList() {
    const [begin, instruction] = this.order[this.instant] ?? [0, 0], buffers = this.stage.aliveAt(instruction);
    const key = {tensor: (one) => `${one.kind}\n${one.name || one.scope}\n${one.loc}\n${one.phase}`, scope: (one) => one.scope || one.name || "no scope", kind: (one) => CATEGORIES[one.category], source: (one) => one.loc || "no source line"}[this.grouping];
    const groups = new Map();
    for (const one of buffers) {
      const group = groups.get(key(one)) ?? {first: one, bytes: 0, count: 0, key: key(one)};
      group.bytes += one.bytes, group.count += 1;
      groups.set(key(one), group);
    }
    if (this.constants > 0 && this.grouping !== "source")
      groups.set("constants", {first: {kind: "constant", name: "", scope: "", loc: "", category: "constant"}, bytes: this.constants, count: 1, key: "constants"});
    const rows = [...groups.values()].sort((a, b) => b.bytes - a.bytes), total = rows.reduce((sum, row) => sum + row.bytes, 0);
    const isPeak = this.instant === this.peakIndex();
    const name = (row) => this.grouping === "tensor" ? row.first.name || row.first.scope || row.first.loc || row.first.kind : row.key;
    const columns = [
      {name: {tensor: "Tensor", scope: "Scope", kind: "Kind", source: "Source line"}[this.grouping], value: name, cell: (row) => [element("i", {class: "swatch", style: `display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:6px;background:${categoryColor(row.first.category)}`}), this.page.tensorLink(row.first.kind === "parameter" && this.grouping === "tensor" ? row.first.name : "", name(row)), row.count > 1 ? element("span", {class: "soft"}, ` \u00d7 ${row.count}`) : null]},
      {name: "Bytes", number: true, value: (row) => row.bytes, cell: (row) => bytesText(row.bytes)},
      {name: "Share", number: true, value: (row) => row.bytes, cell: (row) => percentText(row.bytes / (total || 1))},
    ];
    if (this.grouping === "tensor") columns.push({name: "Source", value: (row) => row.first.loc, cell: (row) => cutText(row.first.loc, "mono")});
    this.list.replaceChildren(element("div", {class: "bar"},
      element("b", {}, `${bytesText(total)} alive ${isPeak ? "at the peak" : ""}`), element("span", {class: "soft"}, `${this.hasTimes ? `at ${secondsText(begin)}` : `at instruction ${instruction}`}, in ${shown(this.stage.op(instruction), 40)}`),
      element("button", {type: "button", click: () => this.setInstant(this.peakIndex())}, "peak"),
      element("select", {"aria-label": "Grouping", change: (event) => { this.grouping = event.target.value; this.fillList(); }},
        [["tensor", "by tensor"], ["scope", "by scope"], ["kind", "by kind"], ["source", "by source line"]].map(([value, text]) => element("option", {value, selected: value === this.grouping}, text)))),
      table(columns, rows, {most: 200}));
  }

  section() { return [this.legend, element("div", {class: "columns"}, element("div", {}, this.picture.canvas, this.stages), this.list)]; }
}
