// A question costs calls of a model: a form that is on its way cannot be sent a second time.
// Everything works without this file too.

for (const form of document.querySelectorAll("form[data-busy]")) {
  form.addEventListener("submit", () => {
    form.querySelector("button[type=submit]").disabled = true;
    const status = form.querySelector("[role=status]");
    if (status) status.textContent = form.dataset.busy;
  });
}

// A page that comes back out of the browser's memory is not on its way any more.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
