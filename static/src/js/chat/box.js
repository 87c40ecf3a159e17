// The box for a question: Enter sends, as in other chats (a switch of this browser turns it off), and
// what is written is still there when the page is loaded again, in another language too.

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

// While a word is being composed, Enter is for the word. Safari ends the composition before it tells
// of that Enter, which has the key code of an input method then (UI Events, 229).
const INPUT_METHOD = 229;
let composed = false; // in this very task

question.addEventListener("compositionend", () => {
  composed = true;
  setTimeout(() => (composed = false));
});

question.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || !enterSends.checked) return;
  if (event.isComposing || composed || event.keyCode === INPUT_METHOD) return;
  event.preventDefault();
  button.click();
});

// Whoever wants to change what they wrote, because of the numbers in it, is led back to it.
document.addEventListener("click", (event) => {
  if (event.target.id !== "personal-change") return;
  event.preventDefault();
  document.getElementById("personal").replaceChildren();
  question.focus();
});

// ---- what is not sent yet stays in this tab, for this conversation on this site

const WRITTEN = "ieim-written";

// Without one: what is written before the first message.
function conversation() {
  return `${words.page} ${document.getElementById("live").dataset.reference ?? ""}`;
}

function keep() {
  try {
    if (!question.value) sessionStorage.removeItem(WRITTEN);
    else sessionStorage.setItem(WRITTEN, JSON.stringify([conversation(), question.value]));
  } catch {
    // Storage is blocked: whoever loads the page again writes it again.
  }
}

function written() {
  try {
    const [where, text] = JSON.parse(sessionStorage.getItem(WRITTEN));
    return where === conversation() ? text : "";
  } catch {
    return ""; // there is none, or storage is blocked
  }
}

if (!question.value && written()) {
  question.value = written();
  question.dispatchEvent(new Event("input"));
}
question.addEventListener("input", keep);
document.addEventListener("settled", keep); // the first message has made the conversation
keep(); // and forget what was of another conversation
