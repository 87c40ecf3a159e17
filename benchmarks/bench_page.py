"""What a first visit costs: bytes over the line, and when the first content is seen.

Run with ``python benchmarks/bench_page.py [--json]``. Chromium at a quarter of this machine's speed
(4x CPU slow-down) opens the chat page of the real server on loopback, with nothing cached. The
baseline is a page with the whole of govuk-frontend (style sheet, script, two typefaces, gzip) in
the same browser. Figures are medians on the machine at hand; compare the ratios.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import statistics
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, CDPSession, Route

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
ROUNDS = 7
SLOW_DOWN = 4
GOVUK = ROOT / "node_modules" / "govuk-frontend" / "dist" / "govuk"
FONTS = sorted(GOVUK.glob("assets/fonts/*.woff2"))
PAGE = """<!doctype html><html lang="en"><head><title>Baseline</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="/baseline/govuk-frontend.min.css">
<script src="/baseline/govuk-frontend.min.js" type="module"></script></head>
<body class="govuk-template__body"><h1 class="govuk-heading-l">Ask</h1>
<p class="govuk-body">A <strong>question</strong>.</p></body></html>"""
FIRST = """() => new Promise((found) => {
  const look = () => {
    const [paint] = performance.getEntriesByName("first-contentful-paint");
    if (paint) found(paint.startTime); else setTimeout(look, 20);
  };
  look();
})"""


@dataclass
class Visit:
    """Bytes over the line by kind and in all; milliseconds to the first content."""

    kinds: dict[str, int]
    total: int
    first_content: float


def main() -> None:
    """Serve the site on SQLite in one process, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    if shutil.which("chromium") is None:
        print("skipped: Chromium is not installed (Debian: apt-get install chromium)")
        return
    for name in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    os.environ["DJANGO_SETTINGS_MODULE"] = "ieim.config.settings"
    import django

    django.setup()
    from tests.live import served

    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as base_url:
        ours, baseline = measure(base_url)
    if options.json:
        print(json.dumps({"ours": asdict(ours), "baseline": asdict(baseline)}, indent=2))
        return
    print(f"A first visit, nothing cached, {SLOW_DOWN}x CPU slow-down, medians of {ROUNDS}:")
    for kind, size in ours.kinds.items():
        print(f"  {kind:<16} {size / 1024:>7.1f} KB")
    weight, other = ours.total / 1024, baseline.total / 1024
    print(f"  {'total':<16} {weight:>7.1f} KB   x {weight / other:.2f} of {other:.0f}")
    first, other = ours.first_content, baseline.first_content
    print(f"  {'first content':<16} {first:>7.0f} ms   x {first / other:.2f} of {other:.0f}")


def measure(base_url: str) -> tuple[Visit, Visit]:
    """Return the figures of the chat page and of the baseline: bytes by kind, and milliseconds."""
    from playwright.sync_api import sync_playwright

    from tests.conftest import CHROMIUM_FLAGS

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(CHROMIUM_FLAGS)
        )
        ours = _visit(browser, f"{base_url}/")
        baseline = _visit(browser, f"{base_url}/baseline/")
        browser.close()
    text = [_file("css"), _file("js"), PAGE.encode()]
    baseline.total = sum(len(gzip.compress(entry)) for entry in text)
    baseline.total += sum(font.stat().st_size for font in FONTS)
    return ours, baseline


def _visit(browser: Browser, url: str) -> Visit:
    first: list[float] = []
    weights: Counter[str] = Counter()
    for number in range(ROUNDS + 1):
        context = browser.new_context(viewport={"width": 390, "height": 844})
        context.route("**/baseline/**", _baseline)
        page = context.new_page()
        line = context.new_cdp_session(page)
        line.send("Emulation.setCPUThrottlingRate", {"rate": SLOW_DOWN})
        line.send("Network.enable")
        if number == 0:
            _weigh(line, weights)
        page.goto(url, wait_until="networkidle")
        first.append(page.evaluate(FIRST))
        context.close()
    # The first round warms up the server and the browser.
    return Visit(dict(weights.most_common()), sum(weights.values()), statistics.median(first[1:]))


def _weigh(line: CDPSession, weights: Counter[str]) -> None:
    kinds: dict[str, str] = {}

    def ended(event: dict[str, Any]) -> None:
        weights[kinds.get(event["requestId"], "Other")] += int(event["encodedDataLength"])

    line.on("Network.responseReceived", lambda e: kinds.update({e["requestId"]: e["type"]}))
    line.on("Network.loadingFinished", ended)


def _baseline(route: Route) -> None:
    name = route.request.url.rpartition("/baseline/")[2]
    if not name:
        route.fulfill(body=PAGE, content_type="text/html")
    elif name.startswith("assets/") or name == "favicon.ico":
        route.fulfill(path=GOVUK / name)
    else:
        kind = name.rpartition(".")[2]
        body = _file(kind).replace(b"/assets/", b"/baseline/assets/")
        route.fulfill(body=body, content_type={"css": "text/css"}.get(kind, "text/javascript"))


def _file(kind: str) -> bytes:
    return (GOVUK / f"govuk-frontend.min.{kind}").read_bytes()


if __name__ == "__main__":
    main()
