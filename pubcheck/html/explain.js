"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const sections = [...document.querySelectorAll(".publication")];

  const open = byId("open");
  const label = () => { open.textContent = sections.every((section) => section.open) ? "Close all" : "Open all"; };
  open.addEventListener("click", () => {
    const all = !sections.every((section) => section.open);
    for (const section of sections) section.open = all;
    label();
  });
  document.addEventListener("toggle", label, true);
  label();

  // Finding: whatever of a section's text, its folded names too.
  const find = byId("find"), found = byId("found");
  let waiting = 0;
  const parts = (answer) => [answer, ...[...answer.querySelectorAll("a.list")].map((link) => byId(link.hash.slice(1)))];
  const search = () => {
    const wanted = find.value.trim().toLowerCase();
    let number = 0;
    for (const section of sections) {
      const answers = [...section.querySelectorAll(".answer")];
      const whole = !wanted || section.querySelector("summary").textContent.toLowerCase().includes(wanted);
      let any = whole;
      for (const answer of answers) {
        const here = whole || parts(answer).some((part) => part.textContent.toLowerCase().includes(wanted));
        answer.classList.toggle("gone", !here);
        any = any || here;
      }
      section.classList.toggle("gone", !any);
      if (any) number += 1;
      if (any && wanted && !whole) section.open = true;
    }
    found.textContent = wanted ? `${number} of ${sections.length}` : "";
  };
  find.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 120); });
  find.addEventListener("keydown", (event) => { if (event.key === "Escape") { find.value = ""; search(); } });

  // Pointing at a publication, or reaching it by keyboard, lights what belongs to it.
  for (const drawing of document.querySelectorAll(".drawing")) {
    const parts = [...drawing.querySelectorAll("[data-box]")];
    const light = (box) => {
      drawing.classList.toggle("pointed", box !== null);
      for (const part of parts) part.classList.toggle("lit", part.dataset.box === box);
    };
    for (const part of parts) {
      part.addEventListener("mouseenter", () => light(part.dataset.box));
      part.addEventListener("mouseleave", () => light(null));
      part.addEventListener("focus", () => light(part.dataset.box));
      part.addEventListener("blur", () => light(null));
    }
  }
})();
