// Keeps the claim while the page is open, seen or not, and says within seconds when it is lost.

const LOOK_EVERY = 3_000;
// A browser lets a hidden page act once a minute only; the shortest claim holds for two.
const RENEW_EVERY = 30_000;
const PATIENCE = 10_000;

const form = document.querySelector("[data-renew]");
const claim = document.getElementById("claim");
// What it says stands in the page, in the page's language.
const words = claim?.dataset ?? {};
const title = document.title;
let said = false; // whether something is wrong that may still pass
let lost = false;
let looking = false;

function say(text, { wrong = false } = {}) {
  said = wrong;
  claim.classList.toggle("claim--lost", wrong);
  if (claim.textContent !== text) claim.textContent = text;
}

function lose(why) {
  lost = true;
  document.title = `${words.lost} ${title}`;
  say(`${why} ${words.draft}`, { wrong: true });
  // What is typed stays to be copied; nothing more can be done with it here.
  const mine = document.querySelector("[data-not-mine]");
  if (mine) mine.textContent = mine.dataset.notMine;
  for (const button of document.querySelectorAll(".item__decide:has(#decide-form) button")) {
    button.disabled = true;
  }
}

// The answer, or null where there is none to go by: that is said, and asked again later.
async function ask(address, options = {}) {
  let answer = null;
  try {
    const signal = AbortSignal.timeout(PATIENCE);
    answer = await fetch(address, { redirect: "manual", signal, ...options });
  } catch {
    // No server: like one that fails.
  }
  if (lost) return null;
  if (answer?.type === "opaqueredirect") say(words.out, { wrong: true });
  else if (answer === null || answer.status >= 500) say(words.away, { wrong: true });
  else return answer;
  return null;
}

async function renew() {
  if (lost) return;
  const token = form.querySelector("[name=csrfmiddlewaretoken]").value;
  const headers = { "X-CSRFToken": token, "HX-Request": "true" };
  const answer = await ask(form.dataset.renew, { method: "POST", headers });
  if (answer === null) return;
  if (answer.ok) {
    say(words.kept);
  } else if (answer.status === 409) {
    const fragment = new DOMParser().parseFromString(await answer.text(), "text/html");
    lose(fragment.body.textContent.replace(/\s+/g, " ").trim());
  } else {
    lose(answer.status === 404 ? words.deleted : words.gone);
  }
}

async function look() {
  if (lost || looking) return;
  looking = true;
  const answer = await ask(form.dataset.held);
  looking = false;
  if (answer === null) return;
  // A claim that ran out comes back while nobody has the item; the refusal says who has it.
  if (!answer.ok) await renew();
  else if (said) say(words.kept);
}

if (form) {
  setInterval(look, LOOK_EVERY);
  setInterval(renew, RENEW_EVERY);
  // A page that slept has missed its turns.
  document.addEventListener("visibilitychange", look);
  addEventListener("pageshow", look);
}
