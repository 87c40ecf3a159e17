// Leaves the page at once for somebody who is watched: "back" does not lead to it again. Without this
// it is a link.

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-leave]");
  if (!link) return;
  event.preventDefault();
  document.body.hidden = true; // the other page may take its time
  document.title = "";
  window.top.location.replace(link.href);
});
