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

form?.addEventListener("focusin", ({ target }) => {
  const field = target.closest("[data-field]");
  if (field) show(field.dataset.field);
});

let selected = ""; // the passage that was selected last

document.addEventListener("selectionchange", () => {
  const selection = getSelection();
  const isOfPage = selection.rangeCount && text.contains(selection.getRangeAt(0).commonAncestorContainer);
  if (isOfPage && !selection.isCollapsed) selected = selection.toString().replace(/[\t\n]+/g, "\n").trim();
});

for (const button of form?.querySelectorAll("[data-passage]") ?? []) {
  const group = button.closest("[data-field]");
  button.hidden = false;
  button.addEventListener("click", () => {
    const [field, passage] = ["textarea", "[name^=passage-]"].map((name) => group.querySelector(name));
    if (selected) {
      field.value = [field.value.trim(), selected].filter(Boolean).join("\n");
      passage.value = [passage.value, selected].filter(Boolean).join("\n");
      group.querySelector("[name=take]").checked = true;
      field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    field.focus();
  });
}

function edit() {
  const fields = [...form.querySelectorAll("textarea")];
  const at = fields.findIndex((field) => field.closest("[data-field]").contains(document.activeElement));
  fields[(at + 1) % fields.length].focus();
}

const press = (key) => () => document.querySelector(`[data-key=${key}]`)?.click();
const keys = ["KeyA", "KeyT", "KeyL", "KeyN"].map((key) => [key, press(key)]);
const add = () => document.activeElement?.closest("[data-field]")?.querySelector("[data-passage]")?.click();
if (form) shortcuts({ ...Object.fromEntries(keys), KeyE: edit, KeyP: add }, { whileTyping: true });
