// The private link: copied, or handed to another app, where the browser can do that. Without this
// the link itself, the QR code and the e-mail are there.

const root = document.documentElement.classList;
if (navigator.clipboard) root.add("app-copies");
if (navigator.share) root.add("app-shares");

document.addEventListener("click", async ({ target }) => {
  const { copy, copied, notCopied, share } = target.closest("[data-copy], [data-share]")?.dataset ?? {};
  if (copy) {
    const said = target.parentElement.querySelector('[role="status"]');
    said.textContent = "";
    try {
      await navigator.clipboard.writeText(copy);
      said.textContent = copied;
    } catch {
      said.textContent = notCopied;
    }
  }
  if (share) {
    // Whoever closes the list of apps has changed their mind: nothing to tell.
    await navigator.share({ title: document.title, url: share }).catch(() => {});
  }
});
