"use strict";
(() => {
  const byId = (id) => document.getElementById(id);

  // A head sorts its table: numbers from the most to the least, words by the alphabet, and once more the other way.
  const order = new Intl.Collator("en", { numeric: true });
  const value = (row, at) => row.cells[at].textContent.trim();
  const number = (text) => Number(text.replace(/[,%]/g, ""));
  for (const table of document.querySelectorAll(".data")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, at) => {
      if (!head.textContent || table.tBodies[0].rows.length < 2) return;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = head.textContent;
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const numbers = head.classList.contains("n");
        const first = numbers ? "descending" : "ascending";
        const wanted = head.getAttribute("aria-sort") !== first ? first : numbers ? "ascending" : "descending";
        const sign = wanted === "ascending" ? 1 : -1;
        const compare = numbers
          ? (a, b) => number(value(a, at)) - number(value(b, at))
          : (a, b) => order.compare(value(a, at), value(b, at));
        const rows = [...table.tBodies[0].rows].sort((a, b) => sign * compare(a, b));
        table.tBodies[0].append(...rows);
        heads.forEach((each) => each.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", wanted);
      });
    });
  }

  const find = byId("find"), found = byId("found");
  const rows = [...document.querySelectorAll(".data tbody tr, .page")];
  const search = () => {
    const wanted = find.value.trim().toLowerCase();
    let count = 0;
    for (const row of rows) {
      const text = row.tagName === "DETAILS" ? row.firstElementChild.textContent : row.textContent;
      const here = text.toLowerCase().includes(wanted);
      row.classList.toggle("gone", !here);
      if (here) count += 1;
    }
    found.textContent = wanted ? `${count} of ${rows.length} rows` : "";
  };
  find.addEventListener("input", search);
  find.addEventListener("keydown", (event) => { if (event.key === "Escape") { find.value = ""; search(); } });
})();
