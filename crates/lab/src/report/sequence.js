// Interactive time-sequence graphs of a report. Without scripts the page shows a static plot of the first view.

// Decodes the output of packed.rs into columns.
function unpackedSegments(letters) {
  const text = atob(letters);
  let at = 0;
  const next = () => {
    let value = 0, factor = 1;
    for (;;) {
      const byte = text.charCodeAt(at);
      at += 1;
      value += (byte & 127) * factor;
      factor *= 128;
      if (byte < 128) return value % 2 ? -(value + 1) / 2 : value / 2;
    }
  };
  const columns = (names, rows) => Object.fromEntries(names.map(name => [name, new Float64Array(rows)]));
  const data = columns(['sent', 'start', 'length', 'arrived', 'fate', 'pipe', 'reason'], next());
  let time = 0, end = 0, size = 0, delay = 0;
  for (let row = 0; row < data.sent.length; row += 1) {
    time += next();
    const start = end + next();
    size += next();
    delay += next();
    end = start + size;
    data.sent[row] = time / 1e6;
    data.start[row] = start;
    data.length[row] = size;
    data.arrived[row] = delay ? (time + delay - 1) / 1e6 : NaN;
    data.fate[row] = next() - 2;
    data.pipe[row] = next() - 1;
    data.reason[row] = next() - 1;
  }
  const acks = columns(['at', 'acked', 'sacked'], next());
  time = 0;
  let acked = 0;
  for (let row = 0; row < acks.at.length; row += 1) {
    time += next();
    acked += next();
    const beyond = next();
    acks.at[row] = time / 1e6;
    acks.acked[row] = acked;
    acks.sacked[row] = beyond < 0 ? NaN : acked + beyond;
  }
  const events = columns(['eventAt', 'event'], next());
  time = 0;
  for (let row = 0; row < events.event.length; row += 1) {
    time += next();
    events.eventAt[row] = time / 1e6;
    events.event[row] = next();
  }
  return { ...data, ...acks, ...events };
}

// Events of the segment's first byte: each transmission with its fate, and the ACK of this byte.
function storyOf(segments, index, { links, again, losses }) {
  const byte = segments.start[index], lines = [];
  for (let i = 0; i < segments.sent.length; i += 1) {
    if (byte < segments.start[i] || byte >= segments.start[i] + segments.length[i]) continue;
    const why = again[segments.reason[i]];
    lines.push([segments.sent[i], why ? `The sender retransmits it: ${RETRANSMIT_REASONS[why] || why}.` : 'The sender sends it.']);
    if (segments.fate[i] >= 0) {
      const reason = losses[segments.fate[i]], pipe = segments.pipe[i];
      const where = pipe < 0 ? '' : ` on link ${links[Math.floor(pipe / 2)]}${pipe % 2 ? ', up' : ''}`;
      lines.push([null, `It is lost${where}: ${LOSS_REASONS[reason] || reason}.`]);
    } else if (segments.arrived[i] === segments.arrived[i]) lines.push([segments.arrived[i], 'It arrives.']);
  }
  const acked = segments.acked.findIndex(bytes => bytes > byte);
  if (acked >= 0) lines.push([segments.at[acked], 'An ACK that covers it arrives at the sender.']);
  return lines;
}

for (const figure of document.querySelectorAll('figure.time-sequence')) {
  const about = JSON.parse(figure.querySelector('script').textContent);
  const unpacked = new Map();
  const canvas = made('canvas', { class: 'sequence', tabindex: '0', role: 'img', 'aria-label': about.title, 'aria-describedby': `${figure.id}-help` });
  const key = made('p', { class: 'key-of-graph' });
  const help = made('p', { class: 'help-of-graph', id: `${figure.id}-help` }, `${SEQUENCE_HELP} After a click the wheel zooms, too.`);
  const said = made('p', { class: 'said', role: 'status' });
  const story = made('div', { class: 'story', role: 'region', 'aria-label': 'Story of a segment', 'aria-live': 'polite', hidden: true });
  const run = () => about.runs[Number(choice.value)];
  const picked = index => {
    const { start, length } = graph.segments;
    const close = made('button', { type: 'button', onclick: () => { story.hidden = true; canvas.focus(); } }, 'Close');
    const lines = storyOf(graph.segments, index, { ...about, links: run().links });
    const whose = about.runs.length > 1 ? ` of ${run().name}` : '';
    story.replaceChildren(made('strong', {}, `Bytes ${number(start[index])} to ${number(start[index] + length[index])}${whose}`), made('ol', {}, ...lines.map(([time, words]) => made('li', {}, time === null ? words : `${time.toFixed(6)} s: ${words}`))), close);
    story.hidden = false;
  };
  const graph = sequenceGraph(canvas, { losses: () => about.losses, picked, said: words => { said.textContent = words; } });
  const choice = made('select', { 'aria-label': about.title });
  choice.append(...about.runs.map(({ name }, at) => made('option', { value: String(at) }, name)));
  // Other runs in the same picture. At first this is the second run if the runs are a comparison.
  const beside = new Set(about.together ? [1] : []);
  const segments = at => {
    const { letters, to } = about.runs[at];
    if (!unpacked.has(at)) unpacked.set(at, unpackedSegments(letters));
    return { ...unpacked.get(at), to };
  };
  const layer = at => ({ name: about.runs[at].name, tone: `--c${at % 6 + 1}`, dash: at % DASHES.length, order: at });
  const box = at => made('input', { type: 'checkbox', value: String(at), onchange: event => { beside[event.target.checked ? 'add' : 'delete'](at); show(); } });
  const boxes = about.runs.map((_, at) => box(at));
  const others = made('fieldset', { class: 'beside' }, made('legend', {}, 'In the same picture'), ...about.runs.map(({ name }, at) => made('label', {}, boxes[at], ` ${name}`)));
  const show = () => {
    const first = Number(choice.value), drawn = [...beside].filter(at => at !== first);
    boxes.forEach((one, at) => { one.disabled = at === first; one.checked = at === first || beside.has(at); });
    const { to, duration } = [first, ...drawn].map(at => about.runs[at]).reduce((one, other) => other.to < one.to ? other : one);
    story.hidden = true;
    said.textContent = to < duration ? `Segments and ACKs from ${to.toFixed(3)} s on are not in this report: lasthop lab shows them.` : '';
    graph.show(segments(first), run().duration, layer(first), drawn.map(at => ({ segments: segments(at), ...layer(at) })));
    key.textContent = graph.key;
  };
  choice.addEventListener('change', show);
  const button = (words, act) => made('button', { type: 'button', onclick: act }, words);
  const saved = () => save(`${figure.id}.svg`, new Blob([graph.svg(900, 400, about.title)], { type: 'image/svg+xml' }));
  const steer = made('div', { class: 'steer' }, ...(about.runs.length > 1 ? [choice, others] : []), button('Zoom in', () => graph.zoom(0.5)), button('Zoom out', () => graph.zoom(2)), button('Whole run', graph.whole), button('Next loss', graph.nextLoss), button('Save this view as SVG', saved));
  const still = figure.querySelector('.still');
  still.replaceWith(key, canvas, steer, help, said, story);
  show();
  addEventListener('resize', graph.drawSoon);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', graph.drawSoon);
  matchMedia('print').addEventListener('change', graph.drawSoon);
}
