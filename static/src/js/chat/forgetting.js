// Who has deleted their conversation leaves no words in this tab either.

try {
  for (const name of ["ieim-written", "ieim-unsent"]) sessionStorage.removeItem(name);
} catch {
  // Storage is blocked: nothing is kept there.
}
