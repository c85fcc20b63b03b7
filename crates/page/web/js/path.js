// The pictured flow's path: nodes, links, queues, and packets in flight.
let shownPath = null;
let lastRuns = [];
let passages = null;
let playing = null;
let cursorAt = 0;

const WIDTH = 340, HEIGHT = 150, WIRE = 62, BACK = 100;

function layout() {
  const order = [];
  const push = node => { if (!order.includes(node)) order.push(node); };
  for (const [link, isDown] of shownPath.there) {
    const it = shownPath.links[link];
    push(isDown ? it.from : it.to);
    push(isDown ? it.to : it.from);
  }
  const gap = (WIDTH - 60) / Math.max(1, order.length - 1);
  return new Map(order.map((node, at) => [node, 30 + at * gap]));
}

const endsOf = (place, link, isDown) => { const it = shownPath.links[link]; const ends = [place.get(it.from), place.get(it.to)]; return isDown ? ends : ends.reverse(); };

function drawPath() {
  const svg = byId('path');
  if (!shownPath || !shownPath.there.length) return;
  svg.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
  const place = layout();
  const parts = [];
  shownPath.there.forEach(([link, isDown], index) => {
    const [from, to] = endsOf(place, link, isDown);
    if (from === undefined || to === undefined) return;
    const it = shownPath.links[link], config = isDown ? it.down : it.up;
    parts.push(drawn('line', { class: 'wire', x1: from, x2: to, y1: WIRE, y2: WIRE }), drawn('line', { class: 'wire', x1: from, x2: to, y1: BACK, y2: BACK, 'stroke-dasharray': '2 3' }));
    const middle = (from + to) / 2, high = 14 + (index % 2) * 2;
    parts.push(drawn('text', { x: middle, y: high, 'text-anchor': 'middle' }, `${config.service === 'trace' ? 'trace, ' : ''}${config.rate}`));
    parts.push(drawn('text', { class: 'faint', x: middle, y: high + 13, 'text-anchor': 'middle' }, `${number(config.delay_ms)} ms`));
    const air = [config.channel, config.arq].filter(word => word !== 'none').join(', ');
    if (air) parts.push(drawn('text', { class: 'faint', x: middle, y: high + 25, 'text-anchor': 'middle' }, air));
    parts.push(drawn('rect', { class: 'room', x: from + 12, y: WIRE - 10, width: 34, height: 8 }), drawn('rect', { class: 'fill', id: `fill-${link}`, x: from + 12, y: WIRE - 10, width: 0, height: 8 }));
  });
  parts.push(drawn('g', { id: 'moving' }));
  const boxed = new Map(shownPath.boxes);
  for (const [node, x] of place) {
    parts.push(drawn('circle', { class: 'node', cx: x, cy: (WIRE + BACK) / 2, r: 9 }));
    parts.push(drawn('text', { x, y: BACK + 22, 'text-anchor': 'middle' }, shownPath.nodes[node]));
    if (boxed.has(node)) parts.push(drawn('text', { class: 'faint', x, y: BACK + 34, 'text-anchor': 'middle' }, boxed.get(node)));
  }
  parts.push(drawn('text', { class: 'faint', id: 'waiting', x: 4, y: HEIGHT - 3 }));
  svg.replaceChildren(...parts);
  const last = lastHop();
  svg.setAttribute('aria-label', `Path ${[...place.keys()].map(node => shownPath.nodes[node]).join(' to ')}; last hop ${last.down.rate}, queue ${roomOf(last.down)}`);
  drawMoment();
}

// Queues and packets at the cursor's time.
function drawMoment() {
  const run = lastRuns[S.shown];
  if (!run || !shownPath || !byId('moving')) return;
  const times = run.columns[`${flowOf(run)}.time_s`] || [];
  const sample = Math.max(0, lowest(times, cursorAt + 1e-9) - 1);
  const words = [];
  for (const [link, isDown] of shownPath.there) {
    const packets = run.columns[`link.${link}.${isDown ? 'down' : 'up'}.packets`];
    const fill = byId(`fill-${link}`);
    if (!packets || !fill) continue;
    let most = 1;
    for (const value of packets) if (value > most) most = value;
    fill.setAttribute('width', String(34 * Math.min(1, packets[sample] / most)));
    words.push(`${shownPath.links[link].name}: ${packets[sample]} packets queued`);
  }
  byId('waiting').textContent = `at ${cursorAt.toFixed(3)} s: ${words.join('; ')}`;
  drawPackets();
}

function drawPackets() {
  const box = byId('moving');
  if (!passages || !box) { box?.replaceChildren(); return; }
  const place = layout(), parts = [];
  const { joins, arrives, fate, pipe, data, retransmission } = passages;
  for (let i = 0; i < joins.length && parts.length < 600; i += 1) {
    if (joins[i] > cursorAt) break;
    const isDown = !(pipe[i] & 1);
    const [from, to] = endsOf(place, pipe[i] >> 1, isDown);
    if (from === undefined || to === undefined) continue;
    const delay = shownPath.links[pipe[i] >> 1][isDown ? 'down' : 'up'].delay_ms / 1e3;
    const y = to > from ? WIRE : BACK;
    if (fate[i] >= 0) {
      if (cursorAt - joins[i] > 0.25 * span()) continue;
      const x = from + (catalogue.losses[fate[i]] === 'channel' ? 0.6 : 0.12) * (to - from);
      parts.push(drawn('path', { class: 'cross', d: `M${x - 4} ${y - 4}l8 8m0 -8l-8 8` }));
    } else if (arrives[i] >= cursorAt) {
      const leaves = Math.max(joins[i], arrives[i] - delay);
      const share = cursorAt <= leaves ? 0 : (cursorAt - leaves) / Math.max(1e-9, arrives[i] - leaves);
      const x = from + (0.12 + 0.83 * share) * (to - from);
      parts.push(drawn('circle', { class: `packet${data[i] ? '' : ' ack'}${retransmission[i] ? ' retransmission' : ''}`, cx: x, cy: y, r: data[i] ? 3.2 : 2 }));
    }
  }
  box.replaceChildren(...parts);
}

const span = () => Math.max(0.02, Math.min(0.4, shownPath.links.reduce((sum, link) => sum + link.down.delay_ms / 1e3, 0)));

const within = value => Math.max(0, Math.min(shownPath.duration_s, value));

// Sets the cursor's time in all pictures.
function at(time) {
  if (!shownPath) return;
  cursorAt = within(time);
  byId('at').value = String(1000 * cursorAt / shownPath.duration_s);
  byId('at').setAttribute('aria-valuetext', `${cursorAt.toFixed(3)} s`);
  byId('at-shown').textContent = `${cursorAt.toFixed(3)} s`;
  pointCharts();
  drawMoment();
  graph.at(cursorAt);
}

// Requests the packets of the next time range when needed.
async function fetchPassages() {
  const from = Math.max(0, cursorAt - 2 * span() - 0.5);
  passagesWanted = { from_s: from, to_s: from + 12, most: 60000 };
  picture('hops');
}
let passagesWanted = null;

function play() {
  if (playing) { stop(); return; }
  byId('play').textContent = 'Pause';
  playing = { from: performance.now(), at: cursorAt };
  fetchPassages();
  const tick = now => {
    if (!playing) return;
    const passed = Math.min(0.1, (now - playing.from) / 1e3) * Number(byId('speed').value);
    playing.from = now;
    if (cursorAt + passed >= shownPath.duration_s) { stop(); return; }
    at(cursorAt + passed);
    if (passagesWanted && cursorAt > passagesWanted.to_s - span()) fetchPassages();
    if (graph.view && cursorAt > graph.view[1]) graph.setView(cursorAt, cursorAt + graph.view[1] - graph.view[0]);
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}

function stop() {
  playing = null;
  byId('play').textContent = 'Play the packets';
}

function step() {
  if (playing) stop();
  at(cursorAt + span() / 40);
  if (!passages || !passagesWanted || cursorAt > passagesWanted.to_s || cursorAt < passagesWanted.from_s) fetchPassages();
}
