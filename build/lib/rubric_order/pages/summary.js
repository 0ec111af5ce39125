"use strict";
// Sorting and searching of the table of judges; details open for print. Without it all rows and sections are there.
const table = document.querySelector("table.judges");
if (table) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const search = document.getElementById("search");
  const count = document.getElementById("count");
  const rows = [...body.rows];
  const value = (row, place) => {
    const cell = row.cells[place];
    return "sort" in cell.dataset ? (cell.dataset.sort === "" ? NaN : Number(cell.dataset.sort)) : cell.textContent.trim();
  };
  const compare = (one, other) => {
    if (typeof one === "string") return one.localeCompare(other);
    return one - other;
  };
  heads.forEach((head, place) => {
    const button = head.querySelector("button");
    if (!button) return;
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const missing = (row) => Number.isNaN(value(row, place));
      rows
        .slice()
        .sort((one, other) => {
          if (missing(one) || missing(other)) return missing(one) - missing(other); // last, either way
          return (down ? -1 : 1) * compare(value(one, place), value(other, place));
        })
        .forEach((row) => body.append(row));
    });
  });
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      const fits = words.every((word) => text.includes(word));
      row.hidden = !fits;
      const card = document.getElementById(row.dataset.card);
      if (card) card.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${rows.length}`;
  });
  document.getElementById("find").hidden = false;
}
let closed = [];
window.addEventListener("beforeprint", () => {
  closed = [...document.querySelectorAll("details:not([open])")];
  closed.forEach((part) => { part.open = true; });
});
window.addEventListener("afterprint", () => closed.forEach((part) => { part.open = false; }));
