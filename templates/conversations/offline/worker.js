// Shows a page of the site's own where a citizen's page cannot be had.
const content = {{ content|safe }};
const cacheName = `ieim-offline-${content.version}`;

self.addEventListener("install", (event) => {
  const whole = [content.page, ...content.parts].map((path) => new Request(path, { cache: "reload" }));
  event.waitUntil(caches.open(cacheName).then((cache) => cache.addAll(whole)));
  self.skipWaiting();
});

self.addEventListener("activate", (event) => {
  const old = (name) => name.startsWith("ieim-offline-") && name !== cacheName;
  event.waitUntil(
    caches.keys().then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name)))),
  );
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname, href } = new URL(request.url);
  if (origin !== self.location.origin) return;
  if (request.mode === "navigate") {
    // A form that was posted is the browser's: it can send it again.
    if (request.method !== "GET" || !content.places.includes(pathname)) return;
    event.respondWith(fetch(request).catch(() => caches.match(content.page)));
  } else if (content.parts.includes(href.slice(origin.length))) {
    event.respondWith(fetch(request).catch(() => caches.match(request)));
  }
});
