// The page on which an editor takes what a web page says: the quotes of the field that has the focus
// are marked more strongly, a selected passage goes into a field, and a few keys. The form works
// without it, too.

import { shortcuts } from "./keys.js";

const text = document.getElementById("page-text");
const form = document.getElementById("accept");

function show(field) {
  const marks = [...text.querySelectorAll("mark")];
  for (const mark of marks) {
    mark.classList.toggle("w-mark--on", mark.dataset.fields.split(" ").includes(field));
  }
  const first = marks.find((mark) => mark.classList.contains("w-mark--on"));
  const { top } = text.getBoundingClientRect();
  if (first) text.scrollTop += first.getBoundingClientRect().top - top - text.clientHeight / 3;
}

let group = null; // the field that had the focus last: selecting a passage takes it away

form?.addEventListener("focusin", ({ target }) => {
  const field = target.closest("[data-field]");
  if (field) show(field.dataset.field);
  group = field ?? group;
});

// What somebody has typed is meant to be taken.
form?.addEventListener("input", ({ target, isTrusted }) => {
  const tick = target.closest("textarea") && target.closest("[data-field]").querySelector("[name=take]");
  if (tick && isTrusted) tick.checked = true;
});

let selected = ""; // the passage that was selected last
let place = null; // where that is

function remember() {
  const selection = getSelection();
  const isOfPage = selection.rangeCount && text.contains(selection.getRangeAt(0).commonAncestorContainer);
  if (!isOfPage || selection.isCollapsed) return;
  selected = selection.toString().replace(/[\t\n]+/g, "\n").trim();
  place = selection.anchorNode;
}
document.addEventListener("selectionchange", remember);

for (const button of form?.querySelectorAll("[data-passage]") ?? []) {
  const own = button.closest("[data-field]");
  button.hidden = false;
  button.addEventListener("click", () => {
    const [field, passage] = ["textarea", "[name^=passage-]"].map((name) => own.querySelector(name));
    if (selected) {
      field.value = [field.value.trim(), selected].filter(Boolean).join("\n");
      passage.value = [passage.value, selected].filter(Boolean).join("\n");
      own.querySelector("[name=take]").checked = true;
      selected = "";
      field.dispatchEvent(new Event("input", { bubbles: true }));
      field.focus();
    } else {
      text.focus(); // there is nothing to add yet
    }
  });
}

// The passage after or before the one that is marked, for who uses no mouse.
function markPassage(step) {
  const passages = [...text.querySelectorAll("p, li, td, h2, h3, h4, h5, h6")].filter((part) => part.innerText.trim());
  if (!passages.length) return;
  const marked = passages.findIndex((part) => part.contains(place));
  const passage = passages[marked < 0 ? 0 : (marked + step + passages.length) % passages.length];
  text.focus();
  getSelection().selectAllChildren(passage);
  remember(); // the next key can come before the event
  passage.scrollIntoView({ block: "nearest" });
}

function edit() {
  const fields = [...form.querySelectorAll("textarea")];
  const next = fields[(fields.findIndex((field) => group?.contains(field)) + 1) % fields.length];
  next.focus({ preventScroll: true });
  next.setSelectionRange(next.value.length, next.value.length);
  next.scrollIntoView({ block: "center" });
}

const press = (key) => () => document.querySelector(`[data-key=${key}]`)?.click();
const keys = ["KeyA", "KeyT", "KeyL", "KeyN"].map((key) => [key, press(key)]);
const add = () => (group ?? form.querySelector("[data-field]")).querySelector("[data-passage]").click();
const marking = { KeyM: () => markPassage(1), KeyB: () => markPassage(-1), KeyP: add };
if (form) shortcuts({ ...Object.fromEntries(keys), KeyE: edit, ...marking }, { whileTyping: true });
