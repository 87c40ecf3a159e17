// An answer comes in while somebody looks elsewhere: the tab's title, its icon and the app's badge
// say so until it has been seen. No sound and no notification.
//
// A cookie keeps up to when everything has been seen, so that the next visit says what is new.

const COOKIE_DAYS = 30;

const words = document.getElementById("words").dataset; // in the page's language
const icon = document.querySelector('link[rel="icon"]');
const toNew = document.getElementById("to-new");
const composer = document.getElementById("ask");
const usual = { title: document.title, icon: icon.getAttribute("href") };

// What can be new, by its id; what has come since and was not seen, in the order in which it came.
const known = new Map();
const unseen = new Set();
const told = new Set(); // those of them that the title counts
const waited = new Set(); // the questions that wait for a person, until the answer is whole

const came = (element) => Number(element.dataset.came);
const visible = () => document.visibilityState === "visible";

function wait() {
  const outcomes = document.querySelectorAll('.outcome[data-state="needs_review"]');
  for (const each of outcomes) waited.add(each.closest(".turn").id);
}

const watch = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) see(target);
  },
  // What stands beneath the question box is not in view.
  { rootMargin: `0px 0px -${composer.offsetHeight}px 0px` },
);

function see(element) {
  if (!visible() || !unseen.delete(element.id)) return;
  told.delete(element.id);
  watch.unobserve(element);
  tell();
}

function look() {
  for (const element of document.querySelectorAll("[data-came][id]")) {
    if (known.has(element.id)) continue;
    known.set(element.id, came(element));
    unseen.add(element.id);
    const turn = element.closest(".turn")?.id;
    if (waited.delete(turn) || !visible()) told.add(element.id);
  }
  wait();
  again();
  tell();
}

// Parts of the page are replaced: what is watched has to be what is there.
function again() {
  watch.disconnect();
  for (const id of unseen) {
    const element = document.getElementById(id);
    if (element) watch.observe(element);
  }
}

function tell() {
  const count = told.size;
  const what = count > 1 ? words.answers : words.answer;
  document.title = count ? `(${count}) ${what} – ${usual.title}` : usual.title;
  icon.setAttribute("href", count ? words.icon : usual.icon);
  toNew.hidden = !count;
  badge(count);
  remember();
}

let badged = 0;

function badge(count) {
  if (count === badged) return;
  badged = count;
  // Only an installed page has a badge; elsewhere this is refused, and nothing is missing.
  if (count) navigator.setAppBadge?.(count).catch(() => {});
  else navigator.clearAppBadge?.().catch(() => {});
}

function remember() {
  const { reference } = document.getElementById("live").dataset;
  if (!reference) return;
  const moments = [...known].filter(([id]) => !unseen.has(id)).map(([, at]) => at);
  const first = Math.min(...[...unseen].map((id) => known.get(id)));
  const seen = Math.max(0, ...moments.filter((at) => at < first));
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `ieim_seen=${reference}.${seen}; path=/; max-age=${COOKIE_DAYS * 86400}; samesite=lax${secure}`;
}

toNew.addEventListener("click", () => {
  const element = document.getElementById([...told][0]);
  if (!element) return;
  element.closest(".turn").focus({ preventScroll: true });
  element.scrollIntoView({ block: "start" });
});

document.addEventListener("visibilitychange", () => {
  if (visible()) again();
});

for (const element of document.querySelectorAll("[data-came][id]")) {
  known.set(element.id, came(element));
}
wait();
remember();
new MutationObserver(look).observe(document.getElementById("chat"), {
  childList: true,
  subtree: true,
});
