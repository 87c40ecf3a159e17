// Where the chat page stands, and what has the focus: a question that was just asked, the beginning
// of its answer, what comes of a choice, help lines.

const question = document.getElementById("question");
const button = document.getElementById("ask-button");
const composer = document.getElementById("ask");
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

let giving = false; // whether the newest turn gets the focus that nothing has
let following = false; // whether the page still stands where the newest question put it

const newest = () => [...document.querySelectorAll(".turn")].at(-1);
const pending = () => document.querySelector(".outcome[data-pending]") !== null;

function bring(element, block = "start") {
  const behavior = reducedMotion.matches ? "auto" : "smooth";
  element.scrollIntoView({ block, behavior });
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

// An answer comes to rest with its beginning in view: beneath a long question it would not. For a
// moment what stands above it may still change its height: a choice that it has settled folds.
const SETTLES = 1000;
let waiting = pending();
let answeredAt = -Infinity;

function rest() {
  const answered = waiting && !pending();
  waiting = pending();
  if (answered) answeredAt = performance.now();
  if (!following || performance.now() - answeredAt > SETTLES) return;
  const turn = newest();
  // What keeps somebody alive comes first, and stays in view.
  const first = turn.querySelector('[id$="-help"] .contacts') ?? turn.querySelector(".outcome");
  // Where it will stand, not where it stands: the page may still be on its way to the question.
  const below = first.getBoundingClientRect().top - turn.getBoundingClientRect().top;
  const room = innerHeight - composer.offsetHeight;
  bring(below > room - 0.25 * innerHeight ? first : turn);
  if (answered) offer(turn);
}

// Whoever is asked to choose is led to the first option, with the last one in view, unless they
// have begun to write.
function offer(turn) {
  const options = [...turn.querySelectorAll(".offer :is(button.offer__option, .offer__tick)")];
  const free = [question, button, turn, document.body].includes(document.activeElement);
  if (turn.querySelector(".contacts") || options.length === 0 || question.value || !free) return;
  options[0].focus({ preventScroll: true });
  const [top, bottom] = [options[0], options.at(-1)].map((each) => each.getBoundingClientRect());
  const room = innerHeight - composer.offsetHeight;
  if (bottom.bottom - turn.getBoundingClientRect().top <= room) return; // all of it fits
  bring(bottom.bottom - top.top <= room ? options.at(-1) : options[0], "nearest");
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

// Help lines that came for what was said of an answer: they stand far above it.
function leadToHelp(id) {
  const help = document.getElementById(id);
  help.tabIndex = -1;
  help.focus({ preventScroll: true });
  bring(help);
}

document.addEventListener("help", ({ detail }) => leadToHelp(detail.id));

// The same lines come by the socket, too, and would take the focus away with those that have it.
let replacing = null;

document.addEventListener("htmx:oobBeforeSwap", ({ detail: { target } }) => {
  if (target === document.activeElement && target.id.endsWith("-help")) replacing = target.id;
});
document.addEventListener("htmx:oobAfterSwap", () => {
  if (replacing && document.activeElement === document.body) leadToHelp(replacing);
  replacing = null;
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

document.addEventListener("arrived", ({ detail: { turn } }) => reveal(turn));
document.addEventListener("settled", () => {
  rest();
  watchNewest();
  leadOn();
  giveFocus();
});
watchNewest();
