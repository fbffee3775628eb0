"use strict";
(() => {
  const byId = (id) => document.getElementById(id);

  // A head sorts its table: numbers from the most to the least, words by the alphabet, and once more the other way.
  const order = new Intl.Collator("en", { numeric: true });
  const value = (row, at) => row.cells[at].textContent.trim();
  const number = (text) => Number(text.replace(/[,%]/g, ""));
  for (const table of document.querySelectorAll(".data")) {
    const heads = [...table.tHead.rows[0].cells];
    // On narrow screens a row with texts is a block of labelled lines; roles keep it a row of a table for a reader.
    if (heads.some((head, at) => at && !head.classList.contains("n"))) {
      table.classList.add("stacked");
      table.setAttribute("role", "table");
      for (const group of [table.tHead, table.tBodies[0]]) group.setAttribute("role", "rowgroup");
      for (const row of table.rows) row.setAttribute("role", "row");
      for (const head of heads) head.setAttribute("role", "columnheader");
      for (const row of table.tBodies[0].rows)
        [...row.cells].forEach((cell, at) => {
          cell.setAttribute("role", at ? "cell" : "rowheader");
          cell.dataset.label = heads[at].textContent;
        });
    }
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

  // The list of findings: choices are the values of its columns.
  const filters = document.querySelector(".filters");
  if (filters) {
    filters.hidden = false;
    const listing = [...byId("listing").tBodies[0].rows], wanted = byId("wanted");
    const choices = [...filters.querySelectorAll("select")];
    for (const choice of choices)
      for (const name of new Set(listing.map((row) => value(row, choice.dataset.column))))
        choice.add(new Option(name, name));
    const choose = () => {
      const text = wanted.value.trim().toLowerCase();
      let count = 0;
      for (const row of listing) {
        const shown = row.textContent.toLowerCase().includes(text) &&
          choices.every((choice) => !choice.value || value(row, choice.dataset.column) === choice.value);
        row.classList.toggle("out", !shown);
        if (shown) count += 1;
      }
      byId("listed").textContent = `${count.toLocaleString("en")} of ${listing.length.toLocaleString("en")}`;
    };
    filters.addEventListener("input", choose);
    choose();
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
