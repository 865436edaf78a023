// The page: what is chosen, and its sections.

const SECTIONS = [
  ["summary", "Summary", ""],
  ["timeline", "Timeline", "A step as the cost model predicts it, by the clock of sgdc --report and sgd-sim. One rank of each stage stands for all of them."],
  ["memory", "Memory", "What a rank has in memory over the step. Allocated is the peak of the report: the arenas of the plan and constants, whether or not all of it is in use at one time."],
  ["collectives", "Collectives", "What a rank sends in a step and why, the same tensors of all layers together, as sgdc --explain prints it."],
  ["roofline", "Roofline", ""],
  ["shardings", "Shardings", "Arguments of the program as blocks, each in the colour of the mesh coordinates that hold it. Grey tensors are whole on every rank."],
  ["comparison", "Comparison", ""],
];

class Page {
  constructor(data, started) {
    this.data = data;
    this.started = started;
    this.plan = data.plans[0];
    this.program = this.plan.programs.get(this.plan.firstProgram);
    this.stage = -1;
    this.parts = {timeline: new Timeline(this), memory: new Memory(this), collectives: new Collectives(this), roofline: new Roofline(this), shardings: new Shardings(this)};
    if (data.compared) this.parts.comparison = new Comparison(this);
    this.timeline = this.parts.timeline;
    this.summary = element("div", {class: "tiles"});
    document.title = `${shown(data.file, 80)} \u2013 sgd artifact`;
    const title = document.getElementById("title");
    title.textContent = shown(data.file, 120);
    title.title = shown(data.file, 1000);
    document.getElementById("theme").addEventListener("click", () => this.setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
    this.build();
    this.fill();
  }

  build() {
    const main = document.getElementById("main"), nav = document.getElementById("nav");
    for (const [name, heading, about] of SECTIONS) {
      const part = this.parts[name];
      if (!part && name !== "summary") continue;
      main.append(element("section", {id: name, "aria-labelledby": `${name}-head`}, element("h2", {id: `${name}-head`}, heading), about ? element("p", {}, about) : null, part ? part.section() : this.summary));
      nav.append(element("a", {href: `#${name}`}, heading));
    }
  }

  select(name, entries, chosen, choose) {
    return element("label", {}, `${name} `, element("select", {change: (event) => choose(event.target.value)},
      entries.map(([value, text]) => element("option", {value, selected: value === chosen}, shown(text, 80)))));
  }

  fillChoices() {
    const choices = [];
    if (this.data.plans.length > 1) choices.push(this.select("plan", this.data.plans.map((plan, i) => [String(i), plan.name]), String(this.data.plans.indexOf(this.plan)), (value) => this.choosePlan(Number(value))));
    if (this.plan.programs.size > 1) choices.push(this.select("program", [...this.plan.programs.keys()].map((name) => [name, name]), this.program.name, (value) => this.chooseProgram(value)));
    if (this.program.stages.length > 1) choices.push(this.select("stages", [["-1", "all"], ...this.program.stages.map((stage) => [String(stage.number), stage.label])], String(this.stage), (value) => { this.stage = Number(value); this.fill(); }));
    document.getElementById("choices").replaceChildren(...choices);
  }

  choosePlan(index) {
    this.plan = this.data.plans[index];
    this.chooseProgram(this.plan.firstProgram);
  }

  chooseProgram(name) {
    this.program = this.plan.programs.get(name);
    this.stage = -1;
    this.fill();
  }

  fill() {
    const {plan, program} = this;
    this.fillChoices();
    const stages = this.stage < 0 ? program.stages : program.stages.filter((stage) => stage.number === this.stage);
    const measured = measuredRows(this.data.trace, plan, program);
    this.wantedTensor = null;
    document.querySelectorAll(".damaged").forEach((note) => note.remove());
    this.attempt("summary", () => this.fillSummary());
    this.attempt("timeline", () => { this.timeline.show(program, stages, measured); this.timeline.fillLegend(); this.timeline.picture.draw(); });
    // Sections below come with the next frame.
    requestAnimationFrame(() => {
      this.attempt("memory", () => this.parts.memory.show(program, program.stages, this.stage < 0 ? null : stages[0]));
      this.attempt("shardings", () => this.parts.shardings.show(plan, stages));
      this.attempt("collectives", () => this.parts.collectives.show(plan, program));
      this.attempt("roofline", () => this.parts.roofline.show(plan, stages, measured));
      if (this.parts.comparison) this.attempt("comparison", () => this.parts.comparison.show(this.data.compared, plan));
    });
  }

  // A section whose data is not what sgdc writes says so, and others are shown.
  attempt(name, act) {
    try {
      act();
    } catch (error) {
      console.error(error);
      const section = document.getElementById(name);
      section.append(element("p", {class: "worse damaged"}, `The artifact's data for this section is not as sgdc writes it (${shown(error.message, 200)}).`));
    }
  }

  fillSummary() {
    const {plan, program} = this, report = plan.report, isReported = report.program === program.name;
    const stages = program.stages, largest = (value) => Math.max(0, ...stages.map(value));
    const bound = numberOf(report.lower_bound?.bytes), sent = isReported ? numberOf(report.sent_bytes) : largest((stage) => stage.sentBytes);
    const exposed = largest((stage) => stage.waits.exposed);
    const tiles = [
      [secondsText(program.seconds), "predicted step"],
      [secondsText(exposed), "of it, waiting for collectives"],
      program.stages.length > 1 ? [percentText(program.bubble), "bubble: stages wait for each other"] : null,
      [bytesText(sent), `sent by a rank${isReported && bound ? `; lower bound ${bytesText(bound)}` : ""}`],
      [bytesText(largest((stage) => stage.allocated)), "peak memory of a rank"],
      [`${countText(largest((stage) => numberOf(stage.program.flops)))}flops`, "computed by a rank"],
      [String(numberOf(plan.data.ranks)), `ranks${plan.mesh.length ? `: ${shown(plan.mesh.map(([name, size]) => `${name}=${size}`).join(", "), 80)}` : ""}`],
      [shown(plan.data.target, 30), `target, ${shown(plan.data.compiler_version, 40)}`],
      isReported && report.loss ? [shown(report.loss, 40), "loss"] : null,
    ];
    this.summary.replaceChildren(...tiles.filter(Boolean).map(([value, about]) => element("div", {class: "tile"}, element("b", {}, value), element("span", {}, about))));
  }

  // A name that leads to the tensor's sharding, where there is one.
  tensorLink(name, text) {
    if (!name || !this.parts.shardings.byName || !this.parts.shardings.has(name)) return cutText(text);
    return element("a", {class: "cut", href: "#shardings", title: shown(text, 1000), click: () => this.parts.shardings.choose(name)}, shown(text));
  }

  // Where an instruction leads to: the reasons of a collective.
  linksOf(stage, instruction) {
    const groups = this.parts.collectives.groups ? this.parts.collectives.groupsOf(stage, instruction) : [];
    if (groups.length === 0) return "";
    return element("p", {}, "for ", groups.slice(0, 6).flatMap((group, i) => [i ? ", " : "", this.tensorLink(this.parts.collectives.parameterOf(group), textOf(group.name))]), groups.length > 6 ? ` and ${groups.length - 6} more` : "",
      `: ${shown(groups[0].cause, 200)}`);
  }

  setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem("sgd-theme", theme); } catch { /* pages of files may have no storage */ }
    forgetColors();
    this.fill();
  }

  // Called when the timeline is drawn: the first time the page is ready.
  isDrawn() {
    if (document.documentElement.dataset.ready) return;
    document.documentElement.dataset.ready = String(Math.round(performance.now()));
    document.documentElement.dataset.drawn = String(this.timeline.drawn);
  }
}

function openPage() {
  const root = document.documentElement;
  let theme = null;
  try { theme = localStorage.getItem("sgd-theme"); } catch { /* likewise */ }
  root.dataset.theme = theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const data = readPage(JSON.parse(document.getElementById("data").textContent));
  window.sgdPage = new Page(data);
}

if (typeof document !== "undefined") openPage();
