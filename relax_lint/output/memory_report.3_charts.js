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

  const xOf = (step, steps, width) => LEFT + (step / steps) * (width - LEFT - RIGHT);
  function stepAt(canvas, event, steps) {
    const box = canvas.getBoundingClientRect();
    const share = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
    return Math.min(Math.max(Math.floor(share * steps), 0), steps - 1);
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

  function axis({ pen, width, color }, top, y) {
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    for (const tick of ticks(top)) {
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

  function cursor({ pen, width, color }, step, steps, top, bottom) {
    const x = (xOf(step, steps, width) + xOf(step + 1, steps, width)) / 2;
    pen.strokeStyle = color("mark");
    pen.lineWidth = 1.5;
    pen.setLineDash([4, 3]);
    pen.beginPath();
    pen.moveTo(x, top);
    pen.lineTo(x, bottom);
    pen.stroke();
    pen.setLineDash([]);
  }

  function live(canvas, found, step, budgets) {
    const board = prepare(canvas), { pen, width, height, color } = board;
    const bottom = height - 8, head = 26, most = found.live[found.peak];
    const top = Math.max(most, ...budgets.filter((limit) => limit < 3 * most), 1);
    const y = (bytes) => bottom - (bytes / top) * (bottom - head), x = (at) => xOf(at, found.steps, width);
    axis(board, top, y);
    pen.beginPath();
    pen.moveTo(x(0), y(0));
    found.live.forEach((bytes, at) => { pen.lineTo(x(at), y(bytes)); pen.lineTo(x(at + 1), y(bytes)); });
    pen.lineTo(x(found.steps), y(0));
    pen.fillStyle = color("fill");
    pen.fill();
    pen.strokeStyle = color("accent");
    pen.lineWidth = 1.5;
    pen.stroke();
    for (const limit of budgets) if (limit <= top) rule(board, y(limit), `budget ${text.short(limit)}`);
    cursor(board, step, found.steps, head - 6, bottom);
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

  // Returns what stands where, for the pointer.
  function map(canvas, found, step) {
    const board = prepare(canvas), { pen, width, height, color } = board;
    const bottom = height - 10, head = 10, top = Math.max(found.top, 1), areas = [];
    const y = (bytes) => bottom - (bytes / top) * (bottom - head), x = (at) => xOf(at, found.steps, width);
    axis(board, top, y);
    const hatch = hatching(board), shade = [color("saturation"), color("lightness")];
    const box = (from, to, low, bytes) => {
      const left = x(from), upper = y(low + bytes);
      return { left, upper, right: Math.max(x(to), left + 1), lower: Math.max(y(low), upper + 0.5) };
    };
    for (const storage of found.storages) {
      if (storage.bytes === 0) continue;
      const area = box(storage.begin, storage.end, storage.address, storage.bytes);
      pen.fillStyle = hatch;
      pen.fillRect(area.left, area.upper, area.right - area.left, area.lower - area.upper);
      areas.push({ ...area, storage });
      storage.tensors.forEach((tensor, index) => {
        const part = box(tensor.begin, Math.min(tensor.end, storage.end), storage.address + tensor.start, tensor.bytes);
        const hue = (storage.begin * 47 + index * 83 + 200) % 360;
        pen.fillStyle = `hsl(${hue} ${shade[0]} ${shade[1]})`;
        pen.fillRect(part.left, part.upper, part.right - part.left, part.lower - part.upper);
        areas.push({ ...part, storage, tensor });
        label(board, tensor.name, part);
      });
      pen.strokeStyle = color("quiet");
      pen.lineWidth = area.lower - area.upper > 3 ? 1 : 0.4;
      pen.strokeRect(area.left, area.upper, area.right - area.left, area.lower - area.upper);
    }
    cursor(board, step, found.steps, head, bottom);
    return areas;
  }

  function label({ pen, color }, name, { left, right, upper, lower }) {
    const room = right - left - 8;
    if (lower - upper < 14 || room < 24) return;
    const measured = pen.measureText(name).width;
    if (measured > room) return;
    pen.fillStyle = color("on-tensor");
    pen.textAlign = "left";
    pen.textBaseline = "middle";
    pen.fillText(name, left + 4, (upper + lower) / 2);
  }

  return { live, map, stepAt };
})();
