// What htmx does not do by itself on the chat page: send a question until the site has heard of it,
// say when the connection is lost, and keep the question box in step with the page. It tells the
// page of a question that has arrived ("arrived") and of whatever else is new on it ("settled").

const MAX_FRAME = 16 * 1024;
const NO_ECHO = 6000;
const SAY_KEPT = 2500;
const LOST_AFTER = 1500;
const TRY_AGAIN = 5000;
const HTMX_RETRIES = [1006, 1011, 1012, 1013];
const PARTS = [
  ...["live", "question-label", "ask-word", "suggestions", "tools"],
  ...["refused-help", "question-error", "personal"],
];

const question = document.getElementById("question");
const button = document.getElementById("ask-button");
const note = document.getElementById("ask-note");
const group = document.getElementById("ask-group");
const composer = document.getElementById("ask");
const connection = document.getElementById("connection");
const words = document.getElementById("words").dataset; // in the page's language

let socket = null; // the open WebSocket
let wires = null; // htmx's handle on it
// What the page has not heard of yet: its words (none: a question asked again), whether they were
// typed in the box and are back there, what was chosen of the numbers in them (it comes back in
// other words then), its name, where it is posted without a socket, how many turns there were, and
// when it is tried again.
let sent = null;

const turns = () => document.querySelectorAll(".turn");
const newest = () => [...turns()].at(-1);
const pending = () => document.querySelector(".outcome[data-pending]") !== null;
const error = () => document.querySelector("#question-error .govuk-error-message");
const asked = () => document.getElementById("personal-check");

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
  clearTimeout(sent?.told);
  sent = null;
  keepUnsent(null);
  say(connection, "");
}

function write(text) {
  question.value = text;
  question.dispatchEvent(new Event("input"));
}

// What could not be sent is in the box again, before what was typed since.
function giveBack() {
  if (!sent.typed || sent.back) return;
  sent.back = true;
  write([sent.text, question.value].filter(Boolean).join("\n"));
}

// What has arrived is not in the box any more; what was typed after it is.
function takeOut(text) {
  if (question.value.startsWith(text)) write(question.value.slice(text.length).replace(/^\n/, ""));
}

// Kept in this tab, and gone with it: so it is not lost when the page is loaded again.
const UNSENT = "ieim-unsent";

function keepUnsent(message) {
  try {
    if (message) sessionStorage.setItem(UNSENT, JSON.stringify(message));
    else sessionStorage.removeItem(UNSENT);
  } catch {
    // Storage is blocked: it is kept as long as the page is.
  }
}

function unsent() {
  try {
    return JSON.parse(sessionStorage.getItem(UNSENT));
  } catch {
    return null;
  }
}

// ---- sending, until it has been heard of

// Whether a turn is of this text. The page has signs in place of the characters that turn it.
function shows(turn, text) {
  const shown = turn.querySelector(".message__text").cloneNode(true);
  for (const sign of shown.querySelectorAll("[data-skip]")) sign.remove();
  return shown.textContent === text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "");
}

function settle() {
  const last = newest();
  const echoed = ({ text, choice }) =>
    text === undefined || choice || sent.turns < 0 || shows(last, text);
  if (sent && turns().length > sent.turns && echoed(sent)) {
    if (sent.back) takeOut(sent.text);
    forget();
    tell("arrived", last);
  } else if (sent && asked()) {
    giveBack();
    forget();
    asked().focus();
  } else if (sent && error()) {
    giveBack();
    forget();
    // What keeps somebody alive comes before why the message was not taken.
    const first = document.querySelector("#refused-help .contacts") ?? error();
    first.scrollIntoView({ block: "nearest" });
  }
  refresh();
  tell("settled");
}

// Where the page stands after that is for standing.js.
function tell(what, turn) {
  document.dispatchEvent(new CustomEvent(what, { detail: { turn } }));
}

document.addEventListener(
  "submit",
  (event) => {
    const form = event.target;
    if (!form.hasAttribute("ws-send")) return;
    // Neither htmx nor the browser sends it: it is ours until the site has it.
    event.preventDefault();
    event.stopImmediatePropagation();
    const again = form.id === "something-else";
    if (sent || (pending() && !again)) return;
    const { submitter } = event;
    const data = new FormData(form, submitter);
    const text = String(data.get("text") ?? "");
    const choice = data.get("personal_data") ?? undefined;
    if (again) send({ action: submitter.formAction, turn: submitter.dataset.turn });
    else send({ action: form.action, text, choice, name: newName(), typed: question.value === text });
  },
  true,
);

// By its name the site knows a question that it has already, however often it is sent.
function newName() {
  return crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
}

function send(message) {
  document.getElementById("question-error").replaceChildren();
  document.getElementById("personal").replaceChildren();
  if (message.text) keepUnsent(message);
  sent = { ...message, turns: turns().length, tries: 0 };
  // What is typed from here on is the next question.
  if (sent.typed) write("");
  // A connection that has died without a word is noticed later than people begin to wonder.
  sent.told = setTimeout(() => say(connection, words.silent), SAY_KEPT);
  deliver();
}

function deliver() {
  clearTimeout(sent.timer);
  const { text, choice, name, turn } = sent;
  const question = { text, client_id: name, personal_data: choice };
  const frame = JSON.stringify(turn ? { something_else: turn } : question);
  // A socket that twice brought nothing back is as good as none.
  sent.tries += 1;
  if (socket !== null && sent.tries < 3 && new Blob([frame]).size <= MAX_FRAME) {
    wires.send(frame);
    sent.timer = setTimeout(() => {
      say(connection, words.silent);
      wires.reconnect();
    }, NO_ECHO);
  } else {
    post(sent);
  }
  refresh();
}

async function post(message) {
  if (message.posting) return;
  message.posting = true;
  try {
    const form = new FormData();
    form.set("csrfmiddlewaretoken", composer.elements.csrfmiddlewaretoken.value);
    if (message.text !== undefined) {
      form.set("text", message.text);
      form.set("client_id", message.name);
      if (message.choice) form.set("personal_data", message.choice);
    }
    const response = await fetch(message.action, { method: "POST", body: form });
    if (response.status >= 500) throw new Error(String(response.status));
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (sent === message) show(page);
  } catch {
    if (sent === message) hold();
  } finally {
    message.posting = false;
  }
}

// There is no connection: the text stays, and goes as soon as there is one.
function hold() {
  say(connection, words.kept);
  giveBack();
  clearTimeout(sent.timer);
  sent.timer = setTimeout(deliver, TRY_AGAIN);
}

function show(page) {
  if (page.getElementById("live")) {
    for (const id of PARTS) {
      const part = document.adoptNode(page.getElementById(id));
      document.getElementById(id).replaceWith(part);
      htmx.process(part);
    }
    // Whatever the page shows, the site has the question, or says why not.
    if (!error() && !asked()) sent.turns = -1;
  } else {
    // A page that says why not, such as one for a form that has been open for too long.
    const told = document.createElement("p");
    told.className = "govuk-error-message";
    told.setAttribute("role", "alert");
    const said = page.querySelectorAll("#main h1, #main h1 ~ p:not(:has(a))");
    told.textContent = [...said].map((each) => each.textContent.trim()).join(". ").replaceAll("..", ".");
    document.getElementById("question-error").replaceChildren(told);
  }
  settle();
}

document.addEventListener("htmx:wsAfterMessage", settle);

// The socket may be quicker than the answer to the form: what it brought is newer than that answer,
// whose place is gone with what it replaced.
document.addEventListener("htmx:beforeRequest", ({ detail: { target } }) => {
  target.addEventListener(
    "htmx:beforeSwap",
    ({ detail }) => (detail.shouldSwap &&= target.isConnected),
    { once: true },
  );
});

// A button of an answer, pressed without a connection: nothing has happened, and it can be pressed
// again.
document.addEventListener("htmx:sendError", (event) => {
  if (event.detail.requestConfig.verb !== "get") say(connection, words.again);
});

// ---- the connection

document.addEventListener("htmx:wsOpen", (event) => {
  socket = event.detail.event.target;
  wires = event.detail.socketWrapper;
  document.documentElement.classList.add("app-live");
  if (sent) deliver();
  else say(connection, "");
});

document.addEventListener("htmx:wsClose", (event) => {
  const { event: closed, socketWrapper } = event.detail;
  if (socket !== null && closed.target !== socket) return;
  const wasOpen = socket !== null;
  socket = null;
  document.documentElement.classList.remove("app-live");
  if (wasOpen) {
    setTimeout(() => {
      if (socket === null) say(connection, sent ? words.kept : words.lost);
    }, LOST_AFTER);
    if (sent) hold();
  }
  if (!HTMX_RETRIES.includes(closed.code)) {
    setTimeout(() => socket ?? socketWrapper.reconnect(), LOST_AFTER);
  }
});

addEventListener("online", () => {
  if (socket === null) wires?.reconnect();
  if (sent) deliver();
});

document.addEventListener("looked", settle);

refresh();

// It shows a page of ours where this one cannot be had, but not in a frame of another site.
if (!document.getElementById("frame")) navigator.serviceWorker?.register("/worker.js").catch(() => {});

// What this tab had not sent when it was closed or loaded again.
const left = unsent();
if (left && newest() && shows(newest(), left.text)) {
  keepUnsent(null);
  takeOut(left.text);
} else if (left) {
  takeOut(left.text);
  send(left);
}
