// What the page of a talk does beyond its form: the writing goes on where it was, Ctrl and Enter
// send, once a press, and Enter in the search for services only looks for them.

const form = document.querySelector(".talk-form");
const text = document.getElementById("text");

// After the browser has gone to the place in the address, which takes the focus.
addEventListener("load", () => {
  if (location.hash === "#newest") text.focus({ preventScroll: true });
});

form.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing) return;
  if (event.target === text && (event.ctrlKey || event.metaKey)) {
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
