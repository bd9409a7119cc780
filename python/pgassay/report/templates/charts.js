"use strict";
// Adds to the drawings of the page: values beside the pointer, zoom along time, hiding of arms.
// The drawings are complete without it. report/svg/marks.py says what their attributes mean.
(function () {
  const plots = Array.from(document.querySelectorAll(".plot"));
  const tip = document.body.appendChild(document.createElement("div"));
  tip.className = "tip";
  tip.setAttribute("role", "status");
  const zooms = {}; // word of a group of charts → [low, high] in values of the axis

  function scaleOf(text) {
    const [kind, ...numbers] = text.split(" ");
    const [low, high, start, end] = numbers.map(Number);
    const to = kind === "log" ? Math.log10 : (v) => v;
    const from = kind === "log" ? (v) => 10 ** v : (v) => v;
    return {
      kind, low, high, start, end,
      pixel: (v) => start + ((to(v) - to(low)) / (to(high) - to(low))) * (end - start),
      value: (p) => from(to(low) + ((p - start) / (end - start)) * (to(high) - to(low))),
    };
  }

  function pointsOf(data) {
    const numbers = data.match(/-?[\d.]+/g).map(Number);
    const points = [];
    for (let i = 0; i + 1 < numbers.length; i += 2) points.push([numbers[i], numbers[i + 1]]);
    return points;
  }
  // Places of a line in pixels with their values; of a band, which goes along its upper edge and back along the lower, with its heights.
  function valuesOf(path, y) {
    const data = path.getAttribute("d");
    if (path.dataset.name) return pointsOf(data).map(([x, up]) => [x, y.value(up)]);
    return data.split("Z").filter(Boolean).flatMap(function (part) {
      const points = pointsOf(part), turn = points.findIndex(([x], i) => i > 0 && x <= points[i - 1][0]);
      const back = points.slice(turn).reverse();
      return points.slice(0, turn).map(([x, up]) => [x, y.value(up) - y.value(between(back, x))]);
    });
  }
  function between(points, x) {
    const at = Math.max(1, points.findIndex((point) => point[0] >= x)), [x0, y0] = points[at - 1], [x1, y1] = points[at] || points[at - 1];
    return x1 > x0 ? y0 + ((y1 - y0) * (x - x0)) / (x1 - x0) : y1;
  }

  const panels = [];
  plots.forEach(function (plot) {
    plot.querySelectorAll("svg").forEach(function (svg) {
      svg.querySelectorAll("title").forEach(function (title) {
        const mark = title.parentNode; // without its title, or the browser shows it a second time
        if (!mark.matches("[data-name], [data-area]")) mark.dataset.tip = title.textContent;
        title.remove();
      });
      svg.querySelectorAll(".panel").forEach(function (group) {
        const marks = group.querySelector(".marks");
        const at = Array.from(marks.querySelectorAll(".at"), function (element) {
          const moved = /translate\(([-\d.]+) ([-\d.]+)\)/.exec(element.getAttribute("transform"));
          return { element, x: Number(moved ? moved[1] : element.getAttribute("x")), y: moved && Number(moved[2]) };
        });
        const clip = group.querySelector("clipPath rect");
        const ticks = group.querySelector(".ticks");
        const cursor = group.appendChild(document.createElementNS(svg.namespaceURI, "path"));
        cursor.setAttribute("class", "cursor");
        panels.push({
          plot, svg, group, marks, at, ticks, cursor, clip, clipX: Number(clip.getAttribute("x")),
          zoom: plot.dataset.zoom || "",
          x: scaleOf(group.dataset.x), y: scaleOf(group.dataset.y), a: 1, b: 0,
          grids: Array.from(group.querySelectorAll(".gx")),
          texts: ticks ? Array.from(ticks.children, (text) => [text, Number(text.getAttribute("x"))]) : [],
          lines: Array.from(marks.querySelectorAll("[data-name], [data-area]"), (path) => ({ path, values: null })),
        });
      });
    });
  });
  const panelsOf = (plot) => panels.filter((p) => p.plot === plot && p.svg.getClientRects().length);

  // ---- Numbers and times, as Python writes them
  function number(value, digits) {
    const text = value.toLocaleString("en", digits === undefined
      ? (Math.abs(value) >= 1000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 }) // significant digits would win
      : { minimumFractionDigits: digits, maximumFractionDigits: digits });
    const [thousands, point] = { ru: ["\u202f", ","], "zh-Hans": [",", "."] }[document.documentElement.lang] || ["\u202f", "."]; // as language.py
    return text.replace(/[,.]/g, (c) => (c === "," ? thousands : point)).replace("-", "\u2212");
  }
  const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
  function moment(seconds, step) {
    const iso = new Date(seconds * 1000).toISOString();
    return step < 1 ? iso.slice(11, 21) : step < 60 ? iso.slice(11, 19) : step < 86400 ? iso.slice(11, 16) : iso.slice(5, 10);
  }
  function newTicks(kind, low, high, most) {
    const needed = (high - low) / most;
    const power = 10 ** Math.floor(Math.log10(needed));
    const step = kind === "time"
      ? steps.find((s) => s >= needed) || 86400
      : [1, 2, 5, 10].map((f) => f * power).find((s) => s >= needed);
    const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const found = [];
    for (let i = Math.ceil(low / step); i * step <= high; i++) {
      found.push([i * step, kind === "time" ? moment(i * step, step) : number(i * step, digits)]);
    }
    return found;
  }

  // ---- Zoom
  function drawZoom(panel) {
    const range = zooms[panel.zoom], { start, end, kind } = panel.x;
    const [from, to] = range ? range.map(panel.x.pixel) : [start, end];
    const a = panel.a = (end - start) / (to - from), b = panel.b = start - a * from;
    for (const child of panel.marks.children) {
      if (!child.matches("text, .at, .alike")) {
        if (range) child.setAttribute("transform", `matrix(${a} 0 0 1 ${b} 0)`);
        else child.removeAttribute("transform");
      }
    }
    panel.at.forEach(function ({ element, x, y }) {
      if (y === null) element.setAttribute("x", a * x + b);
      else element.setAttribute("transform", `translate(${a * x + b} ${y})`);
    });
    // Symbols at an edge are not cut, but a zoomed line ends at the plot's edge.
    panel.clip.setAttribute("x", range ? start : panel.clipX);
    panel.clip.setAttribute("width", range ? end - start : end - start + 2 * (start - panel.clipX));
    const inside = (x) => x >= start - 1 && x <= end + 1;
    const isNamed = kind === "log" || (panel.ticks && panel.ticks.dataset.named !== undefined);
    const places = range && !isNamed ? newTicks(kind, ...range, Math.max(2, (end - start) / 110)) : null;
    panel.group.querySelectorAll(".new").forEach((element) => element.remove());
    panel.grids.forEach(function (grid) {
      grid.setAttribute("transform", `matrix(${a} 0 0 1 ${b} 0)`);
      grid.style.display = places ? "none" : "";
    });
    panel.texts.forEach(function ([text, x]) {
      text.setAttribute("x", a * x + b);
      text.style.display = places || !inside(a * x + b) ? "none" : "";
    });
    (places || []).forEach(function ([value, words]) {
      const x = a * panel.x.pixel(value) + b;
      if (panel.grids.length) {
        const grid = panel.grids[0].cloneNode();
        grid.setAttribute("d", grid.getAttribute("d").replace(/^M\S+/, "M" + x.toFixed(1)));
        grid.removeAttribute("transform");
        grid.style.display = "";
        grid.classList.add("new");
        panel.grids[0].before(grid);
      }
      if (panel.texts.length) {
        const text = panel.texts[0][0].cloneNode();
        text.textContent = words + (panel.ticks.dataset.suffix || "");
        text.setAttribute("x", x);
        text.style.display = "";
        text.classList.add("new");
        panel.ticks.append(text);
      }
    });
  }
  function setZoom(word, range) {
    zooms[word] = range;
    panels.filter((p) => p.zoom === word).forEach(drawZoom);
    plots.forEach((plot) => { if (plot.dataset.zoom === word) plot.querySelector(".reset").hidden = !range; });
  }

  // ---- Values beside the pointer
  function placeOf(panel, event) {
    const box = panel.svg.getBoundingClientRect(), view = panel.svg.viewBox.baseVal;
    return [((event.clientX - box.left) * view.width) / box.width, ((event.clientY - box.top) * view.height) / box.height];
  }
  function panelAt(plot, event) {
    return panelsOf(plot).find(function (panel) {
      const [x, y] = placeOf(panel, event), s = panel.x, t = panel.y;
      return x >= s.start - 6 && x <= s.end + 6 && y <= Math.max(t.start, t.end) + 6 && y >= Math.min(t.start, t.end) - 6;
    });
  }
  function show(words, left, top) {
    tip.textContent = words;
    tip.style.display = words ? "block" : "none";
    const width = document.documentElement.clientWidth;
    const x = left + 16 + tip.offsetWidth > width ? left - tip.offsetWidth - 12 : left + 14;
    tip.style.left = Math.max(4, x) + scrollX + "px";
    tip.style.top = top + 14 + scrollY + "px";
  }
  function hide(plot) {
    show("", 0, 0);
    panelsOf(plot).forEach((panel) => panel.cursor.removeAttribute("d"));
  }
  function valuesAt(panel, x) {
    const own = (x - panel.b) / panel.a, found = [];
    let nearest = null;
    linesBeside(panel).forEach(function ([line, y]) {
      const known = line.values = line.values || valuesOf(line.path, y), { name, area, unit } = line.path.dataset;
      const best = known.reduce((a, b) => (Math.abs(b[0] - own) < Math.abs(a[0] - own) ? b : a));
      const apart = known.length > 1 ? (known[known.length - 1][0] - known[0][0]) / (known.length - 1) : 0;
      if (Math.abs(best[0] - own) > Math.max(25 / panel.a, 0.6 * apart)) return;
      nearest = nearest === null || Math.abs(best[0] - own) < Math.abs(nearest - own) ? best[0] : nearest;
      found.push(`${name || area}: ${number(best[1])} ${unit || ""}`.trim());
    });
    if (nearest === null) return null;
    const value = panel.x.value(nearest);
    const first = panel.x.kind === "time" ? moment(value, 1) + " UTC" : number(value) + (panel.group.dataset.unit || "");
    return [panel.a * nearest + panel.b, [first, ...found].join("\n")];
  }
  // The lines of all panels on the same axis, or of this one only where those are too many to read.
  function linesBeside(panel) {
    const alike = panelsOf(panel.plot).filter((one) => one.group.dataset.x === panel.group.dataset.x);
    const every = alike.flatMap((one) => one.lines.map((line) => [line, one.y, one]));
    const shown = every.filter(([line, , one]) => line.path.style.display !== "none" && (one === panel || line.path.dataset.name));
    return shown.length > 10 ? shown.filter(([, , one]) => one === panel) : shown;
  }
  function showCursor(panel, x, left, top) {
    const found = valuesAt(panel, x);
    panelsOf(panel.plot).forEach(function (one) {
      if (found) one.cursor.setAttribute("d", `M${found[0]} ${one.y.start}V${one.y.end}`);
      else one.cursor.removeAttribute("d");
    });
    show(found ? found[1] : "", left, top);
    return found;
  }
  function hover(plot, event) {
    const panel = panelAt(plot, event);
    if (!panel) return hide(plot);
    const [x, y] = placeOf(panel, event);
    let best = null, least = 16;
    panel.at.forEach(function ({ element, x: own, y: up }) {
      if (!element.dataset.tip || up === null || element.style.display === "none") return;
      const distance = Math.hypot(panel.a * own + panel.b - x, up - y);
      if (distance < least) [best, least] = [element, distance];
    });
    const under = best || event.target.closest("[data-tip]");
    if (under) show(under.dataset.tip, event.clientX, event.clientY);
    else if (linesBeside(panel).length) showCursor(panel, x, event.clientX, event.clientY);
    else show("", 0, 0);
  }

  plots.forEach(function (plot) {
    let begin = null;
    const word = plot.dataset.zoom;
    const reset = plot.appendChild(document.createElement("button"));
    Object.assign(reset, { type: "button", className: "reset", hidden: true, textContent: document.body.dataset.showAll });
    reset.addEventListener("click", () => setZoom(word, null));
    plot.addEventListener("pointermove", function (event) {
      hover(plot, event);
      if (!begin) return;
      const [x] = placeOf(begin.panel, event), clamped = Math.min(Math.max(x, begin.panel.x.start), begin.panel.x.end);
      begin.x1 = clamped;
      begin.mark.setAttribute("x", Math.min(begin.x0, clamped));
      begin.mark.setAttribute("width", Math.abs(clamped - begin.x0));
    });
    plot.addEventListener("pointerleave", () => hide(plot));
    plot.addEventListener("pointerdown", function (event) {
      const panel = word && event.pointerType !== "touch" && event.button === 0 && panelAt(plot, event);
      if (!panel) return hover(plot, event);
      event.preventDefault();
      plot.focus({ preventScroll: true });
      const mark = panel.group.appendChild(document.createElementNS(panel.svg.namespaceURI, "rect"));
      mark.setAttribute("class", "selected");
      mark.setAttribute("y", Math.min(panel.y.start, panel.y.end));
      mark.setAttribute("height", Math.abs(panel.y.end - panel.y.start));
      begin = { panel, mark, x0: placeOf(panel, event)[0], x1: null };
    });
    addEventListener("pointerup", function () {
      if (!begin) return;
      const { panel, mark, x0, x1 } = begin;
      mark.remove();
      begin = null;
      if (x1 === null || Math.abs(x1 - x0) < 8) return;
      setZoom(word, [x0, x1].sort((a, b) => a - b).map((x) => panel.x.value((x - panel.b) / panel.a)));
    });
    plot.addEventListener("dblclick", () => word && setZoom(word, null));
    let at = null;
    plot.addEventListener("keydown", function (event) {
      const panel = panelsOf(plot).find((one) => one.lines.length);
      if (event.target !== plot || !panel) return;
      const { start, end } = panel.x, step = (end - start) / 50;
      if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
        at = Math.min(end, Math.max(start, (at === null ? start : at) + (event.key === "ArrowRight" ? step : -step)));
      } else if (word && (event.key === "+" || event.key === "-")) {
        const middle = at === null ? (start + end) / 2 : at, half = (end - start) * (event.key === "+" ? 0.25 : 1);
        const low = Math.max(start, (middle - half - panel.b) / panel.a), high = Math.min(end, (middle + half - panel.b) / panel.a);
        setZoom(word, low <= start && high >= end ? null : [low, high].map(panel.x.value));
      } else if (event.key === "Escape" || event.key === "0") {
        hide(plot);
        if (word) setZoom(word, null);
        return;
      } else return;
      event.preventDefault();
      const box = panel.svg.getBoundingClientRect(), size = box.width / panel.svg.viewBox.baseVal.width;
      showCursor(panel, at === null ? (start + end) / 2 : at, box.left + (at || start) * size, box.top + panel.y.end * size);
    });
    plot.addEventListener("blur", () => hide(plot));
  });

  // ---- Arms
  document.querySelectorAll("button[data-arm]").forEach(function (button) {
    button.addEventListener("click", function () {
      const shown = button.getAttribute("aria-pressed") !== "true", arm = button.dataset.arm;
      document.querySelectorAll("button[data-arm]").forEach(function (other) {
        if (other.dataset.arm === arm) other.setAttribute("aria-pressed", String(shown));
      });
      document.querySelectorAll(".plot [data-arm]").forEach(function (element) {
        if (element.dataset.arm === arm) element.style.display = shown ? "" : "none";
      });
    });
  });
  document.documentElement.dataset.charts = "ready";
})();
