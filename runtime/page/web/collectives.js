// Bytes that are sent, and why: the groups of tensors that sgdc --explain prints, with the collectives behind each.

class Collectives {
  constructor(page) { this.page = page; this.body = element("div"); }

  show(plan, program) {
    const groups = plan.groups.filter((group) => group.program === program.name);
    const sum = (key) => groups.reduce((total, group) => total + numberOf(group[key]), 0);
    const hasBound = groups.some((group) => numberOf(group.needed_bytes) > 0);
    const columns = [
      {name: "Tensor", value: (row) => textOf(row.name), cell: (row) => [this.page.tensorLink(this.parameterOf(row), textOf(row.name) || "a value without a name"), row.tensors > 1 ? element("span", {class: "soft"}, ` \u00d7 ${row.tensors}`) : null]},
      {name: "Collective", value: (row) => textOf(row.op), cell: (row) => [element("i", {style: `display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:6px;background:${color(row.op === "send" ? "message" : row.op)}`}), shown(row.op, 40), listOf(row.axes).length ? element("span", {class: "soft"}, ` over ${shown(row.axes.join(", "), 60)}`) : null]},
      {name: "Bytes", number: true, value: (row) => numberOf(row.bytes), cell: (row) => bytesText(numberOf(row.bytes))},
      {name: "Time", number: true, value: (row) => numberOf(row.seconds), cell: (row) => secondsText(numberOf(row.seconds))},
      {name: "Lower bound", number: true, value: (row) => numberOf(row.needed_bytes), cell: (row) => hasBound ? bytesText(numberOf(row.needed_bytes)) : "not known"},
      {name: "Cause", cell: (row) => shown(row.cause, 300)},
      {name: "To change it", cell: (row) => shown(row.advice, 300)},
      {name: "Source", value: (row) => textOf(listOf(row.locs)[0]), cell: (row) => [cutText(textOf(listOf(row.locs)[0]), "mono"), listOf(row.locs).length > 1 ? element("span", {class: "soft"}, ` and ${row.locs.length - 1} more`) : null]},
    ];
    this.detail = element("div", {class: "detail soft"}, "Choose a row for its collectives one by one; the timeline goes to the first of them.");
    const choose = (row, line) => {
      line.parentNode.querySelectorAll("tr.chosen").forEach((other) => other.classList.remove("chosen"));
      line.classList.add("chosen");
      this.showRecords(plan, program, row);
    };
    this.body.replaceChildren(...(groups.length === 0 ? [element("p", {}, "No rank sends anything in this program.")] : [
      element("p", {}, `${bytesText(sum("bytes"))} in ${groups.length} groups of tensors, ${secondsText(sum("seconds"))} on links${hasBound ? `; no program with these shardings sends less than ${bytesText(numberOf(plan.report.lower_bound?.bytes))}` : ""}.`),
      table(columns, groups, {choose}), this.detail]));
    this.groups = groups;
  }

  // The parameter or input that a tensor's name is about.
  parameterOf(row) {
    return textOf(listOf(row.names)[0]).replace(/^(gradient of|new|activations for the gradient of|input) /, "");
  }

  showRecords(plan, program, row) {
    const records = listOf(row.records).map((at) => plan.explanation[at]).filter(Boolean);
    this.detail.classList.remove("soft");
    this.detail.replaceChildren(table([
      {name: "Tensor", value: (one) => textOf(one.subject), cell: (one) => cutText(textOf(one.subject) || textOf(one.why))},
      {name: "Scope", value: (one) => textOf(one.scope), cell: (one) => cutText(textOf(one.scope))},
      {name: "From", cell: (one) => cutText(textOf(one.from), "mono")},
      {name: "To", cell: (one) => cutText(textOf(one.to), "mono")},
      {name: "Step", cell: (one) => cutText(textOf(one.steps))},
      {name: "Why", cell: (one) => cutText(textOf(one.why))},
      {name: "Instead", cell: (one) => cutText(listOf(one.alternatives).map((other) => `${textOf(other.name)}: ${other.why || `${bytesText(numberOf(other.bytes))}, ${secondsText(numberOf(other.seconds))}`}`).join("; "))},
      {name: "Source", value: (one) => textOf(one.loc), cell: (one) => cutText(textOf(one.loc), "mono")},
      {name: "Timeline", cell: (one) => this.barButton(program, one)},
    ], records, {most: 100}));
    const first = records.map((one) => this.placeOf(program, one)).find(Boolean);
    if (first) this.page.timeline.chooseInstruction(...first);
  }

  // The stage and instruction of a record's collective; of a message the one from its line.
  placeOf(program, record) {
    for (const stage of program.stages) {
      const instruction = stage.collectives.get(record.collective);
      if (record.collective > 0 && instruction !== undefined) return [stage, instruction];
      if (record.op !== "send" || !textOf(record.why).includes(`of stage ${stage.number}`)) continue;
      for (let i = 0; i < stage.size; ++i) if (stage.op(i) === "send" && stage.loc(i) === record.loc) return [stage, i];
    }
    return null;
  }

  barButton(program, record) {
    const place = this.placeOf(program, record);
    return place ? element("button", {type: "button", click: () => { this.page.timeline.chooseInstruction(...place); document.getElementById("timeline").scrollIntoView(); }}, "show") : "";
  }

  // The groups that an instruction is for.
  groupsOf(stage, instruction) {
    const numbers = new Set([...stage.collectives].filter(([, at]) => at === instruction).map(([number]) => number));
    return this.groups.filter((group) => listOf(group.records).some((at) => numbers.has(stage.plan.explanation[at]?.collective)));
  }

  section() { return [this.body]; }
}
