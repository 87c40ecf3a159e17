"""How fast a citizen sees something: the chat page in Chromium, against the real server.

Run with ``python benchmarks/chat.py [--json]``. From the press of the button to the first step on
the page, and to the whole answer of the offline engine. The baseline is loading a static page of
the same server in the same browser. Figures are medians on the machine at hand; compare the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
ROUNDS = 7

WATCH = """
() => {
  const start = performance.now();
  window.times = {};
  const look = () => {
    const now = performance.now() - start;
    if (document.querySelector(".outcome[data-pending] .steps__item--running")) times.step ??= now;
    if (document.querySelector(".turn:last-of-type .answer__why")) times.answer ??= now;
  };
  new MutationObserver(look).observe(document.getElementById("chat"), {
    childList: true, subtree: true,
  });
}
"""


def measure(base_url: str) -> dict[str, float]:
    """Return median milliseconds: ``step``, ``answer`` and ``page`` (the baseline)."""
    from playwright.sync_api import sync_playwright

    from tests.browser.steps import VISA, ask, connected, expect_answer
    from tests.conftest import CHROMIUM_FLAGS

    times: dict[str, list[float]] = {"step": [], "answer": [], "page": []}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(CHROMIUM_FLAGS)
        )
        for _ in range(ROUNDS + 1):
            context = browser.new_context(base_url=base_url)
            page = context.new_page()
            started = time.perf_counter()
            page.goto("/help/")
            times["page"].append((time.perf_counter() - started) * 1000)
            page.goto("/")
            connected(page)
            page.evaluate(WATCH)
            ask(page, VISA)
            expect_answer(page)
            for name, value in page.evaluate("times").items():
                times[name].append(value)
            context.close()
        browser.close()
    # The first round warms up the server and the browser.
    return {name: statistics.median(values[1:]) for name, values in times.items()}


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
        figures = measure(base_url)
    if options.json:
        print(json.dumps({f"{name}_ms": value for name, value in figures.items()}, indent=2))
        return
    print(f"The chat page, one process on SQLite, offline engine, medians of {ROUNDS}:")
    for name, what in (("step", "first step shown"), ("answer", "whole answer shown")):
        ratio = figures[name] / figures["page"]
        print(f"  {what:<20} {figures[name]:>6.0f} ms   x {ratio:.1f} of loading a static page")
    print(f"  {'static page':<20} {figures['page']:>6.0f} ms")


if __name__ == "__main__":
    main()
