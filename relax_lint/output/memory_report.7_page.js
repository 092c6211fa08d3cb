// The page: one function at a time, one moment at a time, redrawn from the formulas.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const SHOWN = 15, DETAILS = ["sum of tensors", "lower bound"];
  const timelines = new Map();
  const compiled = data.functions.map((each, index) => each.totals.map((total) => valued(index, total)));
  const kept = data.functions.map((each) => (each.kept ?? []).map(({ name, expr }) => ({ name, value: formula(expr) })));
  const state = {
    index: 0, path: 0, step: 0, follows: true, found: null, picture: { areas: [] }, values: starting(),
    seen: null, group: "storage", typed: "", hits: null, next: 0, withKept: false, other: null,
  };

  function starting() {
    const values = new Map();
    for (const { symbols } of data.functions) {
      for (const { name, low, high } of symbols) {
        if (!values.has(name)) values.set(name, data.values[name] ?? high ?? Math.max(low ?? 0, 128));
      }
    }
    return values;
  }

  function element(tag, content, attributes = {}) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...[content].flat());
    return made;
  }

  function rows(table, headings, body) {
    const head = element("tr", headings.map((heading) => element("th", heading, { scope: "col" })));
    table.replaceChildren(element("thead", head), element("tbody", body));
  }

  // A total as a function of the values. What the pool obtains may have no formula: then it is played through.
  function valued(index, total) {
    if (total.expr !== null) return formula(total.expr);
    const each = data.functions[index];
    if (total.key !== "reserved.pooled" || !each.complete || each.timelines.length === 0) return () => NaN;
    return (values) => Math.max(...each.timelines.map((_, path) => layout.pooled(timelineOf(index, path), values)));
  }

  const current = () => data.functions[state.index];
  const timeline = () => timelineOf(state.index, state.path);
  function timelineOf(index, path) {
    const key = `${index} ${path}`, given = data.functions[index].timelines[path];
    if (given && !timelines.has(key)) timelines.set(key, layout.prepare(given));
    return timelines.get(key);
  }

  // -- functions and symbols ------------------------------------------------------------------

  function drawFunctions() {
    const shown = data.functions[0].totals.map((total) => total.name).filter((name) => !DETAILS.includes(name));
    const body = data.functions.map((each, index) => {
      const open = element("button", each.name, { type: "button", class: "link", title: each.path });
      open.addEventListener("click", () => choose(index));
      const cells = each.totals.flatMap((total, position) => {
        if (!shown.includes(total.name)) return [];
        const bytes = compiled[index][position](state.values);
        return [element("td", text.short(bytes), { title: text.exact(bytes) })];
      });
      const row = element("tr", [element("td", open), ...cells]);
      if (index === state.index) row.setAttribute("aria-current", "true");
      return row;
    });
    rows($("function-table"), ["function", ...shown], body);
  }

  function choose(index) {
    Object.assign(state, { index, path: 0, follows: true, seen: null });
    const each = current();
    $("function-title").textContent = each.name;
    $("function-title").title = each.path;
    $("path").replaceChildren(...each.timelines.map((path, number) => element("option", path.branches || "all", { value: number })));
    $("path-choice").hidden = each.timelines.length < 2;
    drawSymbols();
    redraw();
  }

  function drawSymbols() {
    $("symbols").replaceChildren(...current().symbols.map(({ name, low, high }) => {
      const value = state.values.get(name), most = high ?? Math.max(4096, 2 * value);
      const slider = element("input", [], { type: "range", min: low ?? 0, max: most, "aria-label": `${name}, slider`, id: `slide-${name}` });
      const box = element("input", [], { type: "number", min: low ?? 0, step: 1, "aria-label": name, id: `value-${name}` });
      slider.value = box.value = value;
      const set = (given, other) => {
        const wanted = Number(given.value), good = given.value !== "" && Number.isSafeInteger(wanted) && wanted >= 0;
        box.setAttribute("aria-invalid", String(!good));
        if (!good) return;
        if (other === slider && wanted > Number(slider.max)) slider.max = wanted;
        other.value = wanted;
        state.values.set(name, wanted);
        schedule();
      };
      slider.addEventListener("input", () => set(slider, box));
      box.addEventListener("input", () => set(box, slider));
      return element("div", [element("code", name), slider, box], { class: "symbol" });
    }));
  }

  function drawCards() {
    $("cards").replaceChildren(...current().totals.map((total, position) => {
      const bytes = compiled[state.index][position](state.values);
      const card = element("div", [element("span", total.name), element("b", text.short(bytes)), element("span", text.exact(bytes))], { class: "card" });
      if (total.name === "peak live") card.classList.add("peak");
      const detail = total.expr ?? total.reason;
      if (detail !== null && detail !== String(bytes)) card.append(element("code", detail, { title: detail }));
      return card;
    }));
  }

  // -- one moment -----------------------------------------------------------------------------

  function drawMoment() {
    const { found, step } = state, most = found.live[found.peak];
    $("step").value = step;
    const name = timeline().steps[step] ?? "the whole function";
    const share = step === found.peak ? "the peak" : `${text.percent(found.live[step], most)} of the peak`;
    $("here").textContent = `Step ${text.number.format(step + 1)} of ${text.number.format(found.steps)}: ${name}. Alive: ${text.exact(found.live[step])}, ${share}.`;
    $("step").setAttribute("aria-valuetext", $("here").textContent);
    charts.live($("live"), found, { step, seen: state.seen, budgets: data.budgets, base: base(), other: state.other?.live });
    charts.moment($("map"), state.picture, step, state.seen);
    drawGroups();
    const held = found.storages.filter((storage) => layout.within(storage, step)).sort((a, b) => b.bytes - a.bytes);
    const tensors = held.flatMap((storage) => storage.tensors).filter((tensor) => layout.within(tensor, step)).sort((a, b) => b.bytes - a.bytes);
    const when = step === found.peak ? "at the peak" : "at this step";
    $("tensors-title").textContent = titled("Largest tensors", tensors, when);
    $("storages-title").textContent = titled("Largest storages", held, when);
    rows($("tensors"), ["tensor", "bytes", "share", "on", "operator", "shape", "line"], tensors.slice(0, SHOWN).map((tensor) => element("tr", [
      element("td", tensor.name), element("td", text.exact(tensor.bytes)), element("td", text.percent(tensor.bytes, found.live[step])), element("td", tensor.storage.name),
      element("td", tensor.operator ?? ""), element("td", `${tensor.dtype ?? ""} ${tensor.shape ?? ""}`.trim()), element("td", tensor.line ?? ""),
    ])));
    rows($("storages"), ["storage", "bytes", "not used", "line"], held.slice(0, SHOWN).map((storage) => {
      const idle = layout.unused(storage, step);
      return element("tr", [
        element("td", storage.name), element("td", text.exact(storage.bytes)),
        element("td", text.percent(idle, storage.bytes), { title: text.exact(idle) }), element("td", storage.line ?? ""),
      ]);
    }));
  }

  function titled(what, items, when) {
    const part = items.length > SHOWN ? `${SHOWN} of ${text.number.format(items.length)}` : items.length;
    return `${what} ${when} (${part})`;
  }

  // -- groups, search and the part that is shown -----------------------------------------------

  const grouping = () => groups.grouped(state.found, state.group);

  function drawPicture() {
    const { found, seen } = state, colors = state.grouping = grouping(), wanted = state.hits && new Set(state.hits);
    const style = getComputedStyle(document.documentElement), shade = ["saturation", "lightness"].map((name) => style.getPropertyValue(`--${name}`));
    const paint = (storage, tensor, index) => ({
      fill: colors ? colors.color(tensor) : `hsl(${(storage.begin * 47 + index * 83 + 200) % 360} ${shade[0]} ${shade[1]})`,
      wanted: !wanted || wanted.has(tensor),
    });
    state.picture = charts.map($("map"), found, { ...seen, seen, paint });
    drawLegend(colors);
  }

  function drawLegend(colors) {
    const key = (kind, words, color) => {
      const mark = element("span", [], { class: `key ${kind}` });
      if (color) mark.style.background = color;
      return [mark, words];
    };
    const named = colors ? colors.names.filter((name) => !colors.shared.includes(name)).slice(0, 12) : [];
    const parts = colors ? named.flatMap((name) => key("own", name, colors.colors.get(name))) : key("tensor", "tensor");
    if (colors?.shared.length) parts.push(...key("own", `${colors.shared.length} more`, colors.colors.get(colors.shared[0])));
    $("legend").replaceChildren(...parts, ...key("waste", "held and not used"));
  }

  function drawGroups() {
    $("grouped").hidden = !state.grouping;
    if (!state.grouping) return;
    const { found, step } = state, sums = groups.alive(found, state.grouping, step);
    $("grouped-title").textContent = `Alive by ${state.group} ${step === found.peak ? "at the peak" : "at this step"}`;
    rows($("groups"), [state.group, "bytes", "share", "tensors"], sums.slice(0, SHOWN).map(({ name, bytes, tensors }) => element("tr", [
      element("td", name), element("td", text.exact(bytes)), element("td", text.percent(bytes, found.live[step])), element("td", text.number.format(tensors)),
    ])));
  }

  function find(typed) {
    const hits = groups.sought(state.found, typed);
    Object.assign(state, { typed, hits, next: 0 });
    const bytes = (hits ?? []).reduce((sum, tensor) => sum + tensor.bytes, 0);
    $("found").textContent = hits ? `${text.number.format(hits.length)} found, ${text.short(bytes)} in all` : "";
    drawPicture();
    drawMoment();
  }

  function toNext(back) {
    const { hits } = state;
    if (!hits?.length) return;
    const hit = hits[state.next];
    state.next = (state.next + (back ? hits.length - 1 : 1)) % hits.length;
    show(view.showing(state.seen, state.found, hit.begin), hit.begin);
    $("found").textContent = `${hits.indexOf(hit) + 1} of ${text.number.format(hits.length)}: ${described(hit)}`;
  }

  const described = (tensor) => [tensor.operator ? `${tensor.operator} gives ${tensor.name}` : tensor.name, `${tensor.dtype ?? ""} ${tensor.shape ?? ""}`.trim()].filter(Boolean).join(", ");

  function show(seen, step = state.step) {
    Object.assign(state, { seen, step, follows: false });
    drawPicture();
    drawMoment();
    const whole = seen.from === 0 && seen.to === state.found.steps;
    $("zoom-all").disabled = whole && seen.low === 0 && seen.high === view.whole(state.found).high;
    $("map").dataset.seen = `${seen.from} ${seen.to}`;
  }

  const zoom = (factor, share = 0.5) => show(view.zoomed(state.seen, state.found, factor, share));
  const pan = (part) => show(view.moved(state.seen, state.found, Math.round(part * (state.seen.to - state.seen.from)) || Math.sign(part)));
  const base = () => (state.withKept ? kept[state.index].reduce((sum, { value }) => sum + (value(state.values) || 0), 0) : 0);

  function drawKept() {
    const found = kept[state.index].map(({ name, value }) => [name, value(state.values)]).filter(([, bytes]) => bytes > 0);
    $("kept-choice").hidden = found.length === 0;
    $("kept-words").textContent = `on ${found.map(([name, bytes]) => `${name} (${text.short(bytes)})`).join(", ")}`;
  }

  // -- another report ---------------------------------------------------------------------------

  async function beside(file) {
    $("other-message").hidden = true;
    state.other = null;
    try {
      if (file) state.other = { name: file.name, data: await compare.read(file) };
    } catch (error) {
      $("other-message").textContent = `${file.name} cannot be compared: ${error instanceof SyntaxError ? "it cannot be read" : error.message}`;
      $("other-message").hidden = false;
    }
    redraw();
  }

  function drawMoved() {
    const { other, found } = state, each = current();
    $("moved").hidden = !other;
    if (!other) return;
    const same = other.data.functions.find(({ name }) => name === each.name);
    const given = same?.timelines[state.path] ?? same?.timelines[0], theirs = given ? layout.evaluate(layout.prepare(given), state.values) : null;
    other.live = theirs?.live;
    $("moved-title").textContent = same ? `${each.name}: ${other.name} and this report` : `${other.name} has no function ${each.name}`;
    const row = ([name, before, after]) => element("tr", [
      element("td", name), element("td", text.short(before), { title: text.exact(before) }), element("td", text.short(after), { title: text.exact(after) }),
      element("td", before === after ? "same" : `${after > before ? "+" : "-"}${text.short(Math.abs(after - before))}`, { class: after > before ? "more" : "less" }),
    ]);
    const ours = each.totals.map((total, position) => [total.name, compiled[state.index][position](state.values)]);
    rows($("moved-totals"), ["total", "there", "here", "moved"], same ? compare.totals(same, ours, state.values).map(row) : []);
    const moved = theirs ? compare.peaks(theirs, found) : [];
    rows($("moved-tensors"), ["alive at the peak", "there", "here", "moved"], moved.slice(0, SHOWN).map(row));
  }

  // -- drawing --------------------------------------------------------------------------------

  function redraw() {
    drawFunctions();
    drawCards();
    drawKept();
    const given = timeline();
    state.found = given ? layout.evaluate(given, state.values) : null;
    $("charts").hidden = !state.found || state.found.storages.length === 0;
    $("message").hidden = !$("charts").hidden;
    if ($("charts").hidden) {
      const nothing = given && given.storages.length === 0;
      $("message").textContent = nothing ? "This function allocates nothing." : "The sizes of this function are not known for these values.";
      return;
    }
    const { found } = state, whole = view.whole(found);
    // Another value moves what stands where, not when: the part of the program stays.
    const { from, to } = state.seen && state.seen.to <= found.steps ? state.seen : whole;
    state.seen = { ...whole, from, to };
    state.hits = groups.sought(found, state.typed);
    $("step").max = found.steps - 1;
    if (state.follows || state.step >= found.steps) state.step = found.peak;
    const most = text.exact(found.live[found.peak]), moment = text.number.format(found.peak + 1);
    $("live-summary").textContent = `The peak is ${most}, at step ${moment} of ${text.number.format(found.steps)}. Click, or use the arrow keys on the slider, to look at another step.`;
    const count = found.storages.reduce((sum, storage) => sum + storage.tensors.length, 0);
    $("map-summary").textContent = `${text.number.format(found.storages.length)} storages with ${text.number.format(count)} tensors, up the page by address as a first-fit allocator would place them. Drag to move, pinch or hold Ctrl and turn the wheel to zoom, click twice on a block to look at it.`;
    drawMoved();
    show(state.seen);
    state.follows = state.step === found.peak;
  }

  let asked = false;
  function schedule() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; redraw(); });
  }

  function goTo(step, follows) {
    const seen = view.showing(state.seen, state.found, step);
    if (seen !== state.seen) show(seen, step);
    Object.assign(state, { step, follows });
    drawMoment();
  }

  function hit(event) {
    const box = $("map").getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    return state.picture.areas.findLast((area) => area.left <= x && x <= area.right && area.upper - 1 <= y && y <= area.lower + 1);
  }

  function tip(event) {
    const found = hit(event);
    $("tip").hidden = !found;
    if (!found) return;
    const { tensor, storage } = found, lines = [];
    if (tensor) {
      const layer = groups.layerOf(tensor, state.found.layers);
      lines.push(described(tensor), `${text.exact(tensor.bytes)} from offset ${text.number.format(tensor.start)}`);
      lines.push([`steps ${tensor.begin + 1} to ${tensor.end}`, layer ? `layer ${layer}` : "", tensor.line ? `line ${tensor.line}` : ""].filter(Boolean).join(", "));
    }
    lines.push(`${tensor ? "on " : ""}${storage.name}: ${text.exact(storage.bytes)}, ${storage.scope}, device ${storage.device}`);
    $("tip").textContent = lines.join("\n");
    $("tip").style.left = `${Math.min(event.clientX + 14, innerWidth - 300)}px`;
    $("tip").style.top = `${event.clientY + 14}px`;
  }

  const KEYS = {
    "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: () => show(view.whole(state.found)),
    ArrowLeft: (shift) => (shift ? pan(-0.25) : goTo(Math.max(state.step - 1, 0), false)),
    ArrowRight: (shift) => (shift ? pan(0.25) : goTo(Math.min(state.step + 1, state.found.steps - 1), false)),
  };

  for (const id of ["live", "map"]) {
    const canvas = $(id);
    let from = null, dragged = false;
    canvas.addEventListener("pointerdown", (event) => { from = event.clientX; dragged = false; });
    canvas.addEventListener("pointermove", (event) => {
      if (from === null || !(event.buttons & 1)) return;
      const steps = Math.round(((from - event.clientX) / canvas.clientWidth) * (state.seen.to - state.seen.from));
      if (steps === 0) return;
      dragged = true;
      from = event.clientX;
      canvas.classList.add("moving");
      show(view.moved(state.seen, state.found, steps));
    });
    for (const end of ["pointerup", "pointerleave"]) canvas.addEventListener(end, () => { from = null; canvas.classList.remove("moving"); });
    canvas.addEventListener("click", (event) => { if (!dragged) goTo(charts.stepAt(canvas, event, state.seen), false); });
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(Math.exp(Math.sign(event.deltaY) * Math.min(Math.abs(event.deltaY), 100) / 200), charts.shareAt(canvas, event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const act = KEYS[event.key];
      if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      act(event.shiftKey);
    });
  }
  $("map").addEventListener("dblclick", (event) => {
    const found = hit(event);
    if (found) show(view.around(state.found, found.tensor ?? found.storage, found.storage));
  });
  $("zoom-in").addEventListener("click", () => zoom(0.5));
  $("zoom-out").addEventListener("click", () => zoom(2));
  $("earlier").addEventListener("click", () => pan(-0.25));
  $("later").addEventListener("click", () => pan(0.25));
  $("zoom-all").addEventListener("click", () => show(view.whole(state.found)));
  $("find").addEventListener("input", () => find($("find").value));
  $("find").addEventListener("keydown", (event) => { if (event.key === "Enter") toNext(event.shiftKey); });
  $("group").addEventListener("change", () => { state.group = $("group").value; drawPicture(); drawMoment(); });
  $("kept").addEventListener("change", () => { state.withKept = $("kept").checked; drawMoment(); });
  $("other").addEventListener("change", () => beside($("other").files[0]));
  $("map").addEventListener("pointermove", tip);
  $("map").addEventListener("pointerleave", () => { $("tip").hidden = true; });
  $("step").addEventListener("input", () => goTo(Number($("step").value), false));
  $("to-peak").addEventListener("click", () => goTo(state.found.peak, true));
  $("path").addEventListener("change", () => { state.path = Number($("path").value); state.follows = true; redraw(); });
  addEventListener("resize", schedule);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", schedule);

  $("origin").textContent = data.origin;
  if (data.functions.length > 0) {
    choose(data.first);
  } else {
    $("detail").hidden = true;
    $("function-table").replaceWith("There is no Relax function to show.");
  }
  document.documentElement.dataset.ready = "true";
})();
