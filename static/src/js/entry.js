// The form of an entry, a notice or a comment keeps what is typed in this browser, by person and
// address, until it is saved or they log out (Clear-Site-Data), for a day at most; and suggests the
// key of a new entry.

const LONGEST = 24 * 60 * 60 * 1000;
const form = document.querySelector("[data-entry]");
const name = `ieim-draft:${form?.dataset.entry}`;
const kept = document.getElementById("kept");

function fields() {
  const data = [...new FormData(form)];
  return data.filter(([field]) => field !== "csrfmiddlewaretoken");
}

function read() {
  try {
    const draft = JSON.parse(localStorage.getItem(name));
    return draft && Date.now() - draft.at < LONGEST ? draft : null;
  } catch {
    return null; // storage is blocked, or what is there is none of ours
  }
}

function write(draft) {
  try {
    if (draft) localStorage.setItem(name, JSON.stringify({ at: Date.now(), fields: draft }));
    else localStorage.removeItem(name);
  } catch {
    // Storage is blocked or full: the page works without.
  }
}

// With the version that it was typed against: what others have saved since is merged.
function restore(draft) {
  for (const field of form.elements) {
    const values = draft.fields.filter(([key]) => key === field.name).map(([, value]) => value);
    if (field.type === "checkbox" || field.type === "radio") field.checked = values.includes(field.value);
    else if (values.length && field.type !== "submit") field.value = values[0];
  }
  form.dispatchEvent(new Event("change"));
}

// What is saved may have led to another page: what is kept under the old address goes too.
const SAVING = "ieim-saving";
try {
  if (form) document.addEventListener("submit", () => sessionStorage.setItem(SAVING, name));
  if (document.querySelector("[data-saved]")) localStorage.removeItem(sessionStorage.getItem(SAVING) ?? name);
} catch {
  // Storage is blocked.
}

function keep() {
  const draft = read();
  if ("fresh" in form.dataset) {
    // Fields that only the page has since, such as its version, are no work of anybody's.
    const typed = (list) => JSON.stringify(list.filter(([field]) => field !== "seen"));
    if (draft && typed(draft.fields) !== typed(fields())) kept.hidden = false;
    else write(null);
    kept.querySelector("[data-restore]").addEventListener("click", () => {
      restore(draft);
      kept.hidden = true;
    });
    kept.querySelector("[data-forget]").addEventListener("click", () => {
      write(null);
      kept.hidden = true;
    });
  }

  const key = form.querySelector("[data-from]");
  const source = key && document.getElementById(key.dataset.from);
  let isOwn = Boolean(key?.value);

  form.addEventListener("input", ({ target }) => {
    if (target === key) isOwn = Boolean(key.value);
    if (target === source && !isOwn) {
      const plain = source.value.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
      key.value = plain.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
    }
    write(fields());
  });
}

if (form) keep();
