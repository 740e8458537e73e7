
// The chart of a data set: a metric of each case against seconds, epochs or iterations, with a choice of axes, zoom, and the
// value, seed and case of each point. Seconds are those of one kind of machine.

class Chart {
  constructor(root, data) {
    this.root = root;
    this.data = data;
    for (const series of data.series) series[4] = facetsOf(series[4]);
    this.off = new Set(state.getAll("off"));
    this.wanted = wishes();
    Object.assign(this, controls(root, data, (factor) => this.zoom(factor)));
    this.makePlot();
    const pinned = data.cases.find((item) => this.nameOf(item) === state.get("case"));
    if (pinned) {
      const [, setting, , machine] = data.series[pinned.series];
      this.setting.selectedIndex = setting;
      this.machine.selectedIndex = machine;
    }
    document.addEventListener("filtered", (event) => {
      this.wanted = event.detail;
      this.draw();
    });
    const redraw = () => this.plot.clientWidth === this.width || this.draw();
    new ResizeObserver(() => requestAnimationFrame(redraw)).observe(this.plot);
  }

  makePlot() {
    const figure = append(this.root, "figure");
    this.plot = append(figure, "div", { class: "plot" });
    this.svg = appendSvg(this.plot, "svg", {
      tabindex: 0,
      role: "application",
      "aria-roledescription": "chart",
      "aria-label": "Arrows go from point to point and from case to case; plus, minus and 0 zoom; Enter keeps a point.",
    });
    this.tip = append(this.plot, "div", { class: "tip", hidden: "" });
    this.series = append(figure, "ul", { class: "series", "aria-label": "Solvers in the chart" });
    this.note = append(figure, "p", { class: "note" });
    this.status = append(figure, "p", { class: "note", role: "status" });
  }

  // Lines and scales.

  /** The lines that are asked for, each with its points on the chosen axes. */
  chosenLines() {
    const { data } = this;
    const x = data.clocks.findIndex(([name]) => name === this.x.value);
    const y = data.clocks.length + data.metrics.findIndex(([name]) => name === this.y.value);
    const isTimed = this.x.value === "seconds";
    const lines = [];
    this.names = new Set();
    for (const item of data.cases) {
      const [solver, setting, , machine, facets] = data.series[item.series];
      if (setting !== this.setting.selectedIndex || !isWanted(facets, this.wanted)) continue;
      if (isTimed && machine !== this.machine.selectedIndex) continue;
      const all = item.points.map((point) => [point[x], point[y]]);
      const points = all.filter(([a, b]) => a !== null && b !== null);
      if (points.length === 0) continue;
      this.names.add(solver);
      if (!this.off.has(data.solvers[solver][0])) lines.push({ item, solver, points });
    }
    return lines;
  }

  /** Whether an axis is logarithmic: as chosen, else where the metric says so and values allow it. */
  isLog(name, box, preset, values) {
    const isPositive = values.some((value) => value > 0);
    box.checked = isPositive && (state.has(name) ? state.get(name) === "1" : preset);
    box.disabled = !isPositive;
    return box.checked;
  }

  layOut() {
    this.lines = this.chosenLines();
    const each = (i) => this.lines.flatMap((line) => line.points.map((point) => point[i]));
    const [xs, ys] = [each(0), each(1)];
    const metric = this.data.metrics.find(([name]) => name === this.y.value);
    const log = [this.isLog("logx", this.logX, this.x.value === "seconds", xs), this.isLog("logy", this.logY, metric[2], ys)];
    this.scale = log.map((isLog) => (value) => (isLog ? Math.log10(value) : value));
    this.log = log;
    const isOn = (value, i) => !log[i] || value > 0;
    for (const line of this.lines) line.points = line.points.filter((point) => point.every(isOn));
    this.lines = this.lines.filter((line) => line.points.length > 0);
    this.leftOut = xs.length - each(0).length;
    this.whole = [0, 1].map((i) => span(each(i).map(this.scale[i])));
    const zoomed = (state.get("zoom") ?? "").split(",").map(Number);
    const view = [zoomed.slice(0, 2), zoomed.slice(2)];
    this.view = zoomed.length === 4 && this.canShow(view) ? view : this.whole;
    this.width = this.plot.clientWidth;
    this.box = { left: 66, top: 8, right: Math.max(300, this.width) - 12, bottom: 380 };
  }

  /** The place of a point in the drawing. */
  place([x, y]) {
    const { left, top, right, bottom } = this.box;
    const share = (value, i) => (this.scale[i](value) - this.view[i][0]) / (this.view[i][1] - this.view[i][0]);
    return [left + share(x, 0) * (right - left), bottom - share(y, 1) * (bottom - top)];
  }

  /** The values on the scales of a place in the drawing. */
  valueAt([x, y]) {
    const { left, top, right, bottom } = this.box;
    const shares = [(x - left) / (right - left), (bottom - y) / (bottom - top)];
    return shares.map((share, i) => this.view[i][0] + share * (this.view[i][1] - this.view[i][0]));
  }

  // Drawing.

  draw() {
    this.layOut();
    this.hideTip();
    const { left, top, right, bottom } = this.box;
    this.svg.replaceChildren();
    this.svg.setAttribute("viewBox", `0 0 ${right + 12} ${bottom + 48}`);
    const clip = appendSvg(appendSvg(this.svg, "clipPath", { id: "inside" }), "rect");
    setAll(clip, { x: left, y: top, width: right - left, height: bottom - top });
    this.drawAxis(0, Math.max(2, Math.floor((right - left) / 90)));
    this.drawAxis(1, 7);
    const inside = appendSvg(this.svg, "g", { "clip-path": "url(#inside)" });
    for (const line of this.lines) this.drawLine(inside, line);
    this.drawSeries();
    const isTimed = this.x.value === "seconds";
    this.machine.parentElement.hidden = !isTimed || this.data.machines.length < 2;
    const notes = isTimed ? [`Only cases that ran on: ${this.machine.value}.`] : [];
    if (this.leftOut > 0) notes.push(`A logarithmic axis shows positive numbers alone; points left out: ${this.leftOut}.`);
    this.note.textContent = notes.join(" ");
    if (this.lines.length === 0) {
      const why = this.names.size > 0 && this.leftOut === 0 ? "All of these solvers are switched off." : "No case has these numbers.";
      appendSvg(this.svg, "text", { x: left + 12, y: top + 24, fill: "#59636E" }, why);
    }
    const kept = this.lines.find((line) => this.nameOf(line.item) === state.get("case"));
    if (kept) this.pin(kept, keptPoint(kept.points.length - 1));
    else if (state.has("case")) this.unpin();
  }

  drawAxis(i, most) {
    const { left, top, right, bottom } = this.box;
    const [low, high] = this.view[i];
    const places = ticks(low, high, this.log[i], most);
    const labels = labelsOf(places.map((at) => (this.log[i] ? 10 ** at : at)));
    for (const [k, at] of places.entries()) {
      const share = (at - low) / (high - low);
      const label = labels[k];
      if (i === 0) {
        const x = left + share * (right - left);
        appendSvg(this.svg, "line", { x1: x, x2: x, y1: top, y2: bottom, stroke: "#DEE2E7" });
        appendSvg(this.svg, "text", { x, y: bottom + 18, "text-anchor": "middle", fill: "#59636E" }, label);
      } else {
        const y = bottom - share * (bottom - top);
        appendSvg(this.svg, "line", { x1: left, x2: right, y1: y, y2: y, stroke: "#DEE2E7" });
        appendSvg(this.svg, "text", { x: left - 8, y: y + 4, "text-anchor": "end", fill: "#59636E" }, label);
      }
    }
    const title = (i === 0 ? this.x : this.y).selectedOptions[0].textContent;
    const middle = (top + bottom) / 2;
    const where = i === 0
      ? { x: (left + right) / 2, y: bottom + 40 }
      : { x: 14, y: middle, transform: `rotate(-90 14 ${middle})` };
    appendSvg(this.svg, "text", { ...where, "text-anchor": "middle", fill: "#1F2328" }, title);
  }

  drawLine(parent, line) {
    const places = line.points.map((point) => this.place(point));
    const look = this.look(line.solver);
    line.element = appendSvg(parent, "g");
    const path = places.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
    appendSvg(line.element, "path", { d: path, class: "path", ...look });
    const [x, y] = places[places.length - 1];
    appendSvg(line.element, "circle", { cx: x, cy: y, r: 3.5, fill: look.stroke });
  }

  /** Colour and dashes of a solver. */
  look(solver) {
    const { colours } = this.data;
    const dashes = ["none", "6 3", "2 3", "8 3 2 3"];
    return { stroke: colours[solver % colours.length], "stroke-dasharray": dashes[Math.floor(solver / colours.length) % dashes.length] };
  }

  drawSeries() {
    const focused = document.activeElement?.dataset.solver;
    this.series.replaceChildren();
    for (const solver of [...this.names].sort((a, b) => a - b)) {
      const name = this.data.solvers[solver][0];
      const button = append(append(this.series, "li"), "button", { type: "button", "aria-pressed": !this.off.has(name), "data-solver": name });
      const sample = appendSvg(button, "svg", { viewBox: "0 0 26 8", "aria-hidden": true });
      appendSvg(sample, "line", { x1: 0, x2: 26, y1: 4, y2: 4, "stroke-width": 3, ...this.look(solver) });
      button.append(name);
      button.addEventListener("click", () => this.toggle(name));
      if (name === focused) button.focus();
    }
  }

  toggle(name) {
    if (!this.off.delete(name)) this.off.add(name);
    choose("off", ...this.off);
    this.draw();
  }

  // Points.

  /** The nearest point to a place, within some pixels. */
  nearest([x, y]) {
    let best = null;
    let least = 30 ** 2;
    for (const line of this.lines) {
      line.points.forEach((point, i) => {
        const [px, py] = this.place(point);
        const distance = (px - x) ** 2 + (py - y) ** 2;
        if (distance < least) [best, least] = [{ line, i }, distance];
      });
    }
    return best;
  }

  /** What is known of a point, line by line. */
  tell(line, i) {
    const { series, seed, id } = line.item;
    const [, , run, machine, , label] = this.data.series[series];
    const [x, y] = line.points[i];
    return [
      label,
      `${this.y.selectedOptions[0].textContent}: ${words(y, 4)}`,
      `${this.x.selectedOptions[0].textContent}: ${words(x, 4)}`,
      `seed ${seed}, case ${id}`,
      `run ${this.data.runs[run][0]}`,
      this.data.machines[machine][0],
    ];
  }

  /** What names a case in the address: its id and its run, since the same case may be in two runs. */
  nameOf({ id, series }) {
    const run = this.data.series[series][2];
    return `${id} ${this.data.runs[run][0]}`;
  }

  showTip(line, i) {
    this.hideTip();
    this.current = { line, i };
    line.element.firstChild.classList.add("near");
    const [x, y] = this.place(line.points[i]);
    this.mark = appendSvg(this.svg, "circle", { cx: x, cy: y, r: 6, fill: "none", stroke: "#1F2328" });
    const [name, ...rest] = this.tell(line, i);
    append(this.tip, "strong", {}, name);
    for (const text of rest) append(this.tip, "div", {}, text);
    this.tip.hidden = false;
    const room = this.plot.clientWidth - this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(0, Math.min(room, x + 14 > room ? x - this.tip.offsetWidth - 14 : x + 14))}px`;
    this.tip.style.top = `${Math.max(0, y - this.tip.offsetHeight / 2)}px`;
  }

  hideTip() {
    this.current?.line.element?.firstChild?.classList.remove("near");
    this.current = null;
    this.isPinned = false;
    this.mark?.remove();
    this.tip.hidden = true;
    this.tip.replaceChildren();
  }

  /** Keeps a point shown, with a link to its run, and in the address. */
  pin(line, i) {
    this.showTip(line, i);
    this.isPinned = true;
    choose("case", this.nameOf(line.item));
    choose("point", String(i));
    const [name, href] = this.data.runs[this.data.series[line.item.series][2]];
    append(this.tip, "a", { href }, `Open run ${name}`);
    this.status.textContent = this.tell(line, i).join("; ");
  }

  unpin() {
    this.status.textContent = "";
    for (const name of ["case", "point"]) choose(name, "");
    this.hideTip();
  }

  // Zoom.

  /** Shows a part of the scales that is `factor` times as long, around a middle; with 0, the whole. */
  zoom(factor, middle = this.view.map(([low, high]) => (low + high) / 2)) {
    if (factor === 0) {
      choose("zoom", "");
      this.draw();
      return;
    }
    this.show(this.view.map(([low, high], i) => [low, high].map((end) => middle[i] + factor * (end - middle[i]))));
  }

  show(view) {
    if (!this.canShow(view)) return;
    choose("zoom", view.flat().map((value) => Number(value.toPrecision(12))).join(","));
    this.draw();
  }

  /** Whether a view, which an address may state, is neither too small a part of the whole chart nor many times as long. */
  canShow(view) {
    const isLength = ([low, high], i) => {
      const whole = this.whole[i][1] - this.whole[i][0];
      return high - low > 1e-5 * whole && high - low < 10 * whole;
    };
    return view.every(isLength);
  }
}

/** The point of the kept case that the address names, of those up to a last one; else the last. */
function keptPoint(last) {
  const place = Number(state.get("point") ?? last);
  return Number.isInteger(place) && place >= 0 ? Math.min(place, last) : last;
}
