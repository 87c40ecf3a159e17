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
let shown = "";

function say({ present, state, version, name }) {
  const words = status.dataset;
  if (present) {
    const sentence = (one) => (one.writes ? words.writes : words.reads).replace("{name}", one.name);
    shown = present.map(sentence).join(" ");
  } else if (version > Number(words.version)) {
    words.version = version;
    const changed = { claimed: words.claimed, open: words.open }[state] ?? words.decided;
    const text = name || state === "open" ? changed.replace("{name}", name) : words.changed;
    status.querySelector("[data-changed]").textContent = text;
    status.querySelector("a").hidden = false;
  }
  const line = status.querySelector("[data-present]");
  if (line.textContent !== shown) line.textContent = shown;
}

function beat() {
  writes = Date.now() - wrote < WRITING;
  if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ writes }));
}

function open() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}${status.dataset.socket}`);
  socket.addEventListener("open", beat);
  socket.addEventListener("message", (event) => say(JSON.parse(event.data)));
  socket.addEventListener("close", () => {
    shown = "";
    say({});
    setTimeout(open, RETRY);
  });
}

if (status) {
  open();
  setInterval(beat, HEARTBEAT);
  document.addEventListener("input", () => {
    wrote = Date.now();
    if (!writes) beat();
  });
}

// ---- names after an @

const note = document.getElementById("note-text");
const names = [...document.querySelectorAll("[data-name]")];
const list = document.createElement("ul");
let found = [];
let at = 0;

const typed = () => /(?:^|[^\w@.+-])@([\w@.+-]*)$/.exec(note.value.slice(0, note.selectionStart));

function close() {
  found = [];
  list.hidden = true;
  note.removeAttribute("aria-activedescendant");
}

function complete(option) {
  const end = note.selectionStart;
  const start = end - typed()[1].length;
  note.setRangeText(`${option.dataset.name} `, start, end, "end");
  note.dispatchEvent(new Event("input", { bubbles: true }));
  close();
  note.focus();
}

function mark() {
  [...list.children].forEach((item, index) => item.setAttribute("aria-selected", index === at));
  note.setAttribute("aria-activedescendant", `name-${at}`);
}

function offer() {
  const word = typed()?.[1].toLowerCase();
  const fits = (name) => name.textContent.toLowerCase().includes(word);
  found = word === undefined ? [] : names.filter(fits).slice(0, 8);
  if (found.length === 0) return close();
  at = 0;
  list.replaceChildren(
    ...found.map((name, index) => {
      const option = Object.assign(document.createElement("li"), { id: `name-${index}`, role: "option" });
      option.textContent = name.textContent;
      option.addEventListener("mousedown", (event) => {
        event.preventDefault();
        complete(name);
      });
      return option;
    }),
  );
  list.hidden = false;
  mark();
}

function press(event) {
  if (found.length === 0 || event.isComposing) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    at = (at + step + found.length) % found.length;
    mark();
  } else if (event.key === "Enter" || event.key === "Tab") complete(found[at]);
  else if (event.key === "Escape") close();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

if (note) {
  Object.assign(list, { id: "note-names", className: "notes__names", role: "listbox", hidden: true });
  list.setAttribute("aria-label", note.dataset.names);
  note.setAttribute("aria-autocomplete", "list");
  note.setAttribute("aria-controls", list.id);
  note.after(list);
  note.addEventListener("input", offer);
  note.addEventListener("keydown", press);
  note.addEventListener("blur", close);
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
