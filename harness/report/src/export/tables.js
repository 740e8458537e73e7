// Tables can be sorted by a click on a heading, or by Enter and the space bar where it has the focus.
"use strict";

/** What a cell is sorted by: its first number, or else its text; a date is a text, whose order is that of time. */
function key(cell) {
  const text = cell.textContent.trim();
  const number = parseFloat(text.replace(/[−–]/g, "-"));
  return Number.isNaN(number) || /^\d{4}-\d\d/.test(text) ? text.toLowerCase() : number;
}

/** Numbers before texts, empty cells last. */
function compare(a, b) {
  if (a === "" || b === "") return (a === "") - (b === "");
  if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
  return typeof a === "number" ? -1 : 1;
}

function sort(table, heading) {
  const column = heading.cellIndex;
  const descending = heading.getAttribute("aria-sort") === "ascending";
  const rows = [...table.tBodies[0].rows];
  const sign = descending ? -1 : 1;
  rows.sort((a, b) => {
    const [x, y] = [key(a.cells[column]), key(b.cells[column])];
    return x === "" || y === "" ? compare(x, y) : sign * compare(x, y);
  });
  table.tBodies[0].append(...rows);
  for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
}

/** Lets a click on a heading, or a key, sort a table. */
function makeSortable(table) {
  if (table.tBodies[0].rows.length < 2) return;
  for (const heading of table.tHead.rows[0].cells) {
    heading.tabIndex = 0;
    heading.title = "Sort by " + heading.textContent;
    heading.addEventListener("click", () => sort(table, heading));
    heading.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      sort(table, heading);
    });
  }
}

document.querySelectorAll("table").forEach(makeSortable);

/** Whether a row has every word of a text. */
function hasWords(row, text) {
  if (!text) return true;
  const own = row.textContent.toLowerCase();
  return text.toLowerCase().split(/\s+/).every((word) => own.includes(word));
}
