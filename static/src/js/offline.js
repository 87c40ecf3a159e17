// On the page for who has no connection: looks for it again, and opens the page that was wanted.

const EVERY = 5000;

const again = document.querySelector("[data-again]");

async function look() {
  try {
    await fetch(again.dataset.again, { method: "HEAD", cache: "no-store" });
    location.reload();
  } catch {
    // Still none.
  }
}

addEventListener("online", look);
setInterval(look, EVERY);
again.addEventListener("click", (event) => {
  event.preventDefault();
  location.reload();
});
