// The character counter below a text box. It counts Unicode code points, as the server does, whose
// word is final. Screen readers hear it only near the limit, and only when the typing pauses.

const PAUSE = 1000;

function words(left) {
  const count = Math.abs(left).toLocaleString("en-GB");
  const unit = Math.abs(left) === 1 ? "character" : "characters";
  return left < 0 ? `You have ${count} ${unit} too many.` : `You have ${count} ${unit} left.`;
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
    message.textContent = words(left);
    message.classList.toggle("govuk-character-count__message--over", left < 0);
    message.classList.toggle("govuk-character-count__message--near", left < limit / 10);
    clearTimeout(timer);
    timer = setTimeout(() => {
      spoken.textContent = left < limit / 10 ? words(left) : "";
    }, PAUSE);
  };

  box.addEventListener("input", count);
  count();
}
