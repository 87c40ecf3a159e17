// What the queue adds to plain forms and links: shortcuts, choosing, and leaving for the login page
// when the session has ended. Every step works without this file too.

import { shortcuts } from "./keys.js";

const all = document.querySelector("[data-choose-all]");
const chosen = document.getElementById("chosen");
const ticks = [...document.querySelectorAll('.queue-row input[name="item"]')];
const rows = [...document.querySelectorAll(".queue-row")];
const link = (row) => row.querySelector(".queue-row__link");
const current = () => document.activeElement?.closest(".queue-row") ?? null;

// ---- shortcuts

function move(step) {
  const at = rows.indexOf(current());
  const next = at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step;
  const row = rows[Math.min(Math.max(next, 0), rows.length - 1)];
  if (!row) return;
  link(row).focus();
  row.scrollIntoView({ block: "nearest" });
}

// By place on the keyboard: with Alt a letter may come as another character.
const SHORTCUTS = {
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  KeyC: () => current()?.querySelector("[data-claim]")?.click(),
  KeyX: () => current()?.querySelector('input[name="item"]')?.click(),
};

shortcuts(SHORTCUTS);

// ---- opening an item for work claims it

for (const row of rows) {
  link(row).addEventListener("click", (event) => {
    const claim = row.querySelector("[data-claim]");
    const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0;
    if (!claim || elsewhere) return;
    event.preventDefault();
    claim.click();
  });
}

// ---- choosing several

function count() {
  const number = ticks.filter((tick) => tick.checked).length;
  document.getElementById("queue").classList.toggle("queue--choosing", number > 0);
  chosen.textContent = number ? chosen.dataset.words.replace("{number}", number) : "";
  all.textContent = number === ticks.length ? all.dataset.none : all.dataset.all;
}

if (all) {
  all.hidden = false;
  document.getElementById("queue").classList.add("queue--live");
  all.addEventListener("click", () => {
    const every = ticks.every((tick) => tick.checked);
    for (const tick of ticks) tick.checked = !every;
    count();
  });
  for (const tick of ticks) tick.addEventListener("change", count);
  count();
}
