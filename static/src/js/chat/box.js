// The box for a question: Enter sends, as in other chats (a switch of this browser turns it off), and
// what is written survives a change of the page's language.

const question = document.getElementById("question");
const button = document.getElementById("ask-button");
const keys = document.getElementById("ask-keys");
const enterSends = document.getElementById("enter-sends");
const words = document.getElementById("words").dataset; // in the page's language
const KEPT = "ieim-enter-sends";

function kept() {
  try {
    return localStorage.getItem(KEPT) !== "no";
  } catch {
    return true; // storage is blocked
  }
}

function tellKeys() {
  const sends = enterSends.checked;
  document.getElementById("question-keys").textContent = sends ? ` ${words.keys}` : "";
}

enterSends.checked = kept();
enterSends.addEventListener("change", () => {
  try {
    localStorage.setItem(KEPT, enterSends.checked ? "yes" : "no");
  } catch {
    // It holds for this page.
  }
  tellKeys();
});
keys.hidden = false;
tellKeys();

question.addEventListener("keydown", (event) => {
  // While a word is being composed, Enter is for the word.
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || !enterSends.checked) return;
  event.preventDefault();
  button.click();
});

const WRITTEN = "ieim-written";

function written(text) {
  try {
    if (text) sessionStorage.setItem(WRITTEN, text);
    else sessionStorage.removeItem(WRITTEN);
  } catch {
    // Storage is blocked: whoever changes the language writes it again.
  }
}

function keptText() {
  try {
    return sessionStorage.getItem(WRITTEN) ?? "";
  } catch {
    return "";
  }
}

document.addEventListener("submit", ({ target }) => {
  if (target.id === "language") written(question.value);
});
if (keptText() && !question.value) {
  question.value = keptText();
  question.dispatchEvent(new Event("input", { bubbles: true }));
}
written("");
