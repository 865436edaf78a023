// Differences from another artifact.

class Comparison {
  constructor(page) { this.page = page; this.body = element("div"); }

  show(compared, plan) {
    const pair = listOf(compared.plans).find((one) => one.before === plan.name);
    if (!pair) return this.body.replaceChildren(element("p", {}, "The other artifact has no plan of this name."));
    const value = (unit, number) => unit === "bytes" ? bytesText(number) : unit === "seconds" ? secondsText(number) : countText(number);
    const numbers = listOf(pair.numbers).filter((one) => one.before || one.after);
    const change = (one) => {
      if (one.before === one.after) return element("span", {class: "soft"}, "the same");
      const share = one.before ? one.after / one.before - 1 : 0;
      const isGood = one.after < one.before, isSmall = one.before && Math.abs(share) < 0.0005;
      if (isSmall || one.name.startsWith("lower bound")) return element("span", {class: "soft"}, isSmall ? "about the same" : `${share < 0 ? MINUS : "+"}${(100 * Math.abs(share)).toFixed(1)} %`);
      return element("span", {class: one.name === "ranks" ? "" : isGood ? "better" : "worse"}, one.before ? `${share < 0 ? MINUS : "+"}${(100 * Math.abs(share)).toFixed(1)} %` : "new");
    };
    const side = (one, key) => one[key] === null || one[key] === undefined ? element("span", {class: "soft"}, "none") : typeof one[key] === "number" ? bytesText(one[key]) : shown(one[key], 200);
    const changes = (rows, columns) => rows.length === 0 ? element("p", {class: "soft"}, "The same in both.") : table([
      {name: "Change", value: (one) => textOf(one.change), cell: (one) => element("span", {class: one.change === "removed" ? "better" : one.change === "added" ? "worse" : ""}, shown(one.change, 20))},
      {name: "Program", value: (one) => textOf(one.program), cell: (one) => shown(one.program, 60)}, ...columns,
      {name: "Before", cell: (one) => side(one, "before")}, {name: "After", cell: (one) => side(one, "after")}], rows, {most: 300});
    this.body.replaceChildren(
      element("p", {}, `Before is ${shown(this.page.data.file, 120)}, after is ${shown(compared.file, 120)}; per rank and step.`),
      table([{name: "Number", cell: (one) => shown(one.name, 60)}, {name: "Before", number: true, cell: (one) => value(one.unit, numberOf(one.before))},
        {name: "After", number: true, cell: (one) => value(one.unit, numberOf(one.after))}, {name: "Change", number: true, cell: change}], numbers),
      element("h3", {}, "Collectives and messages"), changes(listOf(pair.collectives), [
        {name: "Collective", value: (one) => textOf(one.op), cell: (one) => `${shown(one.op, 40)}${one.axes ? ` over ${shown(one.axes, 60)}` : ""}`},
        {name: "Tensor", value: (one) => textOf(one.name), cell: (one) => cutText(textOf(one.name))}]),
      element("h3", {}, "Shardings"), changes(listOf(pair.shardings), [{name: "Tensor", value: (one) => textOf(one.name), cell: (one) => [cutText(textOf(one.name)), one.list === "outputs" ? element("span", {class: "soft"}, " (output)") : null]}]));
  }

  section() { return [this.body]; }
}
