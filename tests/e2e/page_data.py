"""The contents of pages, read as text and by the script of the page itself."""
import json
import re
import shutil
import subprocess

# Runs the page's script without a document: reads the data as the page does, and draws the timeline on a canvas that counts.
NODE = r"""
const fs = require("fs"), vm = require("vm");
const page = fs.readFileSync(process.argv[1], "utf8");
const data = /<script type="application\/json" id="data">([^]*?)<\/script>/.exec(page)[1];
const script = /<script>\n([^]*?)<\/script>/.exec(page)[1];
const run = new vm.Script(script + `
;const context = new Proxy({}, {get: () => () => {}, set: () => true});
for (const name of ["forward", "backward", "weight_gradients", "none", "copy", "message", "on-bar", "panel", "text", ...COLLECTIVES]) colors.set(name, "#000000");
globalThis.seen = (() => {
  const page = readPage(JSON.parse(dataText));
  const plans = page.plans.map((plan) => Object.fromEntries([...plan.programs].map(([name, program]) => {
    const timeline = Object.create(Timeline.prototype);
    Object.assign(timeline, {from: 0, to: program.seconds || 1, way: "phase", drawn: 0, chosen: null, picture: {width: 1200}});
    let bars = 0;
    for (const stage of program.stages) for (const row of stage.rows) { bars += row.size; timeline.drawRow(context, row, 0, 1200); }
    const alive = Math.max(...program.stages.map((stage) => stage.alive().total[stage.alive().peak] ?? plan.data.constant_bytes));
    return [name, {seconds: program.seconds, bars, drawn: timeline.drawn, alive}];
  })));
  return {plans, shown: page.plans[0].data.programs[0].inputs.map((tensor) => shown(tensor.name))};
})();`);
const sandbox = {dataText: data, console};
sandbox.globalThis = sandbox;
run.runInContext(vm.createContext(sandbox));
console.log(JSON.stringify(sandbox.seen));
"""


def read(page):
    """The data of a page."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.S).group(1))


def check_alone(page):
    """Nothing in a page is from elsewhere, it is small but for its data, and no name has left its place."""
    text = page.read_text()
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    rest = text[: data.start(1)] + text[data.end(1):]
    assert len(rest) < 1 << 20, len(rest)
    assert not re.search(r"https?:", rest.replace("http://www.w3.org/2000/svg", "")), re.findall(r".{40}https?:.{40}", rest)
    assert not re.search(r"""<link|\bsrc=|@import|url\(|\bimport\(|\bfetch\(""", rest)
    assert text.count("<script") == 2 and text.count("</script>") == 2 and "<" not in data.group(1)
    assert all(ord(c) >= 32 or c == "\n" for c in text), "a control character"


def most_alive(buffers, count):
    """The largest sum of bytes that are alive at an instruction, of the device."""
    changes = [0] * (count + 1)
    for size, first, last, space in zip(*(buffers.get(name, []) for name in ("bytes", "first", "last", "spaces")), strict=True):
        if space != "host":
            changes[first] += size
            changes[last + 1] -= size
    most = alive = 0
    for change in changes[:count]:
        alive += change
        most = max(most, alive)
    return most


def in_node(page):
    """Sums that the page's own script makes of its data; None where there is no node."""
    node = shutil.which("node")
    if not node:
        return None
    result = subprocess.run([node, "-e", NODE, str(page)], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr[-3000:]
    return json.loads(result.stdout)
