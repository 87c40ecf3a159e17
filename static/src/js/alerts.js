// Tells of alerts by the browser's own notifications, once the reader has allowed them: each cause
// once, however many pages are open.

const button = document.querySelector("[data-alerts]");
const KEY = "ieim-alerts";
const EVERY = 60_000;

function noted() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? [];
  } catch {
    return []; // storage is blocked: the page that is open tells again after a reload
  }
}

async function look() {
  const response = await fetch(button.dataset.alerts, { redirect: "error" }).catch(() => null);
  if (!response?.ok) return; // the page itself says that the connection or the login is lost
  const { causes, sentences } = await response.json();
  const known = new Set(noted());
  const kinds = new Set(causes.filter((each) => !known.has(each)).map((each) => each.split(" ")[0]));
  for (const kind of kinds) new Notification(sentences[kind], { tag: `ieim-${kind}` });
  try {
    localStorage.setItem(KEY, JSON.stringify(causes));
  } catch {
    // as above
  }
}

function begin() {
  button.textContent = button.dataset[Notification.permission === "granted" ? "on" : "refused"];
  button.disabled = true;
  if (Notification.permission !== "granted") return;
  look();
  setInterval(look, EVERY);
}

if (button && "Notification" in window) {
  button.hidden = false;
  if (Notification.permission === "default") {
    button.addEventListener("click", () => Notification.requestPermission().then(begin));
  } else begin();
}
