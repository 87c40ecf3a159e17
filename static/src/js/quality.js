// Reading an answer again with keys: 1 to 4 score the marked sentence, 0 the rest, Enter saves.

const form = document.getElementById("quality");
const rows = [...form.querySelectorAll(".quality__row")];
const save = form.querySelector("[data-save]");
const rest = form.querySelector("[data-rest]");
let at = Math.max(0, rows.findIndex((row) => !row.querySelector(":checked")));

function mark(to) {
  at = Math.min(Math.max(to, 0), rows.length - 1);
  rows.forEach((row, n) => row.classList.toggle("quality__row--at", n === at));
  rows[at].scrollIntoView({ block: "nearest" });
}

addEventListener("keydown", (event) => {
  const { key, altKey, ctrlKey, metaKey, target } = event;
  if (altKey || ctrlKey || metaKey || target.matches("textarea")) return;
  if (key === "0") {
    rest.click();
  } else if (/^[1-4]$/.test(key)) {
    rows[at].querySelectorAll("input")[key - 1].checked = true;
    mark(at + 1);
  } else if (key === "ArrowDown" || key === "ArrowUp") {
    mark(at + (key === "ArrowDown" ? 1 : -1));
  } else if (key === "Enter" && !event.repeat && !target.matches("a, button")) {
    form.requestSubmit(save);
  } else {
    return;
  }
  event.preventDefault();
});

rest.addEventListener("click", () => {
  for (const row of rows) {
    if (!row.querySelector(":checked")) row.querySelector("input").checked = true;
  }
  mark(rows.length - 1);
  save.focus();
});
form.addEventListener("change", ({ target }) => mark(rows.indexOf(target.closest("fieldset"))));
form.querySelector("[data-keys]").hidden = rest.hidden = false;
mark(at);
