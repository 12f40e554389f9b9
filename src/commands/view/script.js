// Live pages, search while typing, and keys. Every page works without it.
"use strict";
(() => {
  const main = document.querySelector("main");
  const form = document.querySelector("form");
  const rows = () => [...main.querySelectorAll("ul > li > a:first-child, tbody th a")];
  let events, search, wait;

  // Replaces what has changed, so that a selection or the focus elsewhere stays.
  function show(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    const next = [...(page.querySelector("main") || page.body).children];
    const old = [...main.children];
    const focused = document.activeElement.getAttribute("href");
    next.forEach((part, at) => {
      if (!old[at]) main.append(part);
      else if (!old[at].isEqualNode(part)) old[at].replaceWith(part);
    });
    old.slice(next.length).forEach((part) => part.remove());
    if (focused && document.activeElement === document.body) {
      rows().find((row) => row.getAttribute("href") === focused)?.focus();
    }
  }

  // A hidden page needs no connection, of which a browser has few.
  function follow() {
    events?.close();
    if (main.dataset.live === undefined || document.hidden) return;
    events = new EventSource(location.href);
    events.onmessage = (event) => show(event.data);
    events.addEventListener("end", (event) => {
      events.close();
      delete main.dataset.live;
      show(event.data);
    });
  }

  async function find() {
    const given = [...new FormData(form)].filter(([, value]) => value);
    const address = form.getAttribute("action") + "?" + new URLSearchParams(given);
    search?.abort();
    search = new AbortController();
    try {
      const found = await fetch(address, { signal: search.signal });
      if (!found.ok) return;
      show(await found.text());
      history.replaceState(null, "", address);
      follow();
    } catch {
      // Another search has begun, or the server has ended.
    }
  }

  form?.addEventListener("input", () => {
    clearTimeout(wait);
    wait = setTimeout(find, 150);
  });

  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea");
    if (typing && event.key === "Escape") typing.blur();
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { j: 1, k: -1 }[event.key];
    if (event.key === "/" && form) {
      event.preventDefault();
      form.querySelector("input").focus();
    } else if (step) {
      const all = rows();
      const at = all.indexOf(document.activeElement);
      const next = at < 0 && step < 0 ? all.length - 1 : at + step;
      all[Math.max(0, Math.min(next, all.length - 1))]?.focus();
    }
  });

  document.addEventListener("visibilitychange", follow);
  follow();
})();
