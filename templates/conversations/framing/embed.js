// Opens the public services assistant on this page: a button, and a panel with a frame.
// Nothing is asked of its site before somebody presses the button.
(() => {
  "use strict";

  const settings = {% autoescape off %}{{ script_settings }}{% endautoescape %};
  const script = document.currentScript;
  if (!script) return console.error("IEIM: load embed.js by an ordinary script tag.");
  const site = new URL(script.src).origin;

  if (!settings.sites.includes(location.origin)) {
    console.error(`IEIM: ${location.origin} is not among the other sites in the settings of ${site}.`);
    return;
  }

  function wordsOf(language) {
    const [code] = language.toLowerCase().split("-");
    return settings.words[code === "tl" ? "fil" : code];
  }

  const around = script.closest("[lang]") ?? document.documentElement;
  const words =
    wordsOf(script.dataset.language ?? "") ?? wordsOf(around.lang) ?? Object.values(settings.words)[0];

  function make(name, properties) {
    return Object.assign(document.createElement(name), properties);
  }

  const style = new CSSStyleSheet();
  style.replaceSync(`
    :host { all: initial; }
    * { box-sizing: border-box; font: 1rem/1.4 system-ui, sans-serif; }
    button { min-height: 2.75rem; padding: .5rem 1.25rem; border: 2px solid transparent; color: #fff;
      background: ${settings.colour}; cursor: pointer; }
    button:hover { text-decoration: underline; }
    :focus-visible { outline: 3px solid #ffd43b; outline-offset: 0; box-shadow: 0 0 0 6px #16232b; }
    .open { position: fixed; z-index: 2147483000; inset-block-end: 1rem; inset-inline-end: 1rem;
      max-inline-size: calc(100vw - 2rem); border-radius: 1.5rem; font-weight: 600;
      box-shadow: 0 2px 12px rgb(0 0 0 / 35%); }
    .open:focus-visible { box-shadow: 0 0 0 6px #16232b; }
    dialog[open] { position: fixed; z-index: 2147483000; inset: auto; inset-block-end: 1rem;
      inset-inline-end: 1rem; display: flex; flex-direction: column; inline-size: 26rem;
      block-size: min(44rem, 100vh - 2rem); max-inline-size: none; max-block-size: none; margin: 0;
      padding: 0; border: 2px solid ${settings.colour}; border-radius: .75rem; overflow: hidden;
      background: #fff; box-shadow: 0 4px 32px rgb(0 0 0 / 35%); }
    .bar { display: flex; gap: 1rem; align-items: center; justify-content: space-between;
      padding-inline-start: 1rem; color: #fff; background: ${settings.colour}; }
    .bar p { margin: 0; font-weight: 600; }
    .bar :focus-visible { outline-offset: -3px; box-shadow: inset 0 0 0 6px #16232b; }
    iframe { flex: 1; inline-size: 100%; min-block-size: 0; border: 0; background: Canvas; }
    @media (max-width: 40rem), (max-height: 30rem) {
      dialog[open] { inset: 0; inline-size: 100%; block-size: 100%; border: 0; border-radius: 0; }
    }
    @media (prefers-reduced-motion: no-preference) {
      dialog[open] { animation: come .15s ease-out; }
      @keyframes come { from { opacity: 0; transform: translateY(1rem); } }
    }
    @media (forced-colors: active) { button { border-color: ButtonText; } }
    @media print { :host { display: none; } }
  `);

  const host = make("aside", { lang: words.language, dir: words.direction });
  host.setAttribute("aria-label", words.ask);
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [style];

  const open = make("button", { type: "button", className: "open", textContent: words.ask });
  open.setAttribute("aria-haspopup", "dialog");
  const panel = make("dialog", { tabIndex: -1 });
  panel.setAttribute("aria-label", words.ask);
  const bar = make("div", { className: "bar" });
  const close = make("button", { type: "button", textContent: words.close });
  bar.append(make("p", { textContent: words.ask }), close);
  panel.append(bar);
  root.append(open, panel);

  let frame = null;
  // Where it covers the whole page nothing behind it may have the focus; elsewhere one reads on.
  const covering = matchMedia("(max-width: 40rem), (max-height: 30rem)");

  function show() {
    if (panel.open) panel.close();
    if (covering.matches) panel.showModal();
    else panel.show();
  }

  open.addEventListener("click", () => {
    if (!frame) {
      const src = `${site}/embed/?language=${words.language}`;
      frame = make("iframe", { title: words.ask, referrerPolicy: "no-referrer", src });
      panel.append(frame);
    }
    open.hidden = true;
    show();
    panel.focus();
  });

  function shut() {
    if (panel.open) panel.close();
    open.hidden = false;
    open.focus();
  }

  close.addEventListener("click", shut);
  panel.addEventListener("cancel", (event) => {
    event.preventDefault();
    shut();
  });
  panel.addEventListener("keydown", (event) => {
    if (event.key === "Escape") shut();
  });
  // Escape within the frame, which no key leaves.
  addEventListener("message", (event) => {
    if (!frame || event.source !== frame.contentWindow || event.origin !== site) return;
    if (event.data === "ieim:close" && panel.open) shut();
  });
  covering.addEventListener("change", () => panel.open && show());

  const put = () => document.body.append(host);
  if (document.body) put();
  else document.addEventListener("DOMContentLoaded", put);
})();
