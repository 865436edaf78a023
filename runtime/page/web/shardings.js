// Each tensor as a rectangle of blocks in the colours of the mesh coordinates that hold them.

const MOST_BLOCKS = 12, MOST_PICTURES = 60;

// "data" or "x:(2)4" as {name, size, before}: before is the product of the sizes of major parts of the same axis.
function readAxis(plan, text) {
  const part = /^(.*):\((\d+)\)(\d+)$/s.exec(text), name = part ? part[1] : text;
  const whole = numberOf(plan.mesh.find(([axis]) => axis === name)?.[1]);
  return part ? {name, text, before: Number(part[2]), size: Number(part[3])} : {name, text, before: 1, size: whole || 1};
}

// "data=1, model=0" for block `index` of a dimension over `axes`, major to minor.
function coordinatesOf(axes, index) {
  const places = [];
  for (const axis of [...axes].reverse()) {
    places.unshift(`${axis.text}=${index % axis.size}`);
    index = Math.floor(index / axis.size);
  }
  return places;
}

// How many ranks hold each block, and which: those that have its coordinates.
function ranksOf(plan, axes, stage) {
  const sharded = axes.reduce((product, axis) => product * axis.size, 1);
  const all = plan.mesh.reduce((product, [, size]) => product * numberOf(size), 1);
  return Math.max(1, Math.round(all / sharded / (stage >= 0 && plan.stages.length ? plan.stages.length : 1)));
}

class Shardings {
  constructor(page) { this.page = page; this.body = element("div"); }

  show(plan, stages) {
    this.plan = plan;
    const groups = new Map();
    for (const stage of stages)
      for (const [list, tensors] of [["inputs", stage.program.inputs], ["outputs", stage.program.outputs]])
        for (const tensor of listOf(tensors)) this.add(groups, stage, list, tensor);
    this.groups = [...groups.values()];
    const inputs = this.groups.filter((group) => group.list === "inputs").sort((a, b) => b.bytes - a.bytes);
    this.byName = new Map(inputs.flatMap((group) => group.names.map((name) => [name, group])));
    const sharded = inputs.filter((group) => group.isSharded), replicated = inputs.filter((group) => !group.isSharded);
    const search = element("input", {type: "search", placeholder: "a name", "aria-label": "Tensors whose names hold", input: () => fill(search.value)});
    const pictures = element("div", {class: "pictures"}), rest = element("p", {class: "soft"});
    const fill = (text) => {
      const wanted = [...sharded, ...replicated].filter((group) => group.names.some((name) => name.includes(text)) || this.page.wantedTensor === group);
      pictures.replaceChildren(...wanted.slice(0, MOST_PICTURES).map((group) => this.draw(group)));
      rest.textContent = wanted.length > MOST_PICTURES ? `and ${wanted.length - MOST_PICTURES} more; search for their names` : "";
    };
    this.fill = (text) => { search.value = text; fill(text); };
    fill("");
    this.body.replaceChildren(element("div", {class: "bar"}, search, element("span", {class: "soft"},
      `${sharded.reduce((sum, one) => sum + one.names.length, 0)} tensors are sharded, ${replicated.reduce((sum, one) => sum + one.names.length, 0)} whole on every rank${this.plan.mesh.length ? ` of the mesh ${shown(this.plan.mesh.map(([name, size]) => `${name}=${size}`).join(", "), 120)}` : ""}`)), pictures, rest);
  }

  // Tensors of one shape and sharding are one picture.
  add(groups, stage, list, tensor) {
    const name = textOf(tensor.name), where = stage.number < 0 ? "" : `stage ${stage.number}`;
    const key = JSON.stringify([list, tensor.type, tensor.sharding, tensor.owner ?? null, tensor.rows ?? null, where]);
    const group = groups.get(key) ?? {list, tensor, names: [], patterns: new Map(), bytes: 0, where, stage,
      axes: listOf(tensor.sharding).map((axes) => listOf(axes).map((axis) => readAxis(this.plan, textOf(axis)))), isSharded: listOf(tensor.sharding).some((axes) => listOf(axes).length > 0)};
    group.names.push(name);
    const pattern = dotted(name).replace(/\d+/g, "*");
    group.patterns.set(pattern, [...(group.patterns.get(pattern) ?? []), name]);
    group.bytes += numberOf(tensor.bytes);
    groups.set(key, group);
  }

  draw(group) {
    const {tensor} = group, patterns = [...group.patterns], most = 3;
    const titles = patterns.slice(0, most).map(([pattern, names]) => element("b", {class: "cut"}, shown(tailOf(names.length > 1 ? pattern : dotted(names[0]), 34)), names.length > 1 ? element("span", {class: "soft"}, ` \u00d7 ${names.length}`) : null));
    const dims = listOf(tensor.global).map(numberOf), sharded = group.axes.map((axes, dim) => ({dim, axes, blocks: axes.reduce((product, axis) => product * axis.size, 1)})).filter((one) => one.blocks > 1);
    // Two dimensions are seen: those that are sharded first, in their order, the last one across.
    const chosen = [...sharded, ...dims.map((_, dim) => ({dim, axes: [], blocks: 1})).filter((one) => !sharded.some((other) => other.dim === one.dim)).reverse()].slice(0, 2).sort((a, b) => a.dim - b.dim);
    const down = chosen.length > 1 ? chosen[0] : {dim: -1, axes: [], blocks: 1}, across = chosen.length > 1 ? chosen[1] : chosen[0] ?? {dim: -1, axes: [], blocks: 1};
    const holders = ranksOf(this.plan, sharded.flatMap((one) => one.axes), group.stage.number);
    return element("figure", {class: `picture ${this.page.wantedTensor === group ? "chosen" : ""}`, title: shown(group.names.slice(0, 12).join("\n"), 2000).replaceAll("\u240a", "\n")},
      element("figcaption", {}, titles, element("span", {class: "soft"}, patterns.length > most ? `and ${patterns.slice(most).reduce((sum, [, names]) => sum + names.length, 0)} more like it` : "\u00a0")),
      this.blocks(down, across, sharded, holders),
      element("figcaption", {class: "soft"}, element("div", {class: "cut"}, shown(tensor.type, 80)), element("div", {class: "cut"}, group.isSharded ? `a rank holds ${shown(tensor.local, 80)}` : "a rank holds all of it"),
        element("div", {class: "cut"}, `${group.isSharded ? `[${group.axes.map((axes) => axes.map((axis) => shown(axis.text, 40)).join("+") || "\u2013").join(", ")}]` : "whole on every rank"}${group.where ? `, ${group.where}` : ""}, ${bytesText(numberOf(tensor.bytes))}`)));
  }

  blocks(down, across, sharded, holders) {
    const rows = Math.min(down.blocks, MOST_BLOCKS), columns = Math.min(across.blocks, MOST_BLOCKS), width = 200, height = 110;
    const picture = svg("svg", {viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img"});
    const w = width / columns, h = height / rows, total = down.blocks * across.blocks;
    for (let r = 0; r < rows; ++r) for (let c = 0; c < columns; ++c) {
      const isCutRow = rows < down.blocks && r === rows - 1, isCutColumn = columns < across.blocks && c === columns - 1;
      const places = [...coordinatesOf(down.axes, isCutRow ? down.blocks - 1 : r), ...coordinatesOf(across.axes, isCutColumn ? across.blocks - 1 : c)];
      const index = (isCutRow ? down.blocks - 1 : r) * across.blocks + (isCutColumn ? across.blocks - 1 : c);
      const fill = total === 1 && sharded.length === 0 ? color("constant") : `hsl(${Math.round(360 * ((index * 0.618034) % 1) + 210) % 360} 45% ${document.documentElement.dataset.theme === "dark" ? 58 : 42}%)`;
      picture.append(svg("rect", {x: c * w + 0.5, y: r * h + 0.5, width: Math.max(1, w - 1), height: Math.max(1, h - 1), fill},
        svg("title", {}, `${places.join(", ") || "all coordinates"}: ${holders} rank${holders > 1 ? "s" : ""}`)));
      const text = isCutRow || isCutColumn ? "\u2026" : places.join(" ");
      const short = places.map((place) => place.split("=")[1]).join(",");
      const fits = (one) => one.length * 5.6 <= w - 6 && h >= 13;
      const drawn = sharded.length === 0 ? "all ranks" : fits(text) ? text : fits(short) ? short : "";
      if (drawn) picture.append(svg("text", {x: (c + 0.5) * w, y: (r + 0.5) * h + 3.5, "text-anchor": "middle"}, shown(drawn, 60)));
    }
    return picture;
  }

  // Shows the picture of a tensor that is named elsewhere.
  choose(name) {
    const group = this.byName.get(name) ?? this.byName.get([...this.byName.keys()].find((one) => dotted(one) === name));
    if (!group) return false;
    this.page.wantedTensor = group;
    this.fill(group.names[0]);
    return true;
  }

  has(name) { return this.byName.has(name) || [...this.byName.keys()].some((one) => dotted(one) === name); }
  section() { return [this.body]; }
}

// "params.layer0.w" for "params['layer0']['w']", as explanations name tensors.
const dotted = (name) => name.replace(/\[['"]?([^\]'"]*)['"]?\]/g, ".$1").replace(/^\./, "");
