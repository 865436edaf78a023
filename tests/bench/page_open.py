"""Time in which headless Chromium opens a page of sgd-inspect --html: from the start of the navigation until the timeline is drawn.

    page_open.py PAGE.html [--events N] [--rounds R]

With --events the rows of the first program's timeline are repeated until they have N bars. The page notes when it has drawn (data-ready, ms), and how many bars that were.
"""
import argparse
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time


def repeat(text, events):
    """The page with N bars in the timeline of the first program of the first plan."""
    found = re.search(r'(<script type="application/json" id="data">)(.*?)(</script>)', text, re.S)
    data = json.loads(found.group(2))
    step = data["plans"][0]["records"]["steps"][0]
    rows = [row for stage in step["stages"] for row in stage["rows"]]
    times = -(-events // sum(len(row["length"]) for row in rows))
    for row in rows:
        end = sum(row["gap"]) + sum(row["length"])
        between = step["ticks"] - end
        for key in ("length", "instruction", "part", "count"):
            if key in row:
                row[key] = row[key] * times
        row["gap"] = row["gap"] + [row["gap"][0] + between, *row["gap"][1:]] * (times - 1)
    step["ticks"] *= times
    print(f"{sum(len(row['length']) for row in rows)} bars in {len(rows)} rows")
    return text[: found.start(2)] + json.dumps(data, separators=(",", ":")).replace("<", "\\u003c") + text[found.end(2):]


def open_page(browser, page):
    """Milliseconds that the page says, bars that it has drawn, and seconds of the whole browser."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as profile:
        result = subprocess.run([browser, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--window-size=1500,1200", "--timeout=20000", "--dump-dom", page.as_uri()],
                                capture_output=True, text=True, timeout=120)
    found = re.search(r'data-ready="(\d+)" data-drawn="(\d+)"', result.stdout)
    if not found:
        raise SystemExit(f"the page was not drawn: {result.stdout[:300]}{result.stderr[-500:]}")
    return int(found.group(1)), int(found.group(2)), time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--events", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    browser = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
    if not browser:
        raise SystemExit("no Chromium; install the package chromium")
    with tempfile.TemporaryDirectory() as folder:
        page = args.page.resolve()
        if args.events:
            page = pathlib.Path(folder) / "page.html"
            page.write_text(repeat(args.page.read_text(), args.events))
        print(f"{page.stat().st_size / 1e6:.1f} MB")
        rounds = [open_page(browser, page) for _ in range(args.rounds)]
    print(f"drawn after {min(ready for ready, _, _ in rounds)} ms at best, {statistics.median(ready for ready, _, _ in rounds)} ms in the median of {args.rounds}; {rounds[0][1]} bars drawn, "
          f"{min(seconds for _, _, seconds in rounds):.1f} s of the whole browser")


if __name__ == "__main__":
    main()
