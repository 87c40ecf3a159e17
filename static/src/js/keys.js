// Shortcuts with Alt, the list of them under "?", and the switch that turns them off in this browser.

const KEYS_OFF = "ieim-keys-off";

const dialog = document.getElementById("keys");
const opener = document.querySelector("[data-keys-open]");

function off() {
  try {
    return localStorage.getItem(KEYS_OFF) === "1";
  } catch {
    return false; // storage is blocked: the switch holds until the page is left
  }
}

function show() {
  if (!dialog.open) dialog.showModal();
}

// `actions` by the code of their key: they are not for who is typing, unless `whileTyping`.
export function shortcuts(actions, { whileTyping = false } = {}) {
  let enabled = !off();
  document.addEventListener("keydown", (event) => {
    if (!enabled || dialog.open || event.defaultPrevented || event.isComposing) return;
    const typing = event.target.closest?.('input:not([type=checkbox], [type=radio]), textarea, select');
    if ((typing && !(whileTyping && event.altKey)) || event.ctrlKey || event.metaKey) return;
    if (event.key === "?" && !event.altKey) {
      event.preventDefault();
      show();
    } else if (event.altKey && !event.shiftKey && event.code in actions) {
      event.preventDefault();
      actions[event.code]();
    }
  });

  const switched = document.getElementById("keys-on");
  switched.checked = enabled;
  switched.addEventListener("change", () => {
    enabled = switched.checked;
    try {
      if (enabled) localStorage.removeItem(KEYS_OFF);
      else localStorage.setItem(KEYS_OFF, "1");
    } catch {
      // See off().
    }
  });
  opener.hidden = false;
  opener.addEventListener("click", show);
}
