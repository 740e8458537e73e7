
// Scales, numbers and elements of charts.

/** The range of some values, with a margin. */
function span(values) {
  const low = values.reduce((a, b) => Math.min(a, b), Infinity);
  const high = values.reduce((a, b) => Math.max(a, b), -Infinity);
  if (!Number.isFinite(low)) return [0, 1];
  const margin = 0.04 * (high - low) || 0.1 * Math.abs(high) || 1;
  return [low - margin, high + margin];
}

/** Places of labels on a scale, at most so many or a few more; on a logarithmic scale as logarithms. */
function ticks(low, high, log, most) {
  const isInside = (at) => at >= low && at <= high;
  if (!log) {
    const power = 10 ** Math.floor(Math.log10((high - low) / most));
    const step = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= (high - low) / most);
    const first = Math.ceil(low / step);
    return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, i) => (first + i) * step);
  }
  const all = [];
  for (let decade = Math.floor(low); decade <= high; decade++) {
    for (const factor of high - low < 2 ? [1, 2, 5] : [1]) all.push(decade + Math.log10(factor));
  }
  const inside = all.filter(isInside);
  if (inside.length < 2) return ticks(10 ** low, 10 ** high, false, most).filter((at) => at > 0).map(Math.log10).filter(isInside);
  const every = Math.ceil(inside.length / most);
  return inside.filter((_, i) => i % every === 0);
}

/** Labels of places on a scale, in the fewest digits, from three on, that tell them from each other and are not far off. */
function labelsOf(values) {
  const gaps = values.slice(1).map((value, i) => Math.abs(value - values[i]));
  const nearest = gaps.length > 0 ? Math.min(...gaps) : Math.abs(values[0] ?? 0);
  const labels = (digits) => values.map((value) => words(value, digits));
  const isNear = (label, i) => Math.abs(Number(label) - values[i]) <= 0.01 * nearest;
  const enough = [3, 4, 5, 6, 7, 8, 9, 10, 11].find((digits) => labels(digits).every(isNear));
  return labels(enough ?? 12);
}

/** A number in at most so many digits. */
function words(value, digits) {
  const rounded = Number(value.toPrecision(digits));
  const isPlain = rounded === 0 || (Math.abs(rounded) >= 1e-3 && Math.abs(rounded) < 1e5);
  return (isPlain ? String(rounded) : rounded.toExponential()).replace("+", "");
}

function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function append(parent, tag, attributes = {}, text = "") {
  const element = setAll(document.createElement(tag), attributes);
  element.textContent = text;
  parent.append(element);
  return element;
}

function appendSvg(parent, tag, attributes = {}, text = "") {
  const element = setAll(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes);
  element.textContent = text;
  parent.append(element);
  return element;
}
