// The page: one function at a time, one moment at a time, redrawn from the formulas.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const SHOWN = 15, DETAILS = ["sum of tensors", "lower bound"];
  const timelines = new Map();
  const compiled = data.functions.map((each, index) => each.totals.map((total) => valued(index, total)));
  const state = { index: 0, path: 0, step: 0, follows: true, found: null, areas: [], values: starting() };

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
    Object.assign(state, { index, path: 0, follows: true });
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
    charts.live($("live"), found, step, data.budgets);
    state.areas = charts.map($("map"), found, step);
    const held = found.storages.filter((storage) => layout.within(storage, step)).sort((a, b) => b.bytes - a.bytes);
    const tensors = held.flatMap((storage) => storage.tensors).filter((tensor) => layout.within(tensor, step)).sort((a, b) => b.bytes - a.bytes);
    const when = step === found.peak ? "at the peak" : "at this step";
    $("tensors-title").textContent = titled("Largest tensors", tensors, when);
    $("storages-title").textContent = titled("Largest storages", held, when);
    rows($("tensors"), ["tensor", "bytes", "share", "on"], tensors.slice(0, SHOWN).map((tensor) => element("tr", [
      element("td", tensor.name), element("td", text.exact(tensor.bytes)), element("td", text.percent(tensor.bytes, found.live[step])), element("td", tensor.storage.name),
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

  // -- drawing --------------------------------------------------------------------------------

  function redraw() {
    drawFunctions();
    drawCards();
    const given = timeline();
    state.found = given ? layout.evaluate(given, state.values) : null;
    $("charts").hidden = !state.found || state.found.storages.length === 0;
    $("message").hidden = !$("charts").hidden;
    if ($("charts").hidden) {
      const nothing = given && given.storages.length === 0;
      $("message").textContent = nothing ? "This function allocates nothing." : "The sizes of this function are not known for these values.";
      return;
    }
    const { found } = state;
    $("step").max = found.steps - 1;
    if (state.follows || state.step >= found.steps) state.step = found.peak;
    const most = text.exact(found.live[found.peak]), moment = text.number.format(found.peak + 1);
    $("live-summary").textContent = `The peak is ${most}, at step ${moment} of ${text.number.format(found.steps)}. Click, or use the arrow keys on the slider, to look at another step.`;
    const count = found.storages.reduce((sum, storage) => sum + storage.tensors.length, 0);
    $("map-summary").textContent = `${text.number.format(found.storages.length)} storages with ${text.number.format(count)} tensors, up the page by address as a first-fit allocator would place them.`;
    drawMoment();
  }

  let asked = false;
  function schedule() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; redraw(); });
  }

  function goTo(step, follows) {
    Object.assign(state, { step, follows });
    drawMoment();
  }

  function tip(event) {
    const box = $("map").getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const inside = (area) => area.left <= x && x <= area.right && area.upper - 1 <= y && y <= area.lower + 1;
    const hit = state.areas.findLast(inside);
    $("tip").hidden = !hit;
    if (!hit) return;
    const { tensor, storage } = hit;
    const lines = tensor ? [`${tensor.name}: ${text.exact(tensor.bytes)} from offset ${text.number.format(tensor.start)}`, `steps ${tensor.begin + 1} to ${tensor.end}`] : [];
    lines.push(`${tensor ? "on " : ""}${storage.name}: ${text.exact(storage.bytes)}, ${storage.scope}, device ${storage.device}`);
    $("tip").textContent = lines.join("\n");
    $("tip").style.left = `${Math.min(event.clientX + 14, innerWidth - 300)}px`;
    $("tip").style.top = `${event.clientY + 14}px`;
  }

  for (const id of ["live", "map"]) {
    $(id).addEventListener("click", (event) => goTo(charts.stepAt($(id), event, state.found.steps), false));
  }
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
