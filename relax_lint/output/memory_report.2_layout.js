// From formulas and values to numbers: who is alive when, and where a first-fit allocator would put it.
const layout = (() => {
  const prepare = (timeline) => ({ ...timeline, compiled: timeline.formulas.map(formula) });

  function evaluate(timeline, values) {
    const sizes = timeline.compiled.map((compiled) => compiled(values));
    if (sizes.some(Number.isNaN)) return null;
    const steps = Math.max(timeline.steps.length, 1);
    const storages = timeline.storages.map((storage) => ({
      ...storage,
      bytes: Math.max(sizes[storage.size], 0),
      tensors: storage.residents.map((tensor) => ({
        ...tensor, storage, start: sizes[tensor.offset], bytes: Math.max(sizes[tensor.size], 0),
      })),
    }));
    const live = alive(storages, steps);
    return { steps, storages, live, layers: timeline.layers ?? [], peak: peakOf(live, storages, steps), top: place(storages) };
  }

  // Of the steps at which most is held, the one at which tensors use most of it.
  function peakOf(live, storages, steps) {
    const used = alive(storages.flatMap((storage) => storage.tensors), steps);
    let best = 0;
    for (let step = 1; step < steps; step++) {
      if (live[step] > live[best] || (live[step] === live[best] && used[step] > used[best])) best = step;
    }
    return best;
  }

  function alive(spans, steps) {
    const change = new Float64Array(steps + 1);
    for (const span of spans) {
      change[span.begin] += span.bytes;
      change[Math.min(span.end, steps)] -= span.bytes;
    }
    const live = new Array(steps);
    let sum = 0;
    for (let step = 0; step < steps; step++) live[step] = sum += change[step];
    return live;
  }

  // Gives every storage an address, the lowest that is free for its time; returns the end of the highest.
  function place(storages) {
    let top = 0, held = [];
    for (const storage of [...storages].sort((a, b) => a.begin - b.begin || b.bytes - a.bytes)) {
      held = held.filter((other) => other.end > storage.begin);
      let address = 0, index = 0;
      while (index < held.length && held[index].address < address + storage.bytes) {
        address = Math.max(address, held[index].address + held[index].bytes);
        index++;
      }
      storage.address = address;
      held.splice(index, 0, storage);
      top = Math.max(top, address + storage.bytes);
    }
    return top;
  }

  // What the pooled allocator obtains on one path, from a cold pool: whole pages, reused for the same number
  // of them on the same device, never given back.
  function pooled(timeline, values) {
    const sizes = timeline.compiled.map((compiled) => compiled(values));
    const pools = new Map();
    for (const storage of timeline.storages) {
      const bytes = sizes[storage.pooled], key = `${storage.device} ${bytes}`;
      if (!pools.has(key)) pools.set(key, []);
      pools.get(key).push({ ...storage, bytes });
    }
    const steps = Math.max(timeline.steps.length, 1);
    return [...pools.values()].flatMap((pool) => alive(pool, steps).reduce((a, b) => Math.max(a, b), 0)).reduce((a, b) => a + b, 0);
  }

  const within = (span, step) => span.begin <= step && step < span.end;

  // The bytes of a storage that no tensor uses at a step; tensors may share bytes.
  function unused(storage, step) {
    const spans = storage.tensors.filter((tensor) => within(tensor, step)).sort((a, b) => a.start - b.start);
    let used = 0, end = 0;
    for (const { start, bytes } of spans) {
      const from = Math.max(start, end), to = Math.min(start + bytes, storage.bytes);
      if (to > from) { used += to - from; end = to; }
    }
    return storage.bytes - used;
  }

  return { prepare, evaluate, pooled, unused, within };
})();

const text = (() => {
  const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];
  const number = new Intl.NumberFormat("en-US");
  const exact = (bytes) => Number.isNaN(bytes) ? "not known" : `${number.format(bytes)} ${bytes === 1 ? "byte" : "bytes"}`;
  function short(bytes) {
    if (Number.isNaN(bytes)) return "not known";
    let size = bytes, unit = 0;
    while (size >= 1024 && unit < UNITS.length - 1) { size /= 1024; unit++; }
    if (unit === 0) return exact(bytes);
    return `${size >= 999.5 ? Math.round(size) : Number(size.toPrecision(4))} ${UNITS[unit]}`;
  }
  const percent = (part, whole) => whole > 0 ? `${(100 * part / whole).toFixed(part && part < whole / 100 ? 2 : 0)} %` : "";
  return { exact, short, percent, number };
})();
