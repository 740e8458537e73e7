
// The choices of a chart: problem, axes, machine and scales.

/** Makes the controls of a chart in an element; they call `zoom(0)` after a change, and with a factor on request. */
function controls(root, data, zoom) {
  const bar = append(root, "div", { class: "controls" });
  // By their texts, which stay the same in a later site.
  const named = (texts) => texts.map((text) => [text, text]);
  const [settings, machines] = [data.settings, data.machines.map(([label]) => label)];
  const changed = (name, value) => {
    choose(name, value);
    // Another metric or clock has a scale of its own.
    if (name === "x" || name === "y") for (const scale of ["logx", "logy"]) choose(scale, "");
    zoom(0);
  };
  const all = {
    setting: selection(bar, "setting", "Problem", named(settings), settings[mostCases(data, 1)], changed),
    y: selection(bar, "y", "Vertical axis", data.metrics, firstMetric(data), changed),
    x: selection(bar, "x", "Horizontal axis", data.clocks, "epochs", changed),
    machine: selection(bar, "timed", "Seconds of", named(machines), machines[mostCases(data, 3)], changed),
    logX: checkBox(bar, "logx", "log x", changed),
    logY: checkBox(bar, "logy", "log y", changed),
  };
  for (const [text, factor] of [["Zoom in", 0.5], ["Zoom out", 2], ["Whole chart", 0]]) {
    append(bar, "button", { type: "button" }, text).addEventListener("click", () => zoom(factor));
  }
  return all;
}

/** The metric that is shown first: one that cases have along their way, of these one that spans decades. */
function firstMetric({ metrics, traced }) {
  const along = traced.map((place) => metrics[place]);
  return (along.find(([, , isLog]) => isLog) ?? along[0] ?? metrics[0])[0];
}

/** The problem or machine, by its place in a series, that has the most cases. */
function mostCases(data, place) {
  const counts = {};
  for (const { series } of data.cases) {
    const number = data.series[series][place];
    counts[number] = (counts[number] ?? 0) + 1;
  }
  return Object.keys(counts).sort((a, b) => counts[b] - counts[a])[0];
}

function selection(bar, name, label, options, preset, changed) {
  const select = append(append(bar, "label", {}, label), "select");
  for (const [value, text] of options) append(select, "option", { value }, text);
  const value = [state.get(name), preset].find((value) => options.some(([known]) => known === value));
  if (value !== undefined) select.value = value;
  select.parentElement.hidden = options.length < 2;
  select.addEventListener("change", () => changed(name, select.value));
  return select;
}

function checkBox(bar, name, text, changed) {
  const label = append(bar, "label", { class: "check" });
  const box = append(label, "input", { type: "checkbox" });
  label.append(text);
  box.addEventListener("change", () => changed(name, box.checked ? "1" : "0"));
  return box;
}
