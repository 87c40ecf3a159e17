// The character counter below a text box. It counts Unicode code points, as the server does, whose
// word is final. Screen readers hear it only near the limit, and only when the typing pauses.

const PAUSE = 1000;

// No plurals: the page says these once, in its language, for any number.
function words(left, { left: some = "Characters left: {count}", over = "Characters too many: {count}" }) {
  const count = Math.abs(left).toLocaleString(document.documentElement.lang);
  return (left < 0 ? over : some).replace("{count}", count);
}

for (const message of document.querySelectorAll("[data-counter]")) {
  const box = document.getElementById(message.dataset.counter);
  const limit = Number(message.dataset.limit);
  const spoken = document.createElement("p");
  spoken.className = "govuk-visually-hidden";
  spoken.setAttribute("role", "status");
  message.after(spoken);
  let timer = 0;

  const count = () => {
    const left = limit - [...box.value].length;
    message.textContent = words(left, message.dataset);
    message.classList.toggle("govuk-character-count__message--over", left < 0);
    message.classList.toggle("govuk-character-count__message--near", left < limit / 10);
    clearTimeout(timer);
    timer = setTimeout(() => {
      spoken.textContent = left < limit / 10 ? words(left, message.dataset) : "";
    }, PAUSE);
  };

  box.addEventListener("input", count);
  count();
}
