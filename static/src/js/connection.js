// What a page says without a connection, where the browser would show a page of its own.

// Milliseconds.
const EVERY = 5000;
const TOO_LONG = 8000;

const { look, notSent } = document.getElementById("main").dataset;

// An error where there is no way to the site; whatever it answers, there is one.
const reach = () =>
  fetch(look, { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(TOO_LONG) });

// ---- the page in whose place others are not to be had: looks again, and opens what was wanted

const again = document.getElementById("try-again");

async function reload() {
  try {
    await reach();
    location.reload();
  } catch {
    // Still none.
  }
}

if (again) {
  addEventListener("online", reload);
  setInterval(reload, EVERY);
  again.addEventListener("click", (event) => {
    event.preventDefault();
    location.reload();
  });
}

// ---- a form that the browser sends itself: it stays, with what was written, until it can be sent

const told = document.createElement("p");
told.className = "govuk-error-message";
told.setAttribute("role", "alert");

let looking = false;
let there = false;

document.addEventListener("submit", async (event) => {
  // What a page sends without being left has its own words.
  if (event.defaultPrevented || event.submitter?.hasAttribute("hx-post") || there) return;
  if (event.target.method !== "post") return;
  event.preventDefault();
  if (looking) return;
  looking = true;
  told.remove();
  try {
    await reach();
    there = true;
    event.target.requestSubmit(event.submitter);
  } catch {
    told.textContent = notSent;
    (event.submitter ?? event.target.lastElementChild).before(told);
  } finally {
    looking = there = false;
  }
});
