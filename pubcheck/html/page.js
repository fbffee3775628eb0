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
})();
