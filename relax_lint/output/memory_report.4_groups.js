// What tensors have in common: the operator that writes them, their layer, their type; and what is looked for.
const groups = (() => {
  // Colours that people tell apart whatever they see of red and green (Okabe and Ito), light enough for dark text.
  const PALETTE = ["#e69f00", "#56b4e9", "#2bbf98", "#f0e442", "#5fa3d9", "#e8804d", "#dd9dc0", "#b8b8b8"];
  const LEFT_OVER = "other";

  const family = (name) => name.replace(/(?<=[a-z_])\d+$/, "");
  const layerOf = (tensor, layers) => layers.filter((start) => start <= tensor.begin).length;

  const BY = {
    operator: (tensor) => (tensor.operator ? family(tensor.operator) : "nothing writes it"),
    kernel: (tensor) => tensor.operator ?? "nothing writes it",
    layer: (tensor, layers) => { const at = layerOf(tensor, layers); return at === 0 ? "before the layers" : `layer ${at}`; },
    type: (tensor) => tensor.dtype || "unknown",
  };

  // The group of each tensor and the colour of each group; the largest groups have a colour of their own.
  function grouped(found, by) {
    if (!BY[by]) return null;
    const of = new Map(), weights = new Map();
    for (const storage of found.storages) for (const tensor of storage.tensors) {
      const name = BY[by](tensor, found.layers);
      of.set(tensor, name);
      weights.set(name, (weights.get(name) ?? 0) + tensor.bytes * (tensor.end - tensor.begin));
    }
    const names = [...weights.keys()].sort((a, b) => weights.get(b) - weights.get(a));
    if (by === "layer") names.sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
    const several = by === "layer" ? PALETTE.length : PALETTE.length - 1;
    const colors = new Map(names.map((name, index) => [name, by === "layer" ? PALETTE[index % several] : PALETTE[Math.min(index, several)]]));
    return { of, names, colors, color: (tensor) => colors.get(of.get(tensor)), shared: by !== "layer" && names.length > several ? names.slice(several) : [] };
  }

  // The groups of what is alive at a step, the largest first.
  function alive(found, grouping, step) {
    const sums = new Map();
    for (const storage of found.storages) for (const tensor of storage.tensors) {
      if (!layout.within(tensor, step)) continue;
      const name = grouping.of.get(tensor), sum = sums.get(name) ?? { name, bytes: 0, tensors: 0 };
      sum.bytes += tensor.bytes;
      sum.tensors += 1;
      sums.set(name, sum);
    }
    return [...sums.values()].sort((a, b) => b.bytes - a.bytes);
  }

  // The tensors whose name, operator, shape, type, line or storage has all the words; null where none are given.
  function sought(found, typed) {
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return null;
    const hits = [];
    for (const storage of found.storages) for (const tensor of storage.tensors) {
      const said = `${tensor.name} ${tensor.operator ?? ""} ${tensor.shape ?? ""} ${tensor.dtype ?? ""} ${tensor.line ? `line:${tensor.line}` : ""} ${storage.name}`.toLowerCase();
      if (words.every((word) => said.includes(word))) hits.push(tensor);
    }
    return hits.sort((a, b) => a.begin - b.begin);
  }

  return { grouped, alive, sought, layerOf, LEFT_OVER };
})();
