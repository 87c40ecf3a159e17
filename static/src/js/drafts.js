// Keeps what a person types on an item's page and in its talk in this browser, by person and page:
// over a reload, a session's end and a lost claim, until the server has taken it or they log out
// (Clear-Site-Data), and for a day at most.

const PREFIX = "ieim-draft:";
const DECIDED = "ieim-decided-"; // the server's word that it has taken what was typed: a cookie
const LONGEST = 24 * 60 * 60 * 1000;
const TYPED = "textarea[id], input[id]:not([type]), input[id][type=text]";

const page = document.querySelector("[data-item]");
const kept = document.getElementById("kept");
const key = page && draftKey(page.dataset.user, page.dataset.item);

function draftKey(user, item) {
  return `${PREFIX}${user}:${item}`;
}

function read(name) {
  try {
    const draft = JSON.parse(localStorage.getItem(name));
    return draft && Date.now() - draft.at < LONGEST ? draft : null;
  } catch {
    return null; // storage is blocked, or what is there is none of ours
  }
}

function write(draft) {
  try {
    if (Object.keys(draft.fields).length === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify({ ...draft, at: Date.now() }));
  } catch {
    // Storage is blocked or full: the page works without.
  }
}

function change(edit) {
  const draft = read(key) ?? { fields: {} };
  edit(draft);
  write(draft);
}

// ---- what is to be forgotten: what is old, and what was decided

function tidy() {
  for (const cookie of document.cookie.split("; ")) {
    const [name, user] = cookie.split("=");
    if (!name.startsWith(DECIDED)) continue;
    // With an item goes its talk, whose name begins with the item's.
    const taken = draftKey(user, name.slice(DECIDED.length));
    for (const each of Object.keys(localStorage)) {
      if (each.startsWith(taken)) localStorage.removeItem(each);
    }
    document.cookie = `${name}=; path=/; max-age=0`;
  }
  for (const name of Object.keys(localStorage)) {
    if (name.startsWith(PREFIX) && read(name) === null) localStorage.removeItem(name);
  }
}

// ---- what was typed goes back where it was; what has no place here can be copied

function restore() {
  const draft = read(key);
  if (draft === null) return;
  for (const [id, field] of Object.entries(draft.fields)) {
    const box = document.getElementById(id);
    if (box?.matches(TYPED)) box.value = field.value;
  }
  const action = document.getElementById(draft.action);
  if (action?.matches("[name=action]")) action.checked = true;
  show(draft.fields);
}

function show(fields) {
  const homeless = Object.entries(fields).filter(
    ([id]) => !document.getElementById(id)?.matches(TYPED),
  );
  if (homeless.length === 0 || !kept.hidden) return;
  for (const [, { name, value }] of homeless) {
    const heading = document.createElement("p");
    heading.className = "draft__name";
    heading.textContent = name;
    const text = document.createElement("p");
    text.className = "draft";
    text.dir = "auto";
    text.textContent = value;
    kept.querySelector("button").before(heading, text);
  }
  kept.hidden = false;
  kept.querySelector("button").addEventListener("click", () => {
    change((draft) => homeless.forEach(([id]) => delete draft.fields[id]));
    kept.hidden = true;
  });
}

// ---- a box can go while the page is open; nothing may be stored of what stands in it

let gone = {};

function goes({ detail }) {
  const boxes = [...detail.target.querySelectorAll(TYPED)].filter((box) => box.value.trim());
  for (const box of boxes) gone[box.id] = fieldOf(box);
}

function went() {
  show({ ...read(key)?.fields, ...gone });
  gone = {};
}

// ---- and is kept with every key

function fieldOf(box) {
  return { name: box.labels[0]?.textContent.trim() ?? "", value: box.value };
}

function typed({ target }) {
  if (!target.matches(TYPED)) return;
  change((draft) => {
    if (target.value.trim()) draft.fields[target.id] = fieldOf(target);
    else delete draft.fields[target.id];
    draft.action = page.querySelector("[name=action]:checked")?.id;
  });
}

try {
  tidy();
} catch {
  // Storage is blocked.
}
if (page) {
  // A page that came back with what was sent has it already.
  if ("fresh" in page.dataset) restore();
  if (page.querySelector(TYPED)) {
    page.addEventListener("htmx:oobBeforeSwap", goes);
    page.addEventListener("htmx:oobAfterSwap", went);
  }
  page.addEventListener("input", typed);
}
