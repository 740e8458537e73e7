// Tables can be sorted by a click on a heading, rows filtered by their words, and series of charts hidden by a click on their name
// in a legend. Without this script, the page is whole too.
"use strict";

/** What a cell is sorted by: its first number, or else its text. */
function key(cell) {
  const text = cell.textContent.trim();
  const number = parseFloat(text.replace(/[−–]/g, "-"));
  return Number.isNaN(number) ? text.toLowerCase() : number;
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

for (const table of document.querySelectorAll("table")) {
  if (table.tBodies[0].rows.length < 2) continue;
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

const filter = document.getElementById("filter");
filter.hidden = false;
filter.querySelector("input").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of document.querySelectorAll("tbody tr")) {
    const text = row.textContent.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
  }
});

const hidden = new Set();

/** Hides or shows a series in all charts, as their groups of elements tell. */
function toggle(name) {
  if (!hidden.delete(name)) hidden.add(name);
  showSeries();
}

function showSeries() {
  for (const group of document.querySelectorAll("g[data-series]")) {
    const off = hidden.has(group.dataset.series);
    if (group.classList.contains("series")) {
      group.style.display = off ? "none" : "";
    } else {
      group.classList.toggle("off", off);
      group.setAttribute("aria-pressed", String(!off));
    }
  }
  showAll.hidden = hidden.size === 0;
}

const showAll = document.getElementById("show-all");
for (const entry of document.querySelectorAll("g.entry")) {
  const name = entry.dataset.series;
  entry.closest("[role=img]")?.setAttribute("role", "group");
  entry.setAttribute("role", "button");
  entry.setAttribute("aria-pressed", "true");
  entry.setAttribute("tabindex", "0");
  entry.addEventListener("click", () => toggle(name));
  entry.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    toggle(name);
  });
}
showAll?.addEventListener("click", () => {
  hidden.clear();
  showSeries();
});
for (const hint of document.querySelectorAll(".needs-script")) hint.hidden = false;
