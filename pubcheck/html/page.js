"use strict";
(() => {
  document.querySelector(".tools").hidden = false;

  // Dark and light: as the system has it until a choice is made.
  const theme = document.getElementById("theme");
  const dark = () => document.documentElement.dataset.theme
    ? document.documentElement.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const name = () => { theme.textContent = dark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => { document.documentElement.dataset.theme = dark() ? "light" : "dark"; name(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  name();

  // A link to a folded part opens it, and all that it lies in.
  const byHash = (hash) => hash && document.getElementById(decodeURIComponent(hash.slice(1)));
  const reveal = () => {
    const target = byHash(location.hash);
    if (!target) return;
    for (let node = target; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
    target.scrollIntoView();
    const summary = target.querySelector("summary");
    if (summary) summary.focus({ preventScroll: true });
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link && link.getAttribute("href") === location.hash) reveal();
  });
  reveal();

  // A button next to SQL copies it.
  const copied = (text) => navigator.clipboard ? navigator.clipboard.writeText(text) : new Promise((done, failed) => {
    const field = document.createElement("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    const success = document.execCommand("copy");
    field.remove();
    if (success) done(); else failed();
  });
  for (const code of document.querySelectorAll(".copied")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy this SQL");
    button.addEventListener("click", () => {
      copied(code.querySelector("code").textContent).then(
        () => { button.textContent = "Copied"; },
        () => { button.textContent = "Not copied"; },
      );
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    if (code.tagName === "PRE") code.before(button); else code.append(button);
  }

  // What is wider than its place fades out at the edges behind which there is more.
  for (const scroller of document.querySelectorAll(".scroll")) {
    const edges = () => {
      const rest = scroller.scrollWidth - scroller.clientWidth - scroller.scrollLeft;
      scroller.classList.toggle("more-left", scroller.scrollLeft > 1);
      scroller.classList.toggle("more-right", rest > 1);
    };
    scroller.addEventListener("scroll", edges, { passive: true });
    new ResizeObserver(edges).observe(scroller);
  }
})();
