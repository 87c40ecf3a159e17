// What the item page does beyond plain forms: it keeps the claim while it is open, takes selected
// words of the message into a field, and listens to a few keys. Everything works without it, too.

const RENEW_EVERY = 60_000;

const page = document.querySelector(".item, .preview");
const form = document.querySelector("#decide-form, #confirm-form");
const go = document.querySelector("[data-go]");
const message = document.getElementById("message");
const shortcuts = document.getElementById("shortcuts");
const claim = document.getElementById("claim");

document.documentElement.classList.add("item-live");
for (const hidden of document.querySelectorAll("[data-live]")) hidden.hidden = false;

// ---- the first focus: where the work begins, as long as that scrolls nothing

function begin() {
  const problems = document.querySelector(".govuk-error-summary");
  const first = document.querySelector("[data-first]");
  if (problems) problems.focus();
  if (problems || first === null || document.activeElement !== document.body) return;
  const { top, bottom } = first.getBoundingClientRect();
  if (top >= 0 && bottom <= innerHeight) first.focus({ preventScroll: true });
}

// ---- the claim

let lost = false;

function lose(words) {
  lost = true;
  claim.classList.add("claim--lost");
  claim.textContent = `${words} What you have typed is still here: copy what you need.`;
}

async function renew() {
  if (lost || document.visibilityState !== "visible") return;
  const token = form.querySelector("[name=csrfmiddlewaretoken]").value;
  const headers = { "X-CSRFToken": token, "HX-Request": "true" };
  let answer;
  try {
    answer = await fetch(form.dataset.renew, { method: "POST", headers, redirect: "manual" });
  } catch {
    claim.textContent = "The connection is lost. Trying again…";
    return;
  }
  if (answer.ok) {
    claim.textContent = "This item stays yours while this page is open.";
  } else if (answer.status === 409) {
    const said = new DOMParser().parseFromString(await answer.text(), "text/html");
    lose(said.body.textContent.replace(/\s+/g, " ").trim());
  } else {
    lose("You do not have this item any more, or you are logged out.");
  }
}

if (form?.dataset.renew) {
  setInterval(renew, RENEW_EVERY);
  document.addEventListener("visibilitychange", renew);
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
  button.textContent = "Take the selected words";
  // The selection must survive the press.
  button.addEventListener("mousedown", (event) => event.preventDefault());
  button.addEventListener("click", () => take(field));
  field.after(button);
  field.addEventListener("focus", () => (quote = field));
}

// ---- keys

const typing = (element) => element.matches("textarea, select, input:not([type=radio], [type=checkbox])");

function press(event) {
  const { key, altKey, ctrlKey, metaKey, target } = event;
  if (key === "Enter" && (ctrlKey || metaKey)) {
    if (go && form) form.requestSubmit(go);
  } else if (key === "Enter" && target.matches("input") && typing(target) && form?.contains(target)) {
    // Only looks for services: sending the whole form takes a button.
    target.dispatchEvent(new Event("search", { bubbles: true }));
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

let sent = false;
page?.addEventListener("submit", (event) => {
  // A second press while the first is under way would find a changed item.
  if (sent) event.preventDefault();
  sent = true;
});
addEventListener("pageshow", () => (sent = false));

begin();
