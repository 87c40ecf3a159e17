// A page in a frame of another site: whether cookies hold there, and what leads out of the frame.

const frame = document.getElementById("frame");
const { home, withoutCookies } = frame.dataset;
const PASS = "ieim-pass"; // in this tab: where the conversation goes on without cookies

function holdsCookies() {
  const flags = `SameSite=None; Secure; Partitioned; Path=/embed/`;
  try {
    document.cookie = `ieim_test=1; Max-Age=60; ${flags}`;
    const held = document.cookie.includes("ieim_test=1");
    document.cookie = `ieim_test=; Max-Age=0; ${flags}`;
    return held;
  } catch {
    return false; // a frame that its site has locked up
  }
}

function kept() {
  try {
    return sessionStorage.getItem(PASS);
  } catch {
    return null;
  }
}

function keep(place) {
  try {
    sessionStorage.setItem(PASS, place);
  } catch {
    // Storage is blocked as well: it goes on until the frame is closed.
  }
}

// Where that has been tried in vain, and where its site has locked up the frame, it ends.
function elsewhere() {
  const fresh = "fresh" in frame.dataset;
  const tried = document.referrer.startsWith(`${location.origin}/embed/`);
  if (self.origin === "null" || !withoutCookies || (tried && !fresh)) return null;
  const place = fresh ? null : kept();
  return place?.startsWith("/embed/~") ? place : withoutCookies;
}

if ("byPass" in frame.dataset) {
  keep(home);
} else if ("unheard" in frame.dataset && !holdsCookies()) {
  const place = elsewhere();
  if (place) {
    location.replace(place);
  } else {
    document.getElementById("frame-refused").hidden = false;
    for (const form of document.forms) form.inert = true;
  }
}

// Most pages of others cannot be shown in a frame, and what is ours outside of frames never is.
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || !/^https?:$/.test(link.protocol)) return;
  // With its conversation, once there is one.
  if (link === frame) link.href = document.querySelector(".resume__link")?.href ?? "/";
  if (link.origin === location.origin && link.pathname.startsWith(home)) return;
  link.target = "_blank";
  link.relList.add("noopener");
});

// Keys that are pressed in here never reach the page around: it closes the panel.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing || event.defaultPrevented) return;
  parent.postMessage("ieim:close", "*");
});
