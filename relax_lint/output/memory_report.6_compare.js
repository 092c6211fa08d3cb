// Another report beside this one: what moved. The other file is read as data; nothing of it runs or is shown as markup.
const compare = (() => {
  async function read(file) {
    const page = new DOMParser().parseFromString(await file.text(), "text/html");
    const found = page.getElementById("data");
    if (!found) throw new Error("this file is no memory report of relax-lint");
    const data = JSON.parse(found.textContent);
    if (!Array.isArray(data.functions) || !data.functions.every((each) => Array.isArray(each.totals) && Array.isArray(each.timelines))) {
      throw new Error("this report is of a version that cannot be compared");
    }
    return data;
  }

  const number = (compiled, values) => { const bytes = compiled(values); return Number.isFinite(bytes) ? bytes : NaN; };

  // The totals of both, by name: [name, theirs, ours].
  function totals(theirs, ours, values) {
    const other = new Map(theirs.totals.map((total) => [total.name, total.expr]));
    return ours.map(([name, bytes]) => [name, other.get(name) == null ? NaN : number(formula(other.get(name)), values), bytes]);
  }

  // What is alive at the peak of both, by what it is rather than by its name: a printer counts names anew.
  function peaks(theirs, ours) {
    const of = (found) => {
      const sums = new Map();
      for (const storage of found.storages) for (const tensor of storage.tensors) {
        if (!layout.within(tensor, found.peak)) continue;
        const name = `${tensor.operator ?? tensor.name} ${tensor.dtype ?? ""} ${tensor.shape ?? ""}`.trim();
        sums.set(name, (sums.get(name) ?? 0) + tensor.bytes);
      }
      return sums;
    };
    const before = of(theirs), after = of(ours);
    return [...new Set([...before.keys(), ...after.keys()])]
      .map((name) => [name, before.get(name) ?? 0, after.get(name) ?? 0])
      .filter(([, a, b]) => a !== b)
      .sort((one, other) => Math.abs(other[2] - other[1]) - Math.abs(one[2] - one[1]));
  }

  return { read, totals, peaks };
})();
