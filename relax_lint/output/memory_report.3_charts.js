// The two pictures. They read colours from the style sheet, so that light and dark are decided in one place.
const charts = (() => {
  const LEFT = 76, RIGHT = 14;

  function prepare(canvas) {
    const { width, height } = canvas.getBoundingClientRect(), ratio = devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.clearRect(0, 0, width, height);
    const font = getComputedStyle(document.body).fontFamily;
    pen.font = `12px ${font}`;
    const style = getComputedStyle(document.documentElement);
    return { pen, width, height, color: (name) => style.getPropertyValue(`--${name}`).trim() };
  }

  // `seen` is the part of the program that is shown, in steps.
  const xOf = (step, seen, width) => LEFT + ((step - seen.from) / (seen.to - seen.from)) * (width - LEFT - RIGHT);
  function shareAt(canvas, event) {
    const box = canvas.getBoundingClientRect();
    return Math.min(Math.max((event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT), 0), 1);
  }
  function stepAt(canvas, event, seen) {
    const step = Math.floor(seen.from + shareAt(canvas, event) * (seen.to - seen.from));
    return Math.min(Math.max(step, seen.from), seen.to - 1);
  }

  function clipped({ pen, width, height }, draw) {
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, 0, width - LEFT - RIGHT, height);
    pen.clip();
    draw();
    pen.restore();
  }

  function ticks(top) {
    if (!(top > 0)) return [0];
    const unit = 1024 ** Math.floor(Math.log(top) / Math.log(1024)), scaled = top / unit / 4;
    const power = 10 ** Math.floor(Math.log10(scaled));
    const size = [1, 2, 2.5, 5, 10].find((nice) => nice * power >= scaled) * power * unit;
    const found = [];
    for (let tick = 0; tick <= top * 1.0001; tick += size) found.push(tick);
    return found;
  }

  function axis({ pen, width, color }, top, y, low = 0) {
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const tick of ticks(top - low).map((each) => each + low)) {
      pen.strokeStyle = color("line");
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(LEFT, Math.round(y(tick)) + 0.5);
      pen.lineTo(width - RIGHT, Math.round(y(tick)) + 0.5);
      pen.stroke();
      pen.fillStyle = color("quiet");
      pen.fillText(tick === 0 ? "0" : text.short(Math.round(tick)), LEFT - 8, y(tick));
    }
  }

  function cursor({ pen, width, color }, step, seen, top, bottom) {
    if (step < seen.from || step >= seen.to) return;
    const x = (xOf(step, seen, width) + xOf(step + 1, seen, width)) / 2;
    pen.strokeStyle = color("mark");
    pen.lineWidth = 1.5;
    pen.setLineDash([4, 3]);
    pen.beginPath();
    pen.moveTo(x, top);
    pen.lineTo(x, bottom);
    pen.stroke();
    pen.setLineDash([]);
  }

  // `base` are bytes that are there during the whole call, `other` the live bytes of another report.
  function live(canvas, found, { step, seen, budgets, base, other }) {
    const board = prepare(canvas), { pen, width, height, color } = board;
    const bottom = height - 8, head = found.layers.length > 0 ? 42 : 26, most = found.live[found.peak] + base;
    const top = Math.max(most, ...budgets.filter((limit) => limit < 3 * most), ...(other ? [other[peakIn(other)] + base] : []), 1);
    const y = (bytes) => bottom - (bytes / top) * (bottom - head), x = (at) => xOf(at, seen, width);
    axis(board, top, y);
    clipped(board, () => {
      layers(board, found.layers, seen, head - 6, bottom);
      pen.fillStyle = color("fill");
      outline(pen, found.live, seen, x, (bytes) => y(bytes + base), y(base));
      pen.fill();
      pen.strokeStyle = color("accent");
      pen.lineWidth = 1.5;
      pen.stroke();
      if (other) {
        const stretch = found.steps / other.length;
        pen.setLineDash([5, 3]);
        pen.strokeStyle = color("budget");
        outline(pen, other, { from: 0, to: other.length }, (at) => x(at * stretch), (bytes) => y(bytes + base), y(base));
        pen.stroke();
        pen.setLineDash([]);
      }
      if (base > 0) {
        pen.fillStyle = hatching(board);
        pen.fillRect(LEFT, y(base), width - LEFT - RIGHT, y(0) - y(base));
      }
    });
    if (base > 0 && y(0) - y(base) > 14) name(board, `kept through the call: ${text.short(base)}`, LEFT + 6, (y(0) + y(base)) / 2, "ink");
    for (const limit of budgets) if (limit <= top) rule(board, y(limit), `budget ${text.short(limit)}`);
    cursor(board, step, seen, head - 6, bottom);
    if (found.peak < seen.from || found.peak >= seen.to) return;
    const at = (x(found.peak) + x(found.peak + 1)) / 2;
    pen.fillStyle = color("peak");
    pen.beginPath();
    pen.arc(at, y(most), 4.5, 0, 2 * Math.PI);
    pen.fill();
    pen.textAlign = at > width / 2 ? "right" : "left";
    pen.textBaseline = "bottom";
    pen.font = `600 ${pen.font}`;
    pen.fillText(`peak ${text.short(most)}`, at + (at > width / 2 ? -8 : 8), y(most) - 5);
  }

  const peakIn = (bytes) => bytes.reduce((best, each, at) => (each > bytes[best] ? at : best), 0);

  function outline(pen, bytes, { from, to }, x, y, ground) {
    pen.beginPath();
    pen.moveTo(x(from), ground);
    for (let at = from; at < to; at++) { pen.lineTo(x(at), y(bytes[at])); pen.lineTo(x(at + 1), y(bytes[at])); }
    pen.lineTo(x(to), ground);
  }

  // Where the layers of the model begin; their numbers where there is room.
  function layers({ pen, width, color }, starts, seen, head, bottom) {
    let free = LEFT;
    pen.textAlign = "left";
    pen.textBaseline = "top";
    starts.forEach((start, index) => {
      const x = Math.round(xOf(start, seen, width)) + 0.5;
      if (x < LEFT - 400 || x > width) return;
      pen.strokeStyle = color("line");
      pen.beginPath();
      pen.moveTo(x, head);
      pen.lineTo(x, bottom);
      pen.stroke();
      if (x < free) return;
      pen.fillStyle = color("quiet");
      pen.fillText(`layer ${index + 1}`, x + 3, 2);
      free = x + 70;
    });
  }

  function rule({ pen, width, color }, y, label) {
    pen.strokeStyle = pen.fillStyle = color("budget");
    pen.setLineDash([8, 4]);
    pen.beginPath();
    pen.moveTo(LEFT, y);
    pen.lineTo(width - RIGHT, y);
    pen.stroke();
    pen.setLineDash([]);
    pen.textAlign = "left";
    pen.textBaseline = "bottom";
    pen.fillText(label, LEFT + 6, y - 2);
  }

  function hatching({ pen, color }) {
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const brush = tile.getContext("2d");
    brush.fillStyle = color("waste");
    brush.fillRect(0, 0, 8, 8);
    brush.strokeStyle = color("hatch");
    for (const shift of [-8, 0, 8]) { brush.moveTo(shift, 8); brush.lineTo(shift + 8, 0); }
    brush.stroke();
    return pen.createPattern(tile, "repeat");
  }

  // Draws all blocks; returns what stands where, for the pointer. `paint` gives the colour of a tensor and whether
  // it is one of those that were looked for.
  function blocks(canvas, found, { seen, paint, low, high }) {
    const board = prepare(canvas), { pen, width, height, color } = board;
    const bottom = height - 10, head = 10, areas = [];
    const y = (bytes) => bottom - ((bytes - low) / (high - low)) * (bottom - head), x = (at) => xOf(at, seen, width);
    board.pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    const hatch = hatching(board);
    const box = (from, to, start, bytes) => {
      const left = x(from), upper = y(start + bytes);
      return { left, upper, right: Math.max(x(to), left + 1), lower: Math.max(y(start), upper + 0.5) };
    };
    const outside = (area) => area.right < LEFT || area.left > width || area.lower < 0 || area.upper > height;
    clipped(board, () => {
      for (const storage of found.storages) {
        if (storage.bytes === 0) continue;
        const area = box(storage.begin, storage.end, storage.address, storage.bytes);
        if (outside(area)) continue;
        pen.fillStyle = hatch;
        pen.fillRect(area.left, area.upper, area.right - area.left, area.lower - area.upper);
        areas.push({ ...area, storage });
        storage.tensors.forEach((tensor, index) => {
          const part = box(tensor.begin, Math.min(tensor.end, storage.end), storage.address + tensor.start, tensor.bytes);
          if (outside(part)) return;
          const { fill, wanted } = paint(storage, tensor, index);
          pen.globalAlpha = wanted ? 1 : 0.18;
          pen.fillStyle = fill;
          pen.fillRect(part.left, part.upper, part.right - part.left, part.lower - part.upper);
          areas.push({ ...part, storage, tensor });
          if (wanted) label(board, tensor, part);
          pen.globalAlpha = 1;
        });
        pen.strokeStyle = color("quiet");
        pen.lineWidth = area.lower - area.upper > 3 ? 1 : 0.4;
        pen.strokeRect(area.left, area.upper, area.right - area.left, area.lower - area.upper);
      }
    });
    axis(board, high, y, low);
    return areas;
  }

  // Everything is drawn once into a picture; a moment is that picture and a line.
  function map(canvas, found, wish) {
    const areas = blocks(canvas, found, wish);
    const kept = document.createElement("canvas");
    kept.width = canvas.width;
    kept.height = canvas.height;
    kept.getContext("2d").drawImage(canvas, 0, 0);
    return { areas, kept };
  }

  function moment(canvas, { kept }, step, seen) {
    const { width, height } = canvas.getBoundingClientRect(), pen = canvas.getContext("2d");
    const style = getComputedStyle(document.documentElement);
    pen.save();
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(kept, 0, 0);
    pen.restore();
    cursor({ pen, width, color: (name) => style.getPropertyValue(`--${name}`).trim() }, step, seen, 10, height - 10);
  }

  function label({ pen, color }, tensor, { left, right, upper, lower }) {
    const from = Math.max(left, LEFT), room = right - from - 8;
    if (lower - upper < 14 || room < 24) return;
    const shape = tensor.shape ? ` ${tensor.dtype} ${tensor.shape}` : "";
    const texts = tensor.operator ? [`${tensor.operator}${shape}`, tensor.operator, tensor.name] : [`${tensor.name}${shape}`, tensor.name];
    const shown = texts.find((each) => each.length * 6 < 2 * room && pen.measureText(each).width <= room);
    if (shown) name({ pen, color }, shown, from + 4, (upper + lower) / 2, "on-tensor");
  }

  function name({ pen, color }, words, x, y, ink) {
    pen.fillStyle = color(ink);
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.fillText(words, x, y);
  }

  return { live, map, moment, stepAt, shareAt, peakIn };
})();
