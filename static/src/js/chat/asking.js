// What htmx does not do by itself on the chat page: send a question until the site has heard of it,
// say when the connection is lost, and keep the question box in step with the page.

const MAX_FRAME = 16 * 1024;
const SYNC_EVERY = 4000;
const LOOK_EVERY = 60 * 1000; // where a person answers: it may take days
const NO_ECHO = 6000;
const LOST_AFTER = 1500;
const TRY_AGAIN = 5000;
const HTMX_RETRIES = [1006, 1011, 1012, 1013];
const PARTS = [
  ...["live", "question-label", "suggestions", "tools"],
  ...["refused-help", "question-error", "personal"],
];

const question = document.getElementById("question");
const button = document.getElementById("ask-button");
const note = document.getElementById("ask-note");
const group = document.getElementById("ask-group");
const composer = document.getElementById("ask");
const connection = document.getElementById("connection");
const words = document.getElementById("words").dataset; // in the page's language
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

const { visit = "" } = document.getElementById("chat").dataset; // what is new on this page
let socket = null; // the open WebSocket
let wires = null; // htmx's handle on it
let giving = false; // whether the newest turn gets the focus that nothing has
let following = false; // whether the page still stands where the newest question put it
// What the page has not heard of yet: its words (none: a question asked again), what was chosen of
// the numbers in them (it comes back in other words then), its name, where it
// is posted without a socket, how many turns there were, and when it is tried again.
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
  sent = null;
  keepUnsent(null);
  say(connection, "");
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

// ---- where the page stands

function bring(element) {
  const behavior = reducedMotion.matches ? "auto" : "smooth";
  element.scrollIntoView({ block: "start", behavior });
}

function reveal(turn) {
  bring(turn);
  following = true;
  // A button is gone once it has been used, and the focus with it: at once, or with a later message.
  giving = ![question, button].includes(document.activeElement);
  giveFocus();
}

function giveFocus() {
  if (!giving || document.activeElement !== document.body) return;
  newest()?.focus({ preventScroll: true });
}

// An answer comes to rest with its beginning in view: beneath a long question it would not.
let waiting = pending();

function rest() {
  const answered = waiting && !pending();
  waiting = pending();
  if (!answered || !following) return;
  const turn = newest();
  // What keeps somebody alive comes first, and stays in view.
  const first = turn.querySelector(".contacts") ?? turn.querySelector(".outcome");
  // Where it will stand, not where it stands: the page may still be on its way to the question.
  const below = first.getBoundingClientRect().top - turn.getBoundingClientRect().top;
  const room = innerHeight - composer.offsetHeight;
  if (below > room - 0.25 * innerHeight) bring(first);
}

for (const scrolled of ["wheel", "touchmove"]) {
  document.addEventListener(scrolled, () => (following = false), { passive: true });
}
document.addEventListener("keydown", (event) => {
  if (["PageUp", "PageDown", "Home", "End", "ArrowUp", "ArrowDown"].includes(event.key)) {
    following &&= event.target === question;
  }
});

// Whoever has chosen is led to what comes of it: the button that they pressed is gone. An answer
// that builds up is replaced part by part.
const BUILT_UP = 300;
let chose = null;

document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt, target } = event.detail;
  if (elt.form?.id === "choose") chose = { outcome: target.id };
});
document.addEventListener("htmx:afterRequest", leadOn);

function leadOn() {
  const outcome = chose && document.getElementById(chose.outcome);
  if (!outcome || outcome.querySelector(".offer")) return;
  clearTimeout(chose.timer);
  const turn = outcome.closest(".turn");
  if (![document.body, turn].includes(document.activeElement)) {
    chose = null;
    return;
  }
  turn.focus({ preventScroll: true });
  if (!("pending" in outcome.dataset)) chose.timer = setTimeout(focusOutcome, BUILT_UP, turn);
}

function focusOutcome(turn) {
  chose = null;
  if (document.activeElement !== turn) return;
  const heading = turn.querySelector(".outcome h3");
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  // The last of the choices stood lower than what comes of it begins.
  if (heading.getBoundingClientRect().top < 0) bring(turn.querySelector(".outcome"));
}

document.addEventListener("focusin", (event) => {
  if (!event.target.matches(".turn")) giving = false;
});

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
    if (question.value === sent.text) {
      question.value = "";
      question.dispatchEvent(new Event("input"));
    }
    forget();
    reveal(last);
  } else if (sent && asked()) {
    forget();
    asked().focus();
  } else if (sent && error()) {
    forget();
    // What keeps somebody alive comes before why the message was not taken.
    const first = document.querySelector("#refused-help .contacts") ?? error();
    first.scrollIntoView({ block: "nearest" });
  }
  refresh();
  rest();
  watchNewest();
  leadOn();
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
    else send({ action: form.action, text, choice, name: newName() });
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

document.addEventListener("htmx:wsAfterMessage", () => {
  settle();
  giveFocus();
});

document.addEventListener("click", (event) => {
  if (event.target.id !== "personal-change") return;
  event.preventDefault();
  document.getElementById("personal").replaceChildren();
  question.focus();
});

// The socket may be quicker than the answer to the form: what it brought is newer than that answer,
// whose place is gone with what it replaced.
document.addEventListener("htmx:beforeRequest", ({ detail: { target } }) => {
  target.addEventListener(
    "htmx:beforeSwap",
    ({ detail }) => (detail.shouldSwap &&= target.isConnected),
    { once: true },
  );
});

// Help lines that came for what was said of an answer: they stand far above it.
document.addEventListener("help", ({ detail: { id } }) => {
  const help = document.getElementById(id);
  help.tabIndex = -1;
  help.focus({ preventScroll: true });
  bring(help);
});

// A button of an answer, pressed without a connection: nothing has happened, and it can be pressed
// again.
document.addEventListener("htmx:sendError", (event) => {
  if (event.detail.requestConfig.verb !== "get") say(connection, words.again);
});

// ---- back to the newest

const toNewest = document.getElementById("to-newest");
let seen = null;

function watchNewest() {
  seen?.disconnect();
  toNewest.hidden = true;
  if (!newest()) return;
  // What stands beneath the question box is not in view.
  const rootMargin = `0px 0px -${composer.offsetHeight}px 0px`;
  seen = new IntersectionObserver(([{ isIntersecting }]) => (toNewest.hidden = isIntersecting), {
    rootMargin,
  });
  seen.observe(newest());
}

toNewest.addEventListener("click", () => {
  question.focus({ preventScroll: true });
  reveal(newest());
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

function sync() {
  if (socket !== null) wires.send(JSON.stringify({ sync: true }));
}

let looked = Date.now();

setInterval(async () => {
  const held = document.querySelector('.outcome[data-state="needs_review"]') !== null;
  const due = held && Date.now() - looked > LOOK_EVERY;
  if (!due && !pending() && document.querySelector("[data-person]") === null) return;
  looked = Date.now();
  if (socket !== null) {
    sync();
    return;
  }
  // No connection can be had: look at the page itself.
  try {
    await htmx.ajax("GET", `${words.page}?${visit}`, { target: "#live", select: "#live", swap: "outerHTML" });
  } catch {
    return; // The next look may find it.
  }
  settle();
}, SYNC_EVERY);

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") sync();
});

refresh();
watchNewest();

// It shows a page of ours where this one cannot be had, but not in a frame of another site.
if (!document.getElementById("frame")) navigator.serviceWorker?.register("/worker.js").catch(() => {});

// What this tab had not sent when it was closed or loaded again.
const left = unsent();
if (left && newest() && shows(newest(), left.text)) keepUnsent(null);
else if (left) {
  question.value = left.text;
  question.dispatchEvent(new Event("input"));
  send(left);
}
