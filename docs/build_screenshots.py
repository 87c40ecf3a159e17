"""Take the README's pictures: ``python docs/build_screenshots.py`` (needs Chromium)."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))


def take(base_url: str, folder: Path) -> None:
    """Ask the demo's first question in Chromium and picture the page."""
    from playwright.sync_api import sync_playwright

    from tests.browser.steps import VISA, ask, connected, expect_answer
    from tests.conftest import CHROMIUM_FLAGS

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=list(CHROMIUM_FLAGS)
        )
        context = browser.new_context(
            base_url=base_url, viewport={"width": 900, "height": 1060}, reduced_motion="reduce"
        )
        page = context.new_page()
        page.goto("/")
        connected(page)
        ask(page, VISA)
        expect_answer(page)
        page.locator("#question").blur()
        page.evaluate("window.scrollTo(0, 0)")
        page.screenshot(path=folder / "chat.png")
        browser.close()


def main() -> None:
    """Serve the demo knowledge on SQLite and picture it."""
    if shutil.which("chromium") is None:
        sys.exit("Chromium is needed (Debian: apt-get install chromium).")
    for name in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    os.environ["DJANGO_SETTINGS_MODULE"] = "ieim.config.settings"
    import django

    django.setup()
    from tests.live import served

    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as base_url:
        take(base_url, ROOT / "docs" / "images")


if __name__ == "__main__":
    main()
