// What the page of a talk does beyond its form: it sends with Ctrl and Enter, once a press, and
// Enter in the search for services only looks for them.

const form = document.querySelector(".talk-form");

form.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing) return;
  if (event.target.matches("#text") && (event.ctrlKey || event.metaKey)) {
    form.requestSubmit(form.querySelector("[data-send]"));
  } else if (event.target.matches("[type=search]")) {
    event.target.dispatchEvent(new Event("search", { bubbles: true }));
  } else {
    return;
  }
  event.preventDefault();
});

let sent = false;
form.addEventListener("submit", (event) => {
  if (sent) event.preventDefault();
  sent = true;
});
addEventListener("pageshow", () => (sent = false));
