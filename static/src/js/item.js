// What the item page does beyond plain forms: it takes selected words of the message into a field,
// and listens to a few keys. Everything works without it, too.

const page = document.querySelector(".item, .preview");
const form = document.querySelector("#decide-form, #confirm-form");
const go = document.querySelector("[data-go]");
const message = document.getElementById("message");
const shortcuts = document.getElementById("shortcuts");

document.documentElement.classList.add("item-live");
for (const hidden of document.querySelectorAll("[data-live]")) hidden.hidden = false;

// ---- the first focus: where the work begins, as long as that scrolls nothing

function begin() {
  const problems = document.querySelector(".govuk-error-summary");
  const first = document.querySelector("[name=action]:checked, [data-first]");
  if (problems) problems.focus();
  if (problems || first === null || document.activeElement !== document.body) return;
  const { top, bottom } = first.getBoundingClientRect();
  if (top >= 0 && bottom <= innerHeight) first.focus({ preventScroll: true });
}

// ---- words of the message

let quote = null; // the field that takes words
let selected = ""; // what was selected last

function words() {
  const selection = getSelection();
  if (message === null || selection.isCollapsed || selection.rangeCount === 0) return "";
  const range = selection.getRangeAt(0);
  if (!message.contains(range.commonAncestorContainer)) return "";
  const part = range.cloneContents();
  for (const number of part.querySelectorAll("[data-skip]")) number.remove();
  return part.textContent.trim();
}

function take(field) {
  const found = words() || selected;
  if (!found || !field) return;
  field.value = found;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.focus({ preventScroll: true });
}

document.addEventListener("selectionchange", () => {
  selected = words() || selected;
});

for (const field of document.querySelectorAll("[data-quote]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "app-button-link row__take";
  button.textContent = page.dataset.take;
  // The selection must survive the press.
  button.addEventListener("mousedown", (event) => event.preventDefault());
  button.addEventListener("click", () => take(field));
  field.after(button);
  field.addEventListener("focus", () => (quote = field));
}

// ---- help lines, into what is being written

for (const button of document.querySelectorAll("[data-put]")) {
  button.addEventListener("click", () => {
    const field = document.getElementById(button.dataset.put);
    const before = field.value.trimEnd();
    field.value = before ? `${before}\n\n${button.dataset.words}` : button.dataset.words;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.focus();
  });
}

// ---- keys

// An action by its number, then Enter: the whole of a usual decision.
function choose(number) {
  const radio = form?.querySelector(`[data-key="${number}"]`);
  if (!radio) return false;
  radio.checked = true;
  radio.dispatchEvent(new Event("change", { bubbles: true }));
  radio.focus({ preventScroll: true });
  radio.closest(".choice").scrollIntoView({ block: "nearest" });
  return true;
}

const plain = ({ altKey, ctrlKey, metaKey, shiftKey }) => !(altKey || ctrlKey || metaKey || shiftKey);
// What the page has chosen is no decision yet, but that one agrees with what a colleague has decided.
let isChosen = Boolean(form?.querySelector('[name=action][value="agree"]:checked'));
form?.addEventListener("change", () => (isChosen = true));
const confirms = (element) =>
  isChosen && (element === document.body || element.matches("[name=action], .chip__radio"));

const typing = (element) => element.matches("textarea, select, input:not([type=radio], [type=checkbox])");

// A key that was pressed for the page before must not decide on this one, which nobody has read.
const READ_AFTER = 700; // milliseconds
const shownAt = performance.now();

function press(event) {
  const { key, altKey, ctrlKey, metaKey, target } = event;
  const isRead = !event.repeat && performance.now() - shownAt > READ_AFTER;
  if (key === "Enter" && (ctrlKey || metaKey)) {
    if (go && form && isRead) form.requestSubmit(go);
  } else if (key === "Enter" && target.matches("input") && typing(target) && form?.contains(target)) {
    // Only looks for services: sending the whole form takes a button.
    target.dispatchEvent(new Event("search", { bubbles: true }));
  } else if (key === "Enter" && plain(event) && confirms(target)) {
    if (go && !go.hidden && form && isRead) form.requestSubmit(go);
  } else if (/^[1-9]$/.test(key) && plain(event) && !typing(target)) {
    if (!choose(key)) return;
  } else if (altKey && key.toLowerCase() === "w") {
    take(quote);
  } else if (altKey && key.toLowerCase() === "c") {
    document.querySelector("[data-first]")?.focus();
  } else if (key === "?" && !typing(target)) {
    shortcuts.showModal();
  } else {
    return;
  }
  event.preventDefault();
}

document.addEventListener("keydown", press);
shortcuts?.querySelector("button").addEventListener("click", () => shortcuts.close());
for (const opener of document.querySelectorAll("[data-shortcuts]")) {
  opener.addEventListener("click", () => shortcuts.showModal());
}

// ---- a decision that can be taken back until it takes effect; then its own page shows what it did

for (const waiting of document.querySelectorAll("[data-until]")) {
  const left = Math.max(0, 1000 * Number(waiting.dataset.until) - Date.now());
  if (waiting === page) setTimeout(() => location.reload(), left + 2_000);
  // Its place stays: nothing else may come under the hand that wanted to press it.
  else setTimeout(() => (waiting.querySelector(".just__undo").style.visibility = "hidden"), left);
}

let sent = false;
page?.addEventListener("submit", (event) => {
  // A second press while the first is under way would find a changed item.
  if (sent) event.preventDefault();
  sent = true;
});
addEventListener("pageshow", () => (sent = false));

begin();
