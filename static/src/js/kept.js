// The login page says that what was typed is kept, where this browser has it (drafts.js, entry.js).

try {
  const names = Object.keys(localStorage);
  if (names.some((name) => name.startsWith("ieim-draft:"))) document.getElementById("kept").hidden = false;
} catch {
  // Storage is blocked.
}
