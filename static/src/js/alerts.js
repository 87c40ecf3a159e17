// Tells of alerts by the browser's own notifications, once the reader has allowed them and until they
// turn them off: each cause once, however many pages are open.

const box = document.querySelector("[data-alerts]");
const KEY = "ieim-alerts";
const OFF = "off";
const EVERY = 60_000;
let timer = 0;
let latest = []; // for this page alone, where storage is blocked

function noted() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? [];
  } catch {
    return latest;
  }
}

function note(value) {
  latest = value;
  try {
    localStorage.setItem(KEY, JSON.stringify(value));
  } catch {
    // as above
  }
}

function tell(text, tag) {
  try {
    new Notification(text, { tag: `ieim-${tag}` });
  } catch {
    refuse(); // some browsers of telephones allow it, and then have no way to show it
  }
}

function refuse() {
  const line = box.querySelector("[data-refused]");
  line.textContent = line.dataset.refused;
}

async function look() {
  const response = await fetch(box.dataset.alerts, { redirect: "error" }).catch(() => null);
  if (!response?.ok) return; // the page itself says that the connection or the login is lost
  const { causes, sentences } = await response.json();
  if (noted() === OFF) return show(); // turned off on another page
  const known = new Set(noted());
  const kinds = new Set(causes.filter((each) => !known.has(each)).map((each) => each.split(" ")[0]));
  for (const kind of kinds) tell(sentences[kind], kind);
  note(causes);
}

function show() {
  const works = Notification.permission === "granted" && noted() !== OFF;
  box.querySelector("[data-on]").hidden = works;
  for (const button of box.querySelectorAll("[data-show], [data-off]")) button.hidden = !works;
  box.querySelector("[data-refused]").textContent = "";
  if (Notification.permission === "denied") refuse();
  clearInterval(timer);
  if (!works) return;
  look();
  timer = setInterval(look, EVERY);
}

function turn(value) {
  note(value);
  show();
  box.querySelector("button:not([hidden])").focus(); // the one that was pressed may be gone
}

if (box && "Notification" in window) {
  box.hidden = false;
  box.querySelector("[data-on]").addEventListener("click", async () => {
    await Notification.requestPermission();
    turn([]);
  });
  box.querySelector("[data-show]").addEventListener("click", () => tell(box.dataset.sample, "sample"));
  box.querySelector("[data-off]").addEventListener("click", () => turn(OFF));
  show();
}
