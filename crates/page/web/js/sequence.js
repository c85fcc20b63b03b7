// The time-sequence graph of one variant: what tcptrace draws, with reasons and causes.
const canvas = byId('sequence');
const LEFT = 70, BOTTOM = 24, TOP = 8, RIGHT = 8;
let graph = null;
let view = null;
let cursorAt = 0;

const lowest = (values, bound) => { let from = 0, to = values.length; while (from < to) { const middle = from + to >> 1; if (values[middle] < bound) from = middle + 1; else to = middle; } return from; };

function setGraph(run) {
  const c = run.columns;
  graph = c['data.sent_s'] && {
    sent: c['data.sent_s'], start: c['data.start'], length: c['data.length'], arrived: c['data.arrived_s'], fate: c['data.fate'], pipe: c['data.pipe'], reason: c['data.reason'],
    at: c['ack.time_s'], acked: c['ack.acked'], sacked: c['ack.sacked'], eventAt: c['event.time_s'], event: c['event.kind'],
    to: run.header.segments_to_s, path: run.header.path,
  };
  if (graph && (!view || view[0] > shownPath.duration_s)) view = firstView();
  drawSequence();
}

// Around the first loss, else the beginning.
function firstView() {
  const lost = graph.fate.findIndex(fate => fate >= 0);
  const middle = lost < 0 ? 0.5 : graph.sent[lost];
  return [Math.max(0, middle - 0.4), middle + 1.1];
}

const within = value => Math.max(0, Math.min(shownPath.duration_s, value));

function setView(from, to) {
  const least = 0.002, most = shownPath ? shownPath.duration_s : 1;
  const width = Math.max(least, Math.min(most, to - from));
  const begin = Math.max(0, Math.min(most - width, from));
  view = [begin, begin + width];
  drawSequence();
  wantSegments();
}

function frame() {
  const { clientWidth: width, clientHeight: height } = canvas;
  const from = Math.max(0, lowest(graph.sent, view[0]) - 1), to = lowest(graph.sent, view[1]);
  const ackFrom = Math.max(0, lowest(graph.at, view[0]) - 1), ackTo = lowest(graph.at, view[1]);
  let low = Infinity, high = -Infinity;
  for (let i = from; i < to; i += 1) { low = Math.min(low, graph.start[i]); high = Math.max(high, graph.start[i] + graph.length[i]); }
  for (let i = ackFrom; i < ackTo; i += 1) { low = Math.min(low, graph.acked[i]); high = Math.max(high, graph.acked[i]); }
  if (!(high > low)) { low = 0; high = Math.max(1, high); }
  const x = time => LEFT + (time - view[0]) / (view[1] - view[0]) * (width - LEFT - RIGHT);
  const y = byte => height - BOTTOM - (byte - low) / (high - low) * (height - BOTTOM - TOP);
  return { width, height, from, to, ackFrom, ackTo, low, high, x, y };
}

function drawSequence() {
  const ratio = devicePixelRatio || 1;
  const pen = canvas.getContext('2d');
  canvas.width = Math.round(canvas.clientWidth * ratio);
  canvas.height = Math.round(canvas.clientHeight * ratio);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  if (!graph || !view) return;
  paint(pen, frame());
}

function paint(pen, f) {
  const began = performance.now();
  const { x, y } = f;
  const tone = { ink: colour('--ink'), soft: colour('--soft'), grid: colour('--grid'), sent: colour('--a'), again: colour('--b'), ack: colour('--c'), sack: colour('--d'), bad: colour('--bad'), mark: colour('--mark') };
  axes(pen, f, tone);
  pen.save();
  pen.beginPath();
  pen.rect(LEFT, 0, f.width - LEFT - RIGHT, f.height - BOTTOM);
  pen.clip();
  for (let i = 0; i < graph.eventAt.length; i += 1) {
    const at = graph.eventAt[i];
    if (at < view[0] || at > view[1]) continue;
    pen.fillStyle = graph.event[i] === 2 ? tone.bad : tone.soft;
    pen.globalAlpha = graph.event[i] === 2 ? 0.8 : 0.35;
    pen.fillRect(x(at), TOP, 1, f.height - BOTTOM - TOP);
    if (graph.event[i] === 2) { pen.font = '11px system-ui'; pen.fillText('timeout', x(at) + 3, TOP + 10); }
    pen.globalAlpha = 1;
  }
  // Many to a pixel: a column is drawn once, from its lowest to its highest segment.
  const isDense = f.to - f.from > 3 * f.width;
  const size = Math.max(1.5, Math.abs(y(0) - y(graph.length[f.from] || 1)));
  pen.fillStyle = tone.sent;
  let column = -1, top = 0, bottom = 0;
  for (let i = f.from; i < f.to; i += 1) {
    if (graph.reason[i] >= 0) continue;
    const px = Math.round(x(graph.sent[i])), upper = y(graph.start[i] + graph.length[i]), lower = Math.max(y(graph.start[i]), upper + 1.5);
    if (!isDense) { pen.fillRect(px - 1, upper, 2, lower - upper); continue; }
    if (px === column) { top = Math.min(top, upper); bottom = Math.max(bottom, lower); continue; }
    if (column >= 0) pen.fillRect(column, top, 1, bottom - top);
    column = px; top = upper; bottom = lower;
  }
  if (column >= 0) pen.fillRect(column, top, 1, bottom - top);
  ackLine(pen, f, tone);
  marks(pen, f, tone, size);
  pen.fillStyle = tone.soft;
  if (cursorAt >= view[0] && cursorAt <= view[1]) pen.fillRect(x(cursorAt), TOP, 1, f.height - BOTTOM - TOP);
  if (graph.to < view[1]) {
    pen.globalAlpha = 0.5; pen.fillStyle = tone.grid;
    pen.fillRect(x(Math.max(graph.to, view[0])), 0, f.width, f.height); pen.globalAlpha = 1;
  }
  pen.restore();
  document.body.dataset.sequenceMs = (performance.now() - began).toFixed(1);
}

function ackLine(pen, f, tone) {
  const { x, y } = f;
  pen.strokeStyle = tone.ack;
  pen.lineWidth = 1.2;
  pen.beginPath();
  let level = null, column = -1;
  for (let i = f.ackFrom; i < f.ackTo; i += 1) {
    const px = x(graph.at[i]), py = y(graph.acked[i]);
    if (level === null) pen.moveTo(Math.max(LEFT, px), py);
    else if (py !== level || i === f.ackTo - 1) { if (f.ackTo - f.ackFrom < 20000 || Math.round(px) !== column) { pen.lineTo(px, level); pen.lineTo(px, py); column = Math.round(px); } else continue; }
    else if (f.ackTo - f.ackFrom < 2000) { pen.lineTo(px, py); pen.lineTo(px, py + 4); pen.moveTo(px, py); }
    level = py;
  }
  if (level !== null) pen.lineTo(f.width - RIGHT, level);
  pen.stroke();
  pen.fillStyle = tone.sack;
  for (let i = f.ackFrom; i < f.ackTo; i += 1) if (graph.sacked[i] === graph.sacked[i]) pen.fillRect(x(graph.at[i]) - 1, y(graph.sacked[i]) - 1, 2.5, 2.5);
}

// Sent again, and lost: always drawn, one to a spot.
function marks(pen, f, tone, size) {
  const { x, y } = f;
  const drawnAt = new Set();
  for (let i = f.from; i < f.to; i += 1) {
    const again = graph.reason[i] >= 0, lost = graph.fate[i] >= 0;
    if (!again && !lost) continue;
    const px = x(graph.sent[i]), py = y(graph.start[i] + graph.length[i] / 2);
    const spot = `${Math.round(px)} ${Math.round(py / 2)} ${again} ${lost}`;
    if (drawnAt.has(spot)) continue;
    drawnAt.add(spot);
    if (again) {
      pen.fillStyle = tone.again;
      pen.fillRect(px - 1.5, py - Math.max(size, 4) / 2, 3, Math.max(size, 4));
    }
    if (lost) {
      const isQueue = catalogue.losses[graph.fate[i]] !== 'channel' && catalogue.losses[graph.fate[i]] !== 'discarded';
      pen.strokeStyle = isQueue ? tone.ink : tone.bad;
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

// The segment nearest to a place in the picture.
function nearest(px, py, reach) {
  const f = frame();
  let found = -1, least = reach * reach;
  for (let i = f.from; i < f.to; i += 1) {
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

function nextLoss() {
  if (!graph) return;
  const from = cursorAt + 1e-9;
  let found = -1;
  for (let i = lowest(graph.sent, from); i < graph.sent.length; i += 1) if (graph.fate[i] >= 0 && graph.sent[i] > from) { found = i; break; }
  if (found < 0) { said('There is no later loss in this picture.'); return; }
  const time = graph.sent[found], half = (view[1] - view[0]) / 2;
  setView(time - half, time + half);
  at(time);
  const reason = catalogue.losses[graph.fate[found]].replaceAll('_', ' ');
  said(`Segment at byte ${number(graph.start[found])} is lost at ${time.toFixed(4)} s: ${reason}.`);
}

let dragged = null;
canvas.addEventListener('wheel', event => { if (!graph) return; event.preventDefault(); const f = frame(); zoom(event.deltaY > 0 ? 1.25 : 0.8, view[0] + (event.offsetX - LEFT) / (f.width - LEFT - RIGHT) * (view[1] - view[0])); }, { passive: false });
canvas.addEventListener('pointerdown', event => { if (!graph) return; dragged = { x: event.offsetX, view: [...view], moved: false }; canvas.setPointerCapture(event.pointerId); });
canvas.addEventListener('pointermove', event => {
  if (!graph) return;
  const scale = (view[1] - view[0]) / (canvas.clientWidth - LEFT - RIGHT);
  if (dragged) {
    const by = (event.offsetX - dragged.x) * scale;
    if (Math.abs(event.offsetX - dragged.x) > 3) dragged.moved = true;
    if (dragged.moved) setView(dragged.view[0] - by, dragged.view[1] - by);
  } else if (event.offsetX > LEFT) at(view[0] + (event.offsetX - LEFT) * scale);
});
canvas.addEventListener('pointerup', event => {
  if (graph && dragged && !dragged.moved) { const i = nearest(event.offsetX, event.offsetY, 14); if (i >= 0) tell(i); }
  dragged = null;
});
canvas.addEventListener('keydown', event => {
  if (!graph) return;
  const width = view[1] - view[0];
  const keys = { ArrowLeft: () => setView(view[0] - width / 5, view[1] - width / 5), ArrowRight: () => setView(view[0] + width / 5, view[1] + width / 5), '+': () => zoom(0.7), '=': () => zoom(0.7), '-': () => zoom(1.4), 0: () => setView(0, shownPath.duration_s), n: nextLoss, Enter: tellHere };
  if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
});

// The segment at the cursor: of those that set out at the same instant a lost one.
function tellHere() {
  const from = Math.min(graph.sent.length - 1, lowest(graph.sent, cursorAt));
  if (from < 0) return;
  let found = from;
  for (let i = from; i < graph.sent.length && graph.sent[i] === graph.sent[from]; i += 1) if (graph.fate[i] >= 0) { found = i; break; }
  tell(found);
}

const AGAIN = { fast_retransmit: 'three duplicate ACKs, or SACK, said that it is lost', hole: 'a partial ACK or SACK showed another hole', timeout: 'the retransmission timer ran out', go_back_n: 'after a timeout everything outstanding goes again', rescue: 'SACK doubts it, and there is nothing else to send', tail_probe: "a probe of the flight's end", window_probe: 'a probe of a closed window', too_long: 'the path takes no segments that long', handshake: 'of the handshake' };
const LOST = { queue_full: 'the queue is full', channel: 'destroyed on the air', notice: 'dropped as a notice', discarded: 'the link layer gives it up', early_drop: 'dropped early by the queue', suppressed: 'taken out by a middlebox' };

async function tell(index) {
  const box = byId('story');
  const { header } = { header: await ask({ ask: 'story', line: lineOf(S, S.shown), seed: S.seed, offset: Math.round(graph.start[index]) }) };
  box.hidden = false;
  const close = made('button', { type: 'button', class: 'small', onclick: () => { box.hidden = true; canvas.focus(); } }, 'Close');
  if (header.error) { box.replaceChildren(made('p', {}, header.error.message), close); return; }
  const link = pipe => { const it = graph.path.links[pipe >> 1]; return `${it.name}${pipe & 1 ? ', up' : ''}`; };
  const words = line => {
    switch (line.what) {
      case 'again': return `The sender sends it again: ${AGAIN[line.reason] || line.reason}.`;
      case 'joins': return line.hop === 0 ? `It sets out${line.again ? ' again' : ''} and joins the queue of link ${link(line.pipe)}.` : `It joins the queue of link ${link(line.pipe)}.`;
      case 'arrives': return `It arrives at the end of link ${link(line.pipe)}.`;
      case 'lost': return `It is lost on link ${link(line.pipe)}: ${LOST[line.reason] || line.reason}.`;
      case 'acked': return 'An ACK that covers it arrives at the sender.';
      default: return `At node ${graph.path.nodes[line.node]}: ${line.what.replaceAll('_', ' ')}.`;
    }
  };
  const lines = header.lines.sort((one, other) => one.time_s - other.time_s);
  box.replaceChildren(made('h3', {}, `Bytes ${number(graph.start[index])} to ${number(graph.start[index] + graph.length[index])} of variant ${letterOf(S.shown)}`), made('ol', {}, ...lines.map(line => made('li', {}, `${line.time_s.toFixed(6)} s: ${words(line)}`, ...losable(line)))), close);
}

// A button that loses a packet of the last hop by its number there, or lets it pass again.
function losable(line) {
  const [link, isDown] = shownPath.there[shownPath.there.length - 1];
  if (line.what !== 'joins' || line.pipe !== 2 * link + (isDown ? 0 : 1) || line.number === null) return [];
  const script = /scripted.*packets *= *"([\d, ]*)"/.exec(keysOf(S, S.shown).channel || '');
  const lost = new Set(script ? script[1].split(',').filter(word => word.trim()).map(Number) : []);
  const isLost = lost.has(line.number);
  const toggle = () => {
    if (isLost) lost.delete(line.number); else lost.add(line.number);
    const packets = [...lost].sort((one, other) => one - other).join(', ');
    ['loss', 'burst', 'ber', 'arq', 'channel'].forEach(key => { delete S.keys[key]; delete S.variants[S.shown].keys[key]; });
    S.keys.channel = `{kind="scripted",packets="${packets}"}`;
    byId('story').hidden = true;
    drawControls();
    changed();
    canvas.focus();
  };
  return [' ', made('button', { type: 'button', class: 'small', onclick: toggle }, isLost ? 'Let it pass' : 'Lose it here, and nothing else but what is so chosen')];
}
