// What htmx does not do by itself on the chat page: fall back to a plain form post where there is no
// connection, say when the connection is lost, and keep the question box in step with the page.

const MAX_FRAME = 16 * 1024;
const SYNC_EVERY = 4000;
const NO_ECHO = 6000;
const LOST_AFTER = 1500;
const HTMX_RETRIES = [1006, 1011, 1012, 1013];

const question = document.getElementById("question");
const button = document.getElementById("ask-button");
const note = document.getElementById("ask-note");
const group = document.getElementById("ask-group");
const connection = document.getElementById("connection");
const words = document.getElementById("words").dataset; // in the page's language
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

let socket = null; // the open WebSocket
let wires = null; // htmx's handle on it
let submitter = null;
let giving = false; // whether the newest turn gets the focus that nothing has
let sent = null; // {text, turns, timer}: a question without an echo yet; no text is one asked again

const turns = () => document.querySelectorAll(".turn");
const pending = () => document.querySelector(".outcome[data-pending]") !== null;
const error = () => document.querySelector("#question-error .govuk-error-message");
const isAgain = (form) => form.id === "something-else";
const frame = (form) =>
  JSON.stringify(
    isAgain(form)
      ? { something_else: submitter.dataset.turn }
      : { text: String(new FormData(form, submitter).get("text") ?? "") },
  );

function say(element, text) {
  // Setting the same words again would be read out again.
  if (element.textContent !== text) element.textContent = text;
}

// ---- the question box

function refresh() {
  const busy = sent !== null || pending();
  // Not `disabled`: that would throw the keyboard focus out of the button.
  button.disabled = false;
  button.setAttribute("aria-disabled", String(busy));
  question.readOnly = false;
  if (sent) say(note, words.sending);
  else if (busy) say(note, words.wait);
  else say(note, "");
  group.classList.toggle("govuk-form-group--error", error() !== null);
  question.classList.toggle("govuk-textarea--error", error() !== null);
  if (error()) question.setAttribute("aria-invalid", "true");
  else question.removeAttribute("aria-invalid");
}

function forget() {
  clearTimeout(sent?.timer);
  sent = null;
}

function reveal(turn) {
  const behavior = reducedMotion.matches ? "auto" : "smooth";
  turn.scrollIntoView({ block: "start", behavior });
  // A button is gone once it has been used, and the focus with it: at once, or with a later message.
  giving = ![question, button].includes(document.activeElement);
  giveFocus();
}

function giveFocus() {
  if (!giving || document.activeElement !== document.body) return;
  [...turns()].at(-1)?.focus({ preventScroll: true });
}

document.addEventListener("focusin", (event) => {
  if (!event.target.matches(".turn")) giving = false;
});

// Whether a turn is of this text. The page has signs in place of the characters that turn it.
function shows(turn, text) {
  const said = turn.querySelector(".message__text").cloneNode(true);
  for (const sign of said.querySelectorAll("[data-skip]")) sign.remove();
  return said.textContent === text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");
}

function settle() {
  const newest = [...turns()].at(-1);
  const echoed = (text) => text === undefined || shows(newest, text);
  if (sent && turns().length > sent.turns && echoed(sent.text)) {
    if (question.value === sent.text) {
      question.value = "";
      question.dispatchEvent(new Event("input"));
    }
    forget();
    reveal(newest);
  } else if (sent && error()) {
    forget();
    // What keeps somebody alive comes before why the message was not taken.
    const first = document.querySelector("#refused-help .contacts") ?? error();
    first.scrollIntoView({ block: "nearest" });
  }
  refresh();
}

document.addEventListener(
  "submit",
  (event) => {
    if (!event.target.hasAttribute("ws-send")) return;
    submitter = event.submitter;
    if (sent || (pending() && !isAgain(event.target))) {
      event.preventDefault();
      event.stopImmediatePropagation();
    } else if (socket === null || new Blob([frame(event.target)]).size > MAX_FRAME) {
      // htmx does not see it: the browser posts the form.
      event.stopImmediatePropagation();
    }
  },
  true,
);

document.addEventListener("htmx:wsConfigSend", (event) => {
  event.detail.messageBody = frame(event.target);
});

document.addEventListener("htmx:wsAfterSend", (event) => {
  document.getElementById("question-error").replaceChildren();
  const { text } = JSON.parse(event.detail.message);
  const timer = setTimeout(() => {
    forget();
    say(connection, words.unheard);
    wires.reconnect();
    refresh();
  }, NO_ECHO);
  sent = { text, turns: turns().length, timer };
  refresh();
});

document.addEventListener("htmx:wsAfterMessage", () => {
  settle();
  giveFocus();
  watchNewest();
});

// The server's own event: the same question stands at the end once more, or why it does not.
document.addEventListener("asked-again", () => {
  if (error()) error().scrollIntoView({ block: "nearest" });
  else reveal([...turns()].at(-1));
  refresh();
});

// ---- the keyboard: Enter sends, as in other chats; a switch of this browser turns it off

const keys = document.getElementById("ask-keys");
const enterSends = document.getElementById("enter-sends");
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
  say(document.getElementById("question-keys"), sends ? ` ${words.keys}` : "");
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

// ---- back to the newest

const toNewest = document.getElementById("to-newest");
const seen = new IntersectionObserver(([{ isIntersecting }]) => {
  toNewest.hidden = isIntersecting;
});

function watchNewest() {
  const newest = [...turns()].at(-1);
  seen.disconnect();
  if (newest) seen.observe(newest);
  else toNewest.hidden = true;
}

toNewest.addEventListener("click", () => {
  question.focus({ preventScroll: true });
  reveal([...turns()].at(-1));
});

// ---- the connection

document.addEventListener("htmx:wsOpen", (event) => {
  socket = event.detail.event.target;
  wires = event.detail.socketWrapper;
  document.documentElement.classList.add("app-live");
  say(connection, "");
});

document.addEventListener("htmx:wsClose", (event) => {
  const { event: closed, socketWrapper } = event.detail;
  if (socket !== null && closed.target !== socket) return;
  const wasOpen = socket !== null;
  socket = null;
  document.documentElement.classList.remove("app-live");
  if (wasOpen) {
    setTimeout(() => {
      if (socket === null) say(connection, words.lost);
    }, LOST_AFTER);
  }
  if (!HTMX_RETRIES.includes(closed.code)) {
    setTimeout(() => socket ?? socketWrapper.reconnect(), LOST_AFTER);
  }
});

function sync() {
  if (socket !== null) wires.send(JSON.stringify({ sync: true }));
}

setInterval(async () => {
  if (!pending()) return;
  if (socket !== null) {
    sync();
    return;
  }
  // No connection can be had: look at the page itself.
  await htmx.ajax("GET", "/", { target: "#live", select: "#live", swap: "outerHTML" });
  settle();
}, SYNC_EVERY);

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") sync();
});

refresh();
watchNewest();
