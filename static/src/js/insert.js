// Puts a saved reply or the text of a similar case into the open box, where the cursor is. Without
// it, the same buttons send the form, and the page comes back with the text.

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[name=insert]");
  if (button === null) return;
  event.preventDefault();
  // On the page of an item a case is for the form there, not its own.
  const form = document.getElementById("decide-form") ?? button.form;
  const body = new FormData(form);
  body.set("insert", button.value);
  const address = button.getAttribute("formaction") ?? button.form.action;
  const answer = await fetch(address, { method: "POST", body, headers: { "HX-Request": "true" } });
  if (!answer.headers.get("Content-Type").startsWith("application/json")) {
    button.form.requestSubmit(button); // logged out, or gone: the whole page says so
    return;
  }
  const { field, text, source } = await answer.json();
  const box = document.getElementById(field);
  const radio = document.getElementById(`action-${field.replace("-text", "")}`);
  if (radio) radio.checked = true;
  const cited = field === "write-text" && form.querySelector(`[name=write-source][value="${CSS.escape(source)}"]`);
  if (cited) cited.checked = true;
  const at = box.selectionStart || box.value.length;
  const before = at > 0 && !/\s$/.test(box.value.slice(0, at)) ? "\n\n" : "";
  box.setRangeText(before + text, at, box.selectionEnd || at, "end");
  box.dispatchEvent(new Event("input", { bubbles: true }));
  box.focus();
});

for (const words of document.querySelectorAll("[data-find]")) {
  words.hidden = false;
  words.addEventListener("input", () => {
    for (const line of words.parentElement.querySelectorAll("li")) {
      line.hidden = !line.textContent.toLowerCase().includes(words.value.toLowerCase());
    }
  });
}
