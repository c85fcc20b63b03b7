// Time-sequence graph of one run or several, as in tcptrace, with reasons of retransmissions and causes of losses.
const LEFT = 70, BOTTOM = 24, TOP = 8, RIGHT = 8;
const SEQUENCE_KEY = 'blue: sent; orange: retransmitted; green: ACK line; pink: SACK; × lost on the air; ◇ lost in a queue; red line: timeout';
const TOGETHER_KEY = 'colour and dashes by run; bars: sent; squares: retransmitted; lines: ACKs; dots: SACK; × lost on the air; ◇ lost in a queue; vertical lines: timeouts';
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
const SEQUENCE_HELP = '+ and − zoom, dragging or arrow keys move, 0 shows all, n goes to the next loss, a click or Enter shows a segment\'s story.';

// First index in an ascending array whose value is at least `bound`.
const lowest = (values, bound) => { let from = 0, to = values.length; while (from < to) { const middle = from + to >> 1; if (values[middle] < bound) from = middle + 1; else to = middle; } return from; };

// Renames the engine's columns.
const segmentsOf = (c, to) => ({
  sent: c['data.sent_s'], start: c['data.start'], length: c['data.length'], arrived: c['data.arrived_s'], fate: c['data.fate'], pipe: c['data.pipe'], reason: c['data.reason'],
  at: c['ack.time_s'], acked: c['ack.acked'], sacked: c['ack.sacked'], eventAt: c['event.time_s'], event: c['event.kind'], to,
});

// Graph on a canvas. `losses()` returns the names of loss reasons. Callbacks: `viewed(view)` after the view changed,
// `pointed(time)` after the cursor moved, `picked(index)` after the user selected a segment, `said(words)` for
// announcements. Unless `wheelsAlways` is true, the wheel zooms only after a click on the graph.
function sequenceGraph(canvas, { losses, viewed = () => {}, pointed = () => {}, picked = () => {}, said = () => {}, wheelsAlways = false }) {
  let graph = null, layers = [], view = null, cursor = 0, duration = 1, dragged = null, painting = false;

  // Shows a run's segments and keeps the current view. `look` is the run's name, tone and order in the legend.
  // `others` are further runs, drawn below this run: { segments, name, tone, dash } each.
  function show(segments, seconds, look = {}, others = []) {
    graph = segments;
    layers = graph ? [...others.filter(other => other.segments), { segments: graph, ...look }] : [];
    duration = seconds;
    if (graph && (!view || view[0] > duration)) view = firstView();
    draw();
  }

  // View around the first loss, or of the beginning if nothing is lost.
  function firstView() {
    const lost = graph.fate.findIndex(fate => fate >= 0);
    const middle = lost < 0 ? 0.5 : graph.sent[lost];
    return [Math.max(0, middle - 0.4), middle + 1.1];
  }

  function setView(from, to) {
    const width = Math.max(0.002, Math.min(duration, to - from));
    const begin = Math.max(0, Math.min(duration - width, from));
    view = [begin, begin + width];
    draw();
    viewed(view);
  }

  function frame(width = canvas.clientWidth, height = canvas.clientHeight) {
    let low = Infinity, high = -Infinity;
    const parts = layers.map(({ segments: s }) => {
      const from = Math.max(0, lowest(s.sent, view[0]) - 1), to = lowest(s.sent, view[1]);
      const ackFrom = Math.max(0, lowest(s.at, view[0]) - 1), ackTo = lowest(s.at, view[1]);
      for (let i = from; i < to; i += 1) { low = Math.min(low, s.start[i]); high = Math.max(high, s.start[i] + s.length[i]); }
      for (let i = ackFrom; i < ackTo; i += 1) { low = Math.min(low, s.acked[i]); high = Math.max(high, s.acked[i]); }
      return { from, to, ackFrom, ackTo };
    });
    if (!(high > low)) { low = 0; high = Math.max(1, high); }
    const x = time => LEFT + (time - view[0]) / (view[1] - view[0]) * (width - LEFT - RIGHT);
    const y = byte => height - BOTTOM - (byte - low) / (high - low) * (height - BOTTOM - TOP);
    return { width, height, parts, low, high, x, y };
  }

  function draw() {
    const ratio = devicePixelRatio || 1;
    const pen = canvas.getContext('2d');
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(canvas.clientHeight * ratio);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    if (!graph || !view || !canvas.clientWidth) return;
    const began = performance.now();
    paint(pen, frame());
    document.body.dataset.sequenceMs = (performance.now() - began).toFixed(1);
  }

  // Draws once per animation frame.
  function drawSoon() {
    if (painting) return;
    painting = true;
    requestAnimationFrame(() => { painting = false; draw(); });
  }

  function paint(pen, f) {
    const { x } = f;
    const tone = { ink: colour('--ink'), soft: colour('--muted'), grid: colour('--grid'), paper: colour('--paper'), sent: colour('--c1'), retransmitted: colour('--c2'), ack: colour('--c3'), sack: colour('--c4'), bad: colour('--bad') };
    axes(pen, f, tone);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, 0, f.width - LEFT - RIGHT, f.height - BOTTOM);
    pen.clip();
    const isTogether = layers.length > 1;
    layers.forEach((layer, at) => {
      const own = isTogether ? colour(layer.tone) : null;
      const its = own ? { ...tone, sent: own, retransmitted: own, ack: own, sack: own, bad: own, together: true, dash: layer.dash } : tone;
      run(pen, { ...f, ...f.parts[at] }, its, layer.segments, own ? layer.name : null, at);
    });
    pen.fillStyle = tone.soft;
    if (cursor >= view[0] && cursor <= view[1]) pen.fillRect(x(cursor), TOP, 1, f.height - BOTTOM - TOP);
    const to = Math.min(...layers.map(({ segments }) => segments.to));
    if (to < view[1]) {
      pen.globalAlpha = 0.5; pen.fillStyle = tone.grid;
      pen.fillRect(x(Math.max(to, view[0])), 0, f.width, f.height - BOTTOM); pen.globalAlpha = 1;
    }
    if (isTogether) legend(pen, tone);
    pen.restore();
  }

  // Legend in the upper left corner, which a rising graph leaves free.
  function legend(pen, tone) {
    const names = [...layers].sort((one, other) => (one.order ?? 0) - (other.order ?? 0));
    const width = 46 + 7 * Math.max(...names.map(({ name }) => name.length));
    pen.globalAlpha = 0.85; pen.fillStyle = tone.paper;
    pen.fillRect(LEFT + 6, TOP + 14, width, 18 * names.length + 6); pen.globalAlpha = 1;
    names.forEach(({ name, tone: its, dash }, at) => {
      const py = TOP + 26 + 18 * at;
      pen.strokeStyle = colour(its); pen.lineWidth = 2; pen.setLineDash(DASHES[dash]);
      pen.beginPath(); pen.moveTo(LEFT + 12, py); pen.lineTo(LEFT + 40, py); pen.stroke();
      pen.setLineDash([]);
      pen.fillStyle = tone.ink; pen.font = '12px system-ui'; pen.textAlign = 'left'; pen.fillText(name, LEFT + 46, py + 4);
    });
  }

  // Draws one run: timeouts, recoveries, segments, ACKs and marks.
  function run(pen, f, tone, s, name, place) {
    const { x, y } = f;
    for (let i = 0; i < s.eventAt.length; i += 1) {
      const at = s.eventAt[i];
      if (at < view[0] || at > view[1] || (name && s.event[i] !== 2)) continue;
      pen.fillStyle = s.event[i] === 2 ? tone.bad : tone.soft;
      pen.globalAlpha = s.event[i] === 2 ? 0.8 : 0.35;
      pen.fillRect(x(at), TOP, 1, f.height - BOTTOM - TOP);
      if (s.event[i] === 2) { pen.font = '11px system-ui'; pen.fillText(name ? `${name}: timeout` : 'timeout', x(at) + 3, name ? f.height - BOTTOM - 6 - 12 * place : TOP + 10); }
      pen.globalAlpha = 1;
    }
    // In a dense view, each pixel column is one line from its lowest to its highest segment.
    const isDense = f.to - f.from > 3 * f.width;
    const size = Math.max(1.5, Math.abs(y(0) - y(s.length[f.from] || 1)));
    pen.fillStyle = tone.sent;
    let column = -1, top = 0, bottom = 0;
    for (let i = f.from; i < f.to; i += 1) {
      if (s.reason[i] >= 0) continue;
      const px = Math.round(x(s.sent[i])), upper = y(s.start[i] + s.length[i]), lower = Math.max(y(s.start[i]), upper + 1.5);
      if (!isDense) { pen.fillRect(px - 1, upper, 2, lower - upper); continue; }
      if (px === column) { top = Math.min(top, upper); bottom = Math.max(bottom, lower); continue; }
      if (column >= 0) pen.fillRect(column, top, 1, bottom - top);
      column = px; top = upper; bottom = lower;
    }
    if (column >= 0) pen.fillRect(column, top, 1, bottom - top);
    ackLine(pen, f, tone, s);
    marks(pen, f, tone, size, s);
  }

  function ackLine(pen, f, tone, s) {
    const { x, y } = f;
    pen.strokeStyle = tone.ack;
    pen.lineWidth = tone.together ? 1.8 : 1.2;
    pen.setLineDash(DASHES[tone.dash ?? 0]);
    pen.beginPath();
    let level = null, column = -1;
    for (let i = f.ackFrom; i < f.ackTo; i += 1) {
      const px = x(s.at[i]), py = y(s.acked[i]);
      if (level === null) pen.moveTo(Math.max(LEFT, px), py);
      else if (py !== level || i === f.ackTo - 1) { if (f.ackTo - f.ackFrom < 20000 || Math.round(px) !== column) { pen.lineTo(px, level); pen.lineTo(px, py); column = Math.round(px); } else continue; }
      else if (f.ackTo - f.ackFrom < 2000) { pen.lineTo(px, py); pen.lineTo(px, py + 4); pen.moveTo(px, py); }
      level = py;
    }
    if (level !== null) pen.lineTo(f.width - RIGHT, level);
    pen.stroke();
    pen.setLineDash([]);
    pen.fillStyle = tone.sack;
    for (let i = f.ackFrom; i < f.ackTo; i += 1) if (s.sacked[i] === s.sacked[i]) pen.fillRect(x(s.at[i]) - 1, y(s.sacked[i]) - 1, 2.5, 2.5);
  }

  // Draws retransmissions and losses, also in dense views, with one marker at each place.
  function marks(pen, f, tone, size, s) {
    const { x, y } = f;
    const drawnAt = new Set();
    for (let i = f.from; i < f.to; i += 1) {
      const retransmitted = s.reason[i] >= 0, lost = s.fate[i] >= 0;
      if (!retransmitted && !lost) continue;
      const px = x(s.sent[i]), py = y(s.start[i] + s.length[i] / 2);
      const spot = `${Math.round(px)} ${Math.round(py / 2)} ${retransmitted} ${lost}`;
      if (drawnAt.has(spot)) continue;
      drawnAt.add(spot);
      if (retransmitted && tone.together) {
        pen.strokeStyle = tone.retransmitted; pen.lineWidth = 1.3;
        pen.beginPath(); pen.moveTo(px - 3, py - 3); pen.lineTo(px + 3, py - 3); pen.lineTo(px + 3, py + 3); pen.lineTo(px - 3, py + 3); pen.closePath(); pen.stroke();
      } else if (retransmitted) {
        pen.fillStyle = tone.retransmitted;
        pen.fillRect(px - 1.5, py - Math.max(size, 4) / 2, 3, Math.max(size, 4));
      }
      if (lost) {
        const isQueue = losses()[s.fate[i]] !== 'channel' && losses()[s.fate[i]] !== 'discarded';
        pen.strokeStyle = isQueue && !tone.together ? tone.ink : tone.bad;
        pen.lineWidth = 1.6;
        pen.beginPath();
        if (isQueue) { pen.moveTo(px - 4, py); pen.lineTo(px, py - 4); pen.lineTo(px + 4, py); pen.lineTo(px, py + 4); pen.closePath(); }
        else { pen.moveTo(px - 4, py - 4); pen.lineTo(px + 4, py + 4); pen.moveTo(px + 4, py - 4); pen.lineTo(px - 4, py + 4); }
        pen.stroke();
      }
    }
  }

  function steps(low, high, count) {
    const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map(one => one * power).find(one => one >= rough);
    const found = [];
    for (let value = Math.ceil(low / step) * step; value <= high + 1e-12; value += step) found.push(value);
    return { found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
  }

  function axes(pen, f, tone) {
    pen.font = '12px system-ui';
    pen.lineWidth = 1;
    const times = steps(view[0], view[1], Math.max(2, f.width / 130)), bytes = steps(f.low / 1e3, f.high / 1e3, f.height / 60);
    pen.textAlign = 'center';
    for (const time of times.found) {
      pen.fillStyle = tone.grid; pen.fillRect(f.x(time), TOP, 1, f.height - BOTTOM - TOP);
      pen.fillStyle = tone.soft; pen.fillText(`${time.toFixed(times.digits)} s`, Math.min(f.x(time), f.width - 22), f.height - 7);
    }
    pen.textAlign = 'right';
    for (const kilo of bytes.found) {
      pen.fillStyle = tone.grid; pen.fillRect(LEFT, f.y(kilo * 1e3), f.width - LEFT - RIGHT, 1);
      pen.fillStyle = tone.soft; pen.fillText(`${kilo.toFixed(bytes.digits)} kB`, LEFT - 5, f.y(kilo * 1e3) + 4);
    }
    pen.textAlign = 'left';
  }

  // Index of the segment nearest to a position.
  function nearest(px, py, reach) {
    const f = frame(), { from, to } = f.parts[layers.length - 1];
    let found = -1, least = reach * reach;
    for (let i = from; i < to; i += 1) {
      const dx = f.x(graph.sent[i]) - px, dy = f.y(graph.start[i] + graph.length[i] / 2) - py;
      if (dx * dx + dy * dy < least) { least = dx * dx + dy * dy; found = i; }
    }
    return found;
  }

  function zoom(factor, around) {
    if (!graph) return;
    const middle = around ?? (view[0] + view[1]) / 2;
    setView(middle - (middle - view[0]) * factor, middle + (view[1] - middle) * factor);
  }

  // Centres the next loss after the cursor; returns its time, or null.
  function nextLoss() {
    if (!graph) return null;
    let found = -1;
    for (let i = lowest(graph.sent, cursor); i < graph.sent.length; i += 1) if (graph.fate[i] >= 0 && graph.sent[i] > cursor + 1e-9) { found = i; break; }
    if (found < 0) { said('No later loss in this picture.'); return null; }
    const time = graph.sent[found], half = (view[1] - view[0]) / 2;
    setView(time - half, time + half);
    cursor = time;
    pointed(time);
    drawSoon();
    said(`Segment at byte ${number(graph.start[found])} is lost at ${time.toFixed(4)} s: ${losses()[graph.fate[found]].replaceAll('_', ' ')}.`);
    return time;
  }

  // Selects the segment at the cursor. If several segments were sent at the same instant, a lost segment is preferred.
  function pickHere() {
    const from = Math.min(graph.sent.length - 1, lowest(graph.sent, cursor - 1e-9));
    if (from < 0) return;
    let found = from;
    for (let i = from; i < graph.sent.length && graph.sent[i] === graph.sent[from]; i += 1) if (graph.fate[i] >= 0) { found = i; break; }
    picked(found);
  }

  const timeAt = x => view[0] + (x - LEFT) / (canvas.clientWidth - LEFT - RIGHT) * (view[1] - view[0]);
  canvas.addEventListener('wheel', event => {
    if (!graph || !(wheelsAlways || document.activeElement === canvas)) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8, timeAt(event.offsetX));
  }, { passive: false });
  canvas.addEventListener('pointerdown', event => { if (!graph) return; dragged = { x: event.offsetX, view: [...view], moved: false }; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener('pointermove', event => {
    if (!graph) return;
    if (dragged) {
      const by = (event.offsetX - dragged.x) / (canvas.clientWidth - LEFT - RIGHT) * (view[1] - view[0]);
      if (Math.abs(event.offsetX - dragged.x) > 3) dragged.moved = true;
      if (dragged.moved) setView(dragged.view[0] - by, dragged.view[1] - by);
    } else if (event.offsetX > LEFT) { cursor = Math.max(0, Math.min(duration, timeAt(event.offsetX))); pointed(cursor); drawSoon(); }
  });
  canvas.addEventListener('pointerup', event => {
    if (graph && dragged && !dragged.moved) { const i = nearest(event.offsetX, event.offsetY, 14); if (i >= 0) picked(i); }
    dragged = null;
  });
  canvas.addEventListener('pointercancel', () => { dragged = null; });
  canvas.addEventListener('keydown', event => {
    if (!graph || event.ctrlKey || event.metaKey || event.altKey) return;
    const width = view[1] - view[0];
    const keys = { ArrowLeft: () => setView(view[0] - width / 5, view[1] - width / 5), ArrowRight: () => setView(view[0] + width / 5, view[1] + width / 5), '+': () => zoom(0.7), '=': () => zoom(0.7), '-': () => zoom(1.4), 0: () => setView(0, duration), n: nextLoss, Enter: pickHere };
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });

  return {
    show, setView, zoom, nextLoss, draw, drawSoon,
    whole: () => setView(0, duration),
    forget: (next = null) => { view = next; },
    at: time => { cursor = time; drawSoon(); },
    get view() { return view; },
    get segments() { return graph; },
    // Time up to which the records of all runs in the picture are complete.
    get to() { return Math.min(...layers.map(({ segments }) => segments.to)); },
    get key() { return layers.length > 1 ? TOGETHER_KEY : SEQUENCE_KEY; },
    // Current view as SVG.
    svg: (width, height, title) => { const pen = svgPen(width, height); if (graph && view) paint(pen, frame(width, height)); return pen.svg(title); },
  };
}

const RETRANSMIT_REASONS = { fast_retransmit: 'three duplicate ACKs or SACK indicate a loss', hole: 'a partial ACK or SACK indicates another hole', timeout: 'the retransmission timer expired', go_back_n: 'go-back-N after a timeout', rescue: 'rescue retransmission: nothing else to send', tail_probe: 'tail loss probe', window_probe: 'zero-window probe', too_long: 'the segment exceeds the path MTU', thawed: "the receiver's zero window opened", reported: 'a node or the receiver reported the loss', handshake: 'handshake segment' };
const LOSS_REASONS = { queue_full: 'the queue is full', channel: 'destroyed on the air', tag_drop: 'dropped as a notice', discarded: 'discarded by the link layer', corrupt: 'corrupted (wrong checksum)', early_drop: 'dropped early by the queue', middlebox_removed: 'removed by a middlebox' };

