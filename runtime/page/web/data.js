// The data as the pictures need it. Artifacts may hold anything: what is absent or of another type counts as none.

const PHASES = ["none", "forward", "backward", "weight_gradients"];
const PHASE_NAMES = {none: "updates and others", forward: "forward", backward: "backward", weight_gradients: "weight gradients"};
const listOf = (value) => Array.isArray(value) ? value : [];
const numberOf = (value) => typeof value === "number" && Number.isFinite(value) ? value : 0;
const textOf = (value) => typeof value === "string" ? value : "";

// Bars of one stream: begins and ends in seconds, sorted, and what they are of.
function readRow(row, tick, stage, description) {
  const gaps = listOf(row.gap), lengths = listOf(row.length), instructions = listOf(row.instruction);
  const size = Math.min(gaps.length, lengths.length, instructions.length);
  const read = {...description, stage, size, begin: new Float64Array(size), end: new Float64Array(size),
    instruction: new Uint32Array(size), part: null, count: null, last: 0};
  let at = 0;
  for (let i = 0; i < size; ++i) {
    read.begin[i] = (at += numberOf(gaps[i])) * tick;
    read.end[i] = (at += numberOf(lengths[i])) * tick;
    read.instruction[i] = numberOf(instructions[i]);
    if (read.end[i] > read.last) read.last = read.end[i];
  }
  if (listOf(row.part).length === size) read.part = Int32Array.from(row.part, numberOf);
  if (listOf(row.count).length === size) read.count = Uint32Array.from(row.count, numberOf);
  // Seconds of the bars before each.
  read.busy = new Float64Array(size + 1);
  for (let i = 0; i < size; ++i) read.busy[i + 1] = read.busy[i] + read.end[i] - read.begin[i];
  // Bars that reach over their neighbours would hide from a search by ends.
  read.reach = Float64Array.from(read.end);
  for (let i = 1; i < size; ++i) if (read.reach[i] < read.reach[i - 1]) read.reach[i] = read.reach[i - 1];
  return read;
}

// The first index whose value is above `limit`, of ascending values.
function firstAbove(values, limit, from = 0, to = values.length) {
  while (from < to) {
    const middle = (from + to) >> 1;
    if (values[middle] > limit) to = middle; else from = middle + 1;
  }
  return from;
}

const LANE_NAMES = {compute: "compute", collective: "collectives", message: "messages"};

class Stage {
  constructor(plan, program, record, tick) {
    this.plan = plan;
    this.program = program;
    this.record = record ?? {};
    this.number = numberOf(program.stage ?? -1);
    this.columns = program.instructions ?? {};
    this.size = listOf(this.columns.op).length;
    this.seconds = Float64Array.from({length: this.size}, (_, i) => numberOf(this.record.seconds?.[i]) * tick);
    this.waits = Object.fromEntries(["compute", "exposed", "message_waits", "host_waits"].map((key) => [key, numberOf(this.record[key]) * tick]));
    this.rows = listOf(this.record.rows).map((row) => readRow(row, tick, this, {lane: textOf(row.lane), stream: numberOf(row.stream), label: this.nameOf(row)}));
    this.loops = listOf(program.loops);
    this.phases = Uint8Array.from({length: this.size}, (_, i) => this.column("phase", i));
    this.nameLoops();
    this.buffers = this.readBuffers(this.record.buffers ?? {});
    this.collectives = new Map(listOf(this.record.collectives).filter(Array.isArray).map(([instruction, number]) => [number, instruction]));
  }

  nameOf(row) {
    if (row.lane === "compute" && row.stream > 0) return "host copies";
    const same = listOf(this.record.rows).filter((other) => other.lane === row.lane);
    return LANE_NAMES[row.lane] + (same.length > 1 ? ` ${1 + same.indexOf(row)}` : "");
  }

  // A loop that is one bar is of the phase of all that it runs.
  nameLoops() {
    for (const [at, next] of this.loops.filter(Array.isArray)) {
      const inside = new Set(this.phases.slice(at + 1, next));
      inside.delete(0);
      if (inside.size === 1) this.phases[at] = [...inside][0];
    }
  }

  column(name, instruction) { return numberOf(this.columns[name]?.[instruction]); }
  text(name, instruction) { return textOf(this.program.texts?.[this.column(name, instruction)]); }
  op(instruction) { return this.text("op", instruction); }
  what(instruction) { return this.text("what", instruction); }
  loc(instruction) { return textOf(this.program.locations?.[this.column("loc", instruction)]); }
  scope(instruction) { return textOf(this.program.scopes?.[this.column("scope", instruction)]); }
  phase(instruction) { return PHASES[this.phases[instruction]] ?? "none"; }
  get label() { return this.number < 0 ? "all ranks" : `stage ${this.number}`; }
  get sentBytes() { return numberOf(this.program.sent_bytes); }
  get allocated() {
    const own = this.plan.stages[this.number];
    const arenas = own ? numberOf(own.private) + numberOf(own.window) : numberOf(this.plan.data.private_bytes) + numberOf(this.plan.data.window_bytes);
    return arenas + numberOf(this.plan.data.constant_bytes);
  }

  readBuffers(table) {
    const texts = listOf(table.texts), count = listOf(table.bytes).length, buffers = [];
    for (let i = 0; i < count; ++i) {
      const kind = textOf(table.kinds?.[i]), phase = textOf(table.phases?.[i]);
      buffers.push({bytes: numberOf(table.bytes[i]), first: numberOf(table.first?.[i]), last: numberOf(table.last?.[i]), kind, phase,
        space: textOf(table.spaces?.[i]), name: textOf(texts[table.names?.[i]]), scope: textOf(texts[table.scopes?.[i]]), loc: textOf(texts[table.locs?.[i]]),
        category: kind === "value" ? (phase in PHASE_NAMES ? phase : "none") : kind in CATEGORIES ? kind : "state"});
    }
    return buffers;
  }

  // By category, the bytes that are alive at each instruction; buffers of the host are elsewhere.
  alive() {
    if (this.aliveBytes) return this.aliveBytes;
    const byCategory = new Map();
    for (const buffer of this.buffers) {
      if (buffer.space === "host" || buffer.first > buffer.last) continue;
      if (!byCategory.has(buffer.category)) byCategory.set(buffer.category, new Float64Array(this.size + 1));
      const changes = byCategory.get(buffer.category);
      changes[Math.min(buffer.first, this.size)] += buffer.bytes;
      if (buffer.last + 1 <= this.size) changes[buffer.last + 1] -= buffer.bytes;
    }
    const total = new Float64Array(this.size).fill(numberOf(this.plan.data.constant_bytes));
    for (const bytes of byCategory.values()) for (let i = 0; i < this.size; ++i) {
      if (i > 0) bytes[i] += bytes[i - 1];
      total[i] += bytes[i];
    }
    let peak = 0;
    for (let i = 1; i < this.size; ++i) if (total[i] > total[peak]) peak = i;
    return this.aliveBytes = {byCategory, total, peak};
  }

  aliveAt(instruction) {
    return this.buffers.filter((buffer) => buffer.space !== "host" && buffer.first <= instruction && instruction <= buffer.last);
  }

  // Instructions of the stream that computes in the order of their bars; without a timeline in their own.
  order() {
    const rows = this.rows.filter((row) => row.stream === 0);
    const all = rows.flatMap((row) => Array.from(row.begin, (begin, i) => [begin, row.instruction[i], row.end[i]]));
    if (all.length === 0) return Array.from({length: this.size}, (_, i) => [i, i, i + 1]);
    return rows.length > 1 ? all.sort((a, b) => a[0] - b[0]) : all;
  }
}

// Kinds of buffers, from the bottom of the picture to its top; "forward" and so on are values by their phase.
const CATEGORIES = {
  constant: "constants", parameter: "parameters", optimizer_state: "optimizer state", buffer: "buffers of the model", generator: "random state",
  compression_error: "compression errors", input: "inputs", state: "other arguments", output: "outputs", forward: "forward: activations",
  backward: "backward: gradients and activations", weight_gradients: "weight gradients", none: "updates and other values",
};
const categoryColor = (category) => color({generator: "buffer", compression_error: "state"}[category] ?? category);

class Plan {
  constructor(data) {
    this.data = data;
    this.records = data.records ?? {};
    this.report = this.records.report ?? {};
    this.name = textOf(data.name);
    this.mesh = listOf(data.mesh).filter(Array.isArray);
    this.stages = listOf(data.stages);
    this.explanation = listOf(this.records.explanation);
    this.groups = listOf(this.records.groups);
    const tick = numberOf(this.records.tick) || 1e-10;
    this.programs = new Map();
    for (const program of listOf(data.programs)) {
      const name = textOf(program.name);
      const step = listOf(this.records.steps).find((one) => one.program === name) ?? {};
      if (!this.programs.has(name))
        this.programs.set(name, {name, stages: [], seconds: numberOf(step.ticks) * tick, bubble: numberOf(step.bubble), hasTimeline: step.has_timeline !== false});
      const record = listOf(step.stages).find((one) => numberOf(one.stage) === numberOf(program.stage));
      this.programs.get(name).stages.push(new Stage(this, program, record, tick));
    }
    for (const program of this.programs.values()) program.stages.sort((a, b) => a.number - b.number);
  }

  get firstProgram() { return this.programs.has(this.report.program) ? this.report.program : this.programs.keys().next().value; }
}

// Rows of a measured step, by rank.
function readTrace(trace) {
  if (!trace) return null;
  const tick = numberOf(trace.tick) || 1e-10;
  const ranks = listOf(trace.ranks).map((rank) => ({rank: numberOf(rank.rank), stage: numberOf(rank.stage ?? -1),
    rows: listOf(rank.rows).map((row) => ({raw: row, stream: numberOf(row.stream), name: textOf(row.name)}))}));
  return {plan: textOf(trace.plan), program: textOf(trace.program), tick, ranks};
}

function measuredRows(trace, plan, program) {
  if (!trace || trace.plan !== plan.name || trace.program !== program.name) return [];
  return trace.ranks.flatMap((rank) => {
    const stage = program.stages.find((one) => one.number === rank.stage);
    return stage ? rank.rows.map((row) => readRow(row.raw, trace.tick, stage, {measured: true, rank: rank.rank, stream: row.stream,
      lane: row.stream === 0 ? "compute" : "collective", label: `rank ${rank.rank}: ${row.name || `stream ${row.stream}`}`})) : [];
  });
}

function readPage(data) {
  return {file: textOf(data.file), plans: listOf(data.plans).map((plan) => new Plan(plan)), compared: data.compared ?? null, trace: readTrace(data.trace)};
}
