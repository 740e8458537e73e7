
// Filters of rows and cases. The choices stand in the address of the page, so that a link shows the same again.

/** The choices of a page, by name: those of its filters and of its chart. */
const state = new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");

/** Sets a choice to some values, or removes it where there are none or an empty one, and writes all into the address. Each value
 * is encoded by itself, so that any text may be in it. */
function choose(name, ...values) {
  state.delete(name);
  for (const value of values) if (value) state.append(name, value);
  const hash = state.toString();
  try {
    history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search);
  } catch {
    // Browsers refuse a hundred changes in half a minute, as by a wheel; the next one writes all choices.
  }
}

addEventListener("hashchange", () => {
  if (location.hash.includes("=")) location.reload();
});

const filters = document.getElementById("filters");

/** The lists among the filters, in the order of the facets of a row. */
const LISTS = ["dataset", "solver", "machine", "threads"];

/** What the filters ask for: a place in each list, the first and the last day, and words; "" asks for nothing. */
function wishes() {
  const { from, to, words } = filters.elements;
  const place = (name) => filters.elements[name]?.selectedOptions[0]?.dataset.at ?? "";
  return { places: LISTS.map(place), from: from?.value, to: to?.value, words: words.value };
}

/** Facets from their text: places in the lists, then the first and the last day, as in `0,1;2;0;1;2026-01-01/2026-01-02`. */
function facetsOf(text) {
  const parts = text.split(";");
  const [first, last] = parts[LISTS.length].split("/");
  return { lists: parts.slice(0, LISTS.length).map((part) => part.split(",")), first, last: last ?? first };
}

/** Whether a row or a case of these facets is asked for. */
function isWanted({ lists, first, last }, { places, from, to }) {
  const isPlace = (place, i) => place === "" || lists[i].includes(place);
  return places.every(isPlace) && (!from || last >= from) && (!to || first <= to);
}

/** The rows of all tables, with their facets. */
let rows = [];

/** Finds the rows of the page, when its content is in place. */
function findRows() {
  rows = [...document.querySelectorAll("tbody tr")].map((row) => {
    const text = row.dataset.facets;
    return { row, facets: text ? facetsOf(text) : null };
  });
}

/** Shows the rows that are asked for, and hides tables without any. The chart listens to `filtered`. */
function applyFilters() {
  const wanted = wishes();
  for (const { row, facets } of rows) row.hidden = !((!facets || isWanted(facets, wanted)) && hasWords(row, wanted.words));
  for (const block of document.querySelectorAll(".block")) {
    const own = [...block.querySelectorAll("tr[data-facets]")];
    block.classList.toggle("empty", own.length > 0 && own.every((row) => row.hidden));
  }
  const shown = rows.filter(({ row }) => !row.hidden).length;
  filters.querySelector("output").textContent = `${shown} of ${rows.length} rows of tables are shown.`;
  document.dispatchEvent(new CustomEvent("filtered", { detail: wanted }));
}

for (const field of filters.elements) {
  if (!field.name) continue;
  if (state.has(field.name)) field.value = state.get(field.name);
  // The list has no such name.
  if (field.selectedIndex < 0) field.selectedIndex = 0;
  field.addEventListener("input", () => {
    choose(field.name, field.value);
    applyFilters();
  });
}
filters.addEventListener("submit", (event) => event.preventDefault());
filters.addEventListener("reset", () => {
  for (const { name } of filters.elements) if (name) choose(name, "");
  // The fields are empty after this event.
  setTimeout(applyFilters);
});
filters.hidden = false;
