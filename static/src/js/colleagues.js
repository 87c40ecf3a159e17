// Colleagues on an item's page and in its talk: who else is here and what has changed, by a socket
// that is only a hint (the pages poll as well); names in notes after an @; a key for the timeline.

const HEARTBEAT = 4_000;
const RETRY = 10_000;
const WRITING = 5_000; // so long after a key somebody writes

// ---- who is here, and what has changed

const status = document.getElementById("colleagues");
let wrote = 0;
let writes = false;
let socket = null;

function show(present) {
  const { reads, writes } = status.dataset;
  const text = present.map((one) => (one.writes ? writes : reads).replace("{name}", one.name)).join(" ");
  const line = status.querySelector("[data-present]");
  if (line.textContent !== text) line.textContent = text;
}

function say({ present, state, version, name }) {
  if (present) return show(present);
  const { claimed, open, decided, changed, version: known } = status.dataset;
  if (version <= Number(known)) return;
  const words = { claimed, open }[state] ?? (name ? decided : changed);
  status.dataset.version = version;
  status.querySelector("[data-changed]").textContent = words.replace("{name}", name);
  status.querySelector("a").hidden = false;
}

function beat() {
  writes = Date.now() - wrote < WRITING;
  if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ writes }));
}

function connect() {
  socket = new WebSocket(`${location.origin.replace("http", "ws")}${status.dataset.socket}`);
  socket.addEventListener("open", beat);
  socket.addEventListener("message", (event) => say(JSON.parse(event.data)));
  socket.addEventListener("close", () => {
    show([]);
    setTimeout(connect, RETRY);
  });
}

if (status) {
  connect();
  setInterval(beat, HEARTBEAT);
  document.addEventListener("input", () => {
    wrote = Date.now();
    if (!writes) beat();
  });
}

// ---- names after an @

const note = document.getElementById("note-text");
const names = [...document.querySelectorAll("[data-name]")];
const list = document.getElementById("note-names");
let found = [];
let at = 0;

const typed = () => /(?:^|[^\w@.+-])@([\w@.+-]*)$/.exec(note.value.slice(0, note.selectionStart))?.[1];

function complete() {
  const end = note.selectionStart;
  note.setRangeText(`${found[at].dataset.name} `, end - typed().length, end, "end");
  note.dispatchEvent(new Event("input", { bubbles: true }));
}

function mark(index) {
  at = index;
  list.hidden = found.length === 0;
  [...list.children].forEach((option, place) => option.setAttribute("aria-selected", place === at));
  if (list.hidden) note.removeAttribute("aria-activedescendant");
  else note.setAttribute("aria-activedescendant", list.children[at].id);
}

function offer(word) {
  const fits = (name) => name.textContent.toLowerCase().includes(word.toLowerCase());
  found = word === undefined ? [] : names.filter(fits).slice(0, 8);
  list.replaceChildren(...found.map((name) => name.cloneNode(true)));
  [...list.children].forEach((option, place) => {
    Object.assign(option, { id: `name-${place}`, role: "option" });
    option.addEventListener("mousedown", (event) => {
      event.preventDefault(); // the note keeps the focus
      at = place;
      complete();
    });
  });
  mark(0);
}

function press(event) {
  if (list.hidden || event.isComposing) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) mark((at + step + found.length) % found.length);
  else if (event.key === "Enter" || event.key === "Tab") complete();
  else if (event.key === "Escape") offer();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

if (note) {
  note.addEventListener("input", () => offer(typed()));
  note.addEventListener("keydown", press);
  note.addEventListener("blur", () => offer());
  // A draft that is sent is none any more (drafts.js); one that is refused comes back with the page.
  note.form.addEventListener("formdata", () => {
    note.value = "";
    note.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

// ---- a key for the whole conversation

document.addEventListener("keydown", (event) => {
  const timeline = document.getElementById("timeline");
  if (!timeline || !event.altKey || event.code !== "KeyT") return;
  event.preventDefault();
  timeline.open = !timeline.open;
  timeline.querySelector("summary").focus();
});
