
// The start of a page: its content, its chart, and the filters of its address.

const OLD_BROWSER =
  "This page is compressed, and this browser cannot decompress it. Chromium 80, Firefox 113, Safari 16.4 and later ones can.";

/** Puts the content of a page into its place, where it is packed. */
async function unpack() {
  const [main, content] = ["main", "content"].map((id) => document.getElementById(id));
  if (!content) return;
  main.innerHTML = await textOf(content);
  content.remove();
  main.querySelectorAll("table").forEach(makeSortable);
  // The browser has looked for the place in the address before it was there.
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

/** Draws the chart, where the page has one. */
async function drawChart() {
  const cases = document.getElementById("cases");
  if (!cases) return;
  const data = JSON.parse(await textOf(cases));
  const root = document.getElementById("chart");
  root.hidden = false;
  new LiveChart(root, { ...data, cases: casesOf(data) });
}

async function start() {
  const isPacked = document.querySelector("[data-packed]") !== null;
  if (isPacked && !("DecompressionStream" in window)) {
    const main = document.getElementById("main");
    main.prepend(append(main, "p", { role: "alert" }, OLD_BROWSER));
  } else {
    await unpack();
    await drawChart();
  }
  findRows();
  applyFilters();
  document.documentElement.dataset.ready = "";
  performance.mark("ready");
}

// After the first view of the page.
requestAnimationFrame(() => setTimeout(start));
