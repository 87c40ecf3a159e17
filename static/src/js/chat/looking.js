// Looks at the conversation again while something is awaited: what was to tell of it may be lost.

const EVERY = 4000;
const EVERY_FOR_A_PERSON = 60 * 1000; // it may take days

const words = document.getElementById("words").dataset;
const { visit = "" } = document.getElementById("chat").dataset; // what is new on this page
let wires = null; // htmx's handle on the socket
let looked = Date.now();

const connected = () => document.documentElement.classList.contains("app-live");

document.addEventListener("htmx:wsOpen", ({ detail }) => (wires = detail.socketWrapper));

function sync() {
  if (connected()) wires.send(JSON.stringify({ sync: true }));
}

setInterval(async () => {
  const held = document.querySelector('.outcome[data-state="needs_review"]') !== null;
  const due = held && Date.now() - looked > EVERY_FOR_A_PERSON;
  if (!due && !document.querySelector(".outcome[data-pending], [data-person]")) return;
  looked = Date.now();
  if (connected()) {
    sync();
    return;
  }
  // No connection can be had: look at the page itself.
  try {
    await htmx.ajax("GET", `${words.page}?${visit}`, { target: "#live", select: "#live", swap: "outerHTML" });
  } catch {
    return; // The next look may find it.
  }
  document.dispatchEvent(new Event("looked"));
}, EVERY);

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "visible") sync();
});
