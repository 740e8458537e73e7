
// Pointer and keys of a chart.

class LiveChart extends Chart {
  constructor(root, data) {
    super(root, data);
    this.svg.addEventListener("pointermove", (event) => this.move(event));
    this.svg.addEventListener("pointerleave", () => this.dragged || this.isPinned || this.hideTip());
    this.svg.addEventListener("pointerdown", (event) => this.press(event));
    this.svg.addEventListener("pointerup", (event) => this.release(event));
    this.svg.addEventListener("pointercancel", () => this.endDrag());
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.svg.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  /** The place of the pointer in the drawing. */
  at(event) {
    const frame = this.svg.getBoundingClientRect();
    const scale = (this.box.right + 12) / frame.width;
    return [(event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale];
  }

  move(event) {
    const at = this.at(event);
    if (this.dragged) {
      const [x, y] = this.dragged.from.map((from, i) => Math.min(from, at[i]));
      const [width, height] = this.dragged.from.map((from, i) => Math.abs(from - at[i]));
      setAll(this.dragged.element, { x, y, width, height });
      return;
    }
    if (this.isPinned) return;
    const near = this.nearest(at);
    if (near) this.showTip(near.line, near.i);
    else this.hideTip();
  }

  press(event) {
    if (event.pointerType === "touch" || event.button !== 0) return;
    this.svg.setPointerCapture(event.pointerId);
    this.dragged = { from: this.at(event), element: appendSvg(this.svg, "rect", { class: "select" }) };
  }

  /** Ends the drawing of a rectangle; where it began, if there is one. */
  endDrag() {
    const from = this.dragged?.from;
    this.dragged?.element.remove();
    this.dragged = null;
    return from;
  }

  release(event) {
    const at = this.at(event);
    // A finger draws no rectangle, and other buttons of a pointer do nothing.
    const from = this.endDrag() ?? (event.pointerType === "touch" ? at : null);
    if (!from) return;
    if (Math.abs(at[0] - from[0]) > 8 && Math.abs(at[1] - from[1]) > 8) {
      const [one, other] = [this.valueAt(from), this.valueAt(at)];
      this.show(one.map((value, i) => [Math.min(value, other[i]), Math.max(value, other[i])]));
      return;
    }
    const near = this.nearest(at);
    if (near) this.pin(near.line, near.i);
    else this.unpin();
  }

  wheel(event) {
    if ((document.activeElement !== this.svg && !event.ctrlKey) || event.deltaY === 0) return;
    event.preventDefault();
    this.zoom(event.deltaY > 0 ? 1.25 : 0.8, this.valueAt(this.at(event)));
  }

  key(event) {
    // Keys of the browser, such as those that enlarge the page.
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const steps = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    const zooms = { "+": 0.5, "-": 2, 0: 0 };
    if (event.key in steps) this.step(...steps[event.key]);
    else if (event.key in zooms) this.zoom(zooms[event.key]);
    else if (event.key === "Enter" && this.current) this.pin(this.current.line, this.current.i);
    else if (event.key === "Escape") this.unpin();
    else return;
    event.preventDefault();
  }

  /** Goes to another case or to another point of the same one, and says what is there. */
  step(cases, points) {
    if (this.lines.length === 0) return;
    const at = this.current ? this.lines.indexOf(this.current.line) : 0;
    const line = this.lines[(at + cases + this.lines.length) % this.lines.length];
    const last = line.points.length - 1;
    const from = !this.current || cases ? last : this.current.i + points;
    const i = Math.max(0, Math.min(last, from));
    this.showTip(line, i);
    this.status.textContent = this.tell(line, i).join("; ");
  }
}
