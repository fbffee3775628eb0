"use strict";

// Tables that the theme lets scroll can be scrolled by keyboard too.
new MutationObserver(() => {
  for (const wrapper of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
    if (wrapper.scrollWidth > wrapper.clientWidth) wrapper.tabIndex = 0;
  }
}).observe(document.body, { childList: true, subtree: true });

// The filter above the tables of the rules: by words, severity, phase and version.
(() => {
  const box = document.getElementById("rule-filter");
  if (!box) return;
  const [SEVERITY, PHASE, VERSIONS] = [1, 2, 3];
  const rows = [...document.querySelectorAll(".rules tbody tr")].map((row) => ({
    row,
    cells: [...row.cells].map((cell) => cell.textContent.trim()),
    words: row.textContent.toLowerCase(),
  }));
  const severity = (cells) => cells[SEVERITY].split(",")[0];
  const holds = (versions, major) => {
    const [first, last] = versions.match(/\d+/g).map(Number);
    return major >= first && major <= (versions.includes("later") ? Infinity : (last ?? first));
  };
  const field = (text, control) => {
    const label = document.createElement("label");
    label.append(text, control);
    box.append(label);
    control.addEventListener("input", filter);
    return control;
  };
  const choice = (text, values) => {
    const select = document.createElement("select");
    select.append(new Option("all", ""), ...[...new Set(values)].map((value) => new Option(value, value)));
    return field(text, select);
  };
  const words = field("Words", Object.assign(document.createElement("input"), { type: "search" }));
  const severities = choice("Severity", rows.map(({ cells }) => severity(cells)));
  const phases = choice("Phase", rows.map(({ cells }) => cells[PHASE]));
  const majors = choice("PostgreSQL", rows.flatMap(({ cells }) => cells[VERSIONS].match(/\d+/g)).map(Number).sort());
  const count = document.createElement("output");
  box.append(count);

  function filter() {
    const wanted = words.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const { row, cells, words: text } of rows) {
      row.hidden = !(
        wanted.every((word) => text.includes(word)) &&
        (!severities.value || severity(cells) === severities.value) &&
        (!phases.value || cells[PHASE] === phases.value) &&
        (!majors.value || holds(cells[VERSIONS], Number(majors.value)))
      );
      shown += !row.hidden;
    }
    for (const section of document.querySelectorAll(".rules")) {
      const empty = [...section.querySelectorAll("tbody tr")].every((row) => row.hidden);
      section.hidden = empty;
      section.previousElementSibling.hidden = empty;
    }
    count.textContent = `${shown} of ${rows.length} rules`;
  }
  filter();
})();
