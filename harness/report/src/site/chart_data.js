
// The data of a chart: its cases, which the page has as columns of numbers.

/** The text of a block of the page; the browser decompresses one that is packed (zlib, in base64). */
async function textOf(block) {
  if (block.dataset.packed === undefined) return block.textContent;
  const bytes = Uint8Array.from(atob(block.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

/** The cases of a page, each with its points: those along its way, then its end. A point has all clocks, then all metrics; null is
 * a number that is not known. */
function casesOf({ clocks, metrics, traced, cases, along, ends }) {
  const all = Array.from({ length: clocks.length + metrics.length }, (_, place) => place);
  const placesAlong = [...all.slice(0, clocks.length), ...traced.map((metric) => clocks.length + metric)];
  const pointOf = (columns, places, row) => {
    const point = all.map(() => null);
    places.forEach((place, i) => (point[place] = columns[i][row]));
    return point;
  };
  let [row, end] = [0, 0];
  return cases.id.map((id, i) => {
    const points = Array.from({ length: cases.along[i] }, () => pointOf(along, placesAlong, row++));
    if (cases.ends[i]) points.push(pointOf(ends, all, end++));
    return { id, series: cases.series[i], seed: cases.seed[i], points };
  });
}
