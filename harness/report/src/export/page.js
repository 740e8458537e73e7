// Rows can be filtered by their words, and series of charts hidden by a click on their name in a legend. Without this script and
// tables.js, which comes before it, the page is whole too.

const filter = document.getElementById("filter");
filter.hidden = false;
filter.querySelector("input").addEventListener("input", (event) => {
  for (const row of document.querySelectorAll("tbody tr")) row.hidden = !hasWords(row, event.target.value);
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
