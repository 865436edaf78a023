// Kernels and library calls: operations for each byte, and how fast they are, below what the device can do.

const ROOF_LEFT = 110, ROOF_BOTTOM = 40, ROOF_TOP = 14;

class Roofline {
  constructor(page) {
    this.page = page;
    this.picture = new Picture(360, "Roofline: operations a second over operations a byte.", (...all) => this.draw(...all));
    this.picture.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.picture.canvas.addEventListener("pointerleave", () => tooltip.hide());
    this.list = element("div");
    this.note = element("p");
  }

  show(plan, stages, measured) {
    this.device = plan.data.device;
    this.cache = {bytes: numberOf(plan.records.cache?.bytes), bandwidth: numberOf(plan.records.cache?.bandwidth)};
    this.kernels = new Map(listOf(plan.data.kernels).map((kernel) => [textOf(kernel.name), kernel]));
    const points = new Map(), times = this.measuredTimes(measured);
    for (const stage of stages) for (let i = 0; i < stage.size; ++i) {
      const flops = stage.column("flops", i), bytes = stage.column("bytes", i), seconds = stage.seconds[i];
      if (flops <= 0 || bytes <= 0 || seconds <= 0) continue;
      const name = `${stage.op(i)} ${stage.what(i)}`, executions = stage.column("executions", i);
      const point = points.get(name) ?? {name, stage, instruction: i, flops, bytes, seconds, executions: 0, measured: 0, runs: 0};
      point.executions += executions;
      for (const time of times.get(stage)?.get(i) ?? []) point.measured += time, point.runs += 1;
      points.set(name, point);
    }
    this.points = [...points.values()].sort((a, b) => b.seconds * b.executions - a.seconds * a.executions);
    const intensities = this.points.map((point) => point.flops / point.bytes);
    const roofs = this.device ? [numberOf(this.device.flops), numberOf(this.device.half_flops)] : [];
    const rates = [...this.points.flatMap((point) => [point.flops / point.seconds, point.runs ? point.flops * point.runs / point.measured : 0]), ...roofs].filter((rate) => rate > 0);
    this.xLow = Math.max(-2, Math.floor(Math.log10(Math.min(0.1, ...intensities))));
    this.xHigh = Math.ceil(Math.log10(Math.max(1000, ...intensities)));
    this.yHigh = Math.ceil(Math.log10(Math.max(...rates, 1e9)) + 0.15);
    this.yLow = Math.max(this.yHigh - 5, Math.floor(Math.log10(Math.min(...rates, 1e12))));
    this.note.textContent = this.device
      ? `Roofs are those of the topology ${shown(this.device.name, 60)}: ${rateText(numberOf(this.device.flops), "flops/s")} in f32, ${rateText(numberOf(this.device.half_flops), "flops/s")} in f16 and bf16, ${rateText(numberOf(this.device.memory_bandwidth), "B/s")}.${this.cache.bytes ? ` What touches at most ${bytesText(this.cache.bytes)} is near, at ${rateText(this.cache.bandwidth, "B/s")} (dashed).` : ""} A transcendental operation counts as ten. Circles are predicted${this.points.some((point) => point.runs) ? ", squares measured" : ""}; their area is the time of a step.`
      : "The artifact does not describe its device, so there are no roofs.";
    this.fillList();
    this.picture.drawSoon();
  }

  // By stage and instruction, the seconds of its bars.
  measuredTimes(rows) {
    const times = new Map();
    for (const row of rows) for (let i = 0; i < row.size; ++i) {
      if (!times.has(row.stage)) times.set(row.stage, new Map());
      const of = times.get(row.stage);
      if (!of.has(row.instruction[i])) of.set(row.instruction[i], []);
      of.get(row.instruction[i]).push(row.end[i] - row.begin[i]);
    }
    return times;
  }

  x(intensity) { return ROOF_LEFT + (Math.log10(intensity) - this.xLow) / (this.xHigh - this.xLow) * (this.picture.width - ROOF_LEFT - 36); }
  y(rate) { return ROOF_TOP + (this.yHigh - Math.log10(rate)) / (this.yHigh - this.yLow) * (this.picture.height - ROOF_TOP - ROOF_BOTTOM); }

  draw(context, width, height) {
    context.clearRect(0, 0, width, height);
    const bottom = height - ROOF_BOTTOM, soft = color("soft");
    for (let power = this.xLow; power <= this.xHigh; ++power) {
      line(context, this.x(10 ** power), ROOF_TOP, this.x(10 ** power), bottom, color("grid"));
      label(context, power < 0 ? (10 ** power).toFixed(-power) : countText(10 ** power), this.x(10 ** power), bottom + 12, soft, "center");
    }
    for (let power = this.yLow; power <= this.yHigh; ++power) {
      line(context, ROOF_LEFT, this.y(10 ** power), width - 36, this.y(10 ** power), color("grid"));
      label(context, rateText(10 ** power, "flops/s"), ROOF_LEFT - 8, this.y(10 ** power), soft, "right");
    }
    label(context, "flops for each byte read and written", (ROOF_LEFT + width) / 2, height - 10, soft, "center");
    context.save();
    context.beginPath();
    context.rect(ROOF_LEFT - 6, ROOF_TOP - 6, width - ROOF_LEFT - 24, bottom - ROOF_TOP + 12);
    context.clip();
    this.drawRoofs(context);
    this.drawPoints(context);
    context.restore();
  }

  drawRoofs(context) {
    const bandwidth = numberOf(this.device?.memory_bandwidth);
    if (!(bandwidth > 0)) return;
    const roofs = [["f32", numberOf(this.device.flops)], ["f16, bf16", numberOf(this.device.half_flops)]].filter(([, rate]) => rate > 0);
    const same = roofs.length === 2 && roofs[0][1] === roofs[1][1];
    for (const [name, rate] of same ? [["peak", roofs[0][1]]] : roofs) {
      line(context, this.x(rate / bandwidth), this.y(rate), this.x(10 ** this.xHigh), this.y(rate), color("roof"), 1.6);
      label(context, name, this.x(10 ** this.xHigh) - 6, this.y(rate) - 8, color("soft"), "right");
    }
    const most = Math.max(...roofs.map(([, rate]) => rate), 1), low = 10 ** this.xLow;
    const slope = (rate) => line(context, this.x(low), this.y(low * rate), this.x(most / rate), this.y(most), color("roof"), 1.6);
    slope(bandwidth);
    if (!(this.cache.bytes > 0 && this.cache.bandwidth > 0)) return;
    context.setLineDash([6, 4]);
    slope(this.cache.bandwidth);
    context.setLineDash([]);
  }

  drawPoints(context) {
    const most = Math.max(...this.points.map((point) => point.seconds * point.executions), 1e-12);
    for (const point of [...this.points].reverse().sort((a, b) => a === this.chosen ? 1 : b === this.chosen ? -1 : 0)) {
      const x = this.x(Math.max(point.flops / point.bytes, 10 ** this.xLow)), y = this.y(Math.max(point.flops / point.seconds, 10 ** this.yLow));
      const size = 3 + 13 * Math.sqrt(point.seconds * point.executions / most);
      Object.assign(point, {px: x, py: y, size});
      context.globalAlpha = 0.8;
      context.fillStyle = color(barColor({stage: point.stage, instruction: [point.instruction], lane: "compute"}, 0, "op"));
      context.beginPath();
      context.arc(x, y, size, 0, 2 * Math.PI);
      context.fill();
      context.globalAlpha = 1;
      context.strokeStyle = point === this.chosen ? color("text") : color("panel");
      context.stroke();
      if (!point.runs) continue;
      const other = this.y(Math.max(point.flops * point.runs / point.measured, 10 ** this.yLow));
      line(context, x, y, x, other, color("soft"));
      context.strokeStyle = color("measured");
      context.lineWidth = 1.5;
      context.strokeRect(x - 4, other - 4, 8, 8);
    }
  }

  point(event) {
    const [x, y] = this.picture.at(event);
    const found = this.points.find((point) => Math.hypot(point.px - x, point.py - y) <= Math.max(point.size, 6));
    if (!found) return tooltip.hide();
    tooltip.show(event, element("b", {}, shown(found.name, 120)), definitions(this.describe(found)));
  }

  describe(point) {
    const kernel = this.kernels.get(point.stage.what(point.instruction));
    return [["ops", shown(textOf(kernel?.ops), 160)], ["source", shown(point.stage.loc(point.instruction), 160)], ["executions", `${point.executions} a step`],
      ["predicted", `${secondsText(point.seconds)}, ${rateText(point.flops / point.seconds, "flops/s")}, ${rateText(point.bytes / point.seconds, "B/s")}`],
      ["measured", point.runs ? `${secondsText(point.measured / point.runs)}, ${rateText(point.flops * point.runs / point.measured, "flops/s")}` : ""],
      ["work", `${countText(point.flops)}flops, ${bytesText(point.bytes)}, ${(point.flops / point.bytes).toFixed(2)} flops a byte`]];
  }

  fillList() {
    const total = this.points.reduce((sum, point) => sum + point.seconds * point.executions, 0) || 1, hasMeasured = this.points.some((point) => point.runs);
    const columns = [
      {name: "Kernel or call", value: (row) => row.name, cell: (row) => cutText(row.name, "mono")},
      {name: "Runs", number: true, value: (row) => row.executions, cell: (row) => String(row.executions)},
      {name: "Time a step", number: true, value: (row) => row.seconds * row.executions, cell: (row) => secondsText(row.seconds * row.executions)},
      {name: "Share", number: true, value: (row) => row.seconds * row.executions, cell: (row) => percentText(row.seconds * row.executions / total)},
      {name: "Flops a byte", number: true, value: (row) => row.flops / row.bytes, cell: (row) => (row.flops / row.bytes).toFixed(2)},
      {name: "Rate", number: true, value: (row) => row.flops / row.seconds, cell: (row) => rateText(row.flops / row.seconds, "flops/s")},
      {name: "Bound by", value: (row) => this.boundOf(row), cell: (row) => this.boundOf(row)},
    ];
    if (hasMeasured) columns.push({name: "Measured", number: true, value: (row) => row.runs ? row.measured / row.runs : 0, cell: (row) => row.runs ? secondsText(row.measured / row.runs) : ""});
    columns.push({name: "Source", value: (row) => row.stage.loc(row.instruction), cell: (row) => cutText(row.stage.loc(row.instruction), "mono")});
    this.list.replaceChildren(table(columns, this.points, {most: 100, isChosen: (row) => row === this.chosen,
      choose: (row) => { this.chosen = row; this.picture.drawSoon(); this.page.timeline.chooseInstruction(row.stage, row.instruction); }}));
  }

  boundOf(point) {
    const isNear = point.bytes <= this.cache.bytes, flops = numberOf(this.device?.flops);
    const bandwidth = isNear ? this.cache.bandwidth : numberOf(this.device?.memory_bandwidth);
    if (!(bandwidth > 0 && flops > 0)) return "";
    const least = Math.max(point.bytes / bandwidth, point.flops / flops);
    return least < point.seconds / 3 ? "launch" : point.flops / flops > point.bytes / bandwidth ? "compute" : "memory";
  }

  section() { return [this.note, this.picture.canvas, this.list]; }
}
