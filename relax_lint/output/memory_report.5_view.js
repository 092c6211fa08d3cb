// The part of the program and of the memory that is shown.
const view = (() => {
  const NARROWEST = 4;
  const whole = (found) => ({ from: 0, to: found.steps, low: 0, high: Math.max(found.top, 1) });

  function kept(seen, found) {
    const width = Math.min(Math.max(Math.round(seen.to - seen.from), Math.min(NARROWEST, found.steps)), found.steps);
    const from = Math.min(Math.max(Math.round(seen.from), 0), found.steps - width);
    return { ...seen, from, to: from + width };
  }

  // `share` of the width stays where it is.
  function zoomed(seen, found, factor, share) {
    const width = seen.to - seen.from, wanted = Math.max(width * factor, Math.min(NARROWEST, found.steps));
    return kept({ ...seen, from: seen.from + share * (width - wanted), to: seen.from + share * (width - wanted) + wanted }, found);
  }

  const moved = (seen, found, steps) => kept({ ...seen, from: seen.from + steps, to: seen.to + steps }, found);

  // A block with some room around it.
  function around(found, { begin, end }, storage) {
    const room = Math.max((end - begin) / 2, 2), above = storage.bytes / 4 || 1;
    const seen = kept({ from: begin - room, to: end + room, low: 0, high: 1 }, found);
    return { ...seen, low: Math.max(storage.address - above, 0), high: storage.address + storage.bytes + above };
  }

  // The same part, moved only as far as needed to show a step.
  function showing(seen, found, step) {
    if (seen.from <= step && step < seen.to) return seen;
    return moved(seen, found, step - (seen.from + seen.to) / 2);
  }

  return { whole, zoomed, moved, around, showing };
})();
