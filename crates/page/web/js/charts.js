// Curves drawn by the engine, with a common cursor, and the table of numbers.
const flowOf = run => `flow.${run.header.path.shown}`;
let between = null;

function drawCharts(charts) {
  for (const { id, title, caption, left, below, inner, ...plot } of charts) {
    let box = byId(`chart-${id}`);
    if (!box) {
      box = made('div', { class: 'chart', id: `chart-${id}` }, made('h3', { title: caption }, title), made('div'));
      byId('charts').append(box);
      listen(box);
    }
    const element = box.lastElementChild;
    element.className = plot.class;
    // The engine's own markup, with text from scenarios escaped.
    element.innerHTML = inner || '<p class="hint">Nothing to draw.</p>';
    element.style.setProperty('--left', left);
    element.style.setProperty('--below', below);
    for (const one of element.querySelectorAll('.box')) one.append(made('div', { class: 'here' }), made('div', { class: 'span' }));
  }
  byId('curves').disabled = !between && !graph.view;
  byId('curves').textContent = between ? 'Curves: whole run' : 'Curves: this time range';
  pointCharts();
}

const endsOfTime = area => area.dataset.x.split(' ').map(Number);

// Draws the cursor in each chart.
function pointCharts() {
  for (const line of document.querySelectorAll('#charts .here')) {
    const [low, high] = endsOfTime(line.parentElement.querySelector('.area'));
    line.hidden = cursorAt < low || cursorAt > high;
    line.style.left = `${100 * (cursorAt - low) / (high - low)}%`;
  }
}

// The pointer moves the cursor; dragging zooms to a time range, a double click shows the whole run.
function listen(box) {
  let from = null;
  const timeAt = event => {
    const area = box.querySelector('.area');
    if (!area) return null;
    const { left, width } = area.getBoundingClientRect(), [low, high] = endsOfTime(area);
    return Math.max(low, Math.min(high, low + (event.clientX - left) / width * (high - low)));
  };
  const mark = (one, other) => {
    const span = box.querySelector('.span');
    if (!span) return;
    const [low, high] = endsOfTime(box.querySelector('.area'));
    span.style.left = `${100 * (Math.min(one, other) - low) / (high - low)}%`;
    span.style.width = `${100 * Math.abs(other - one) / (high - low)}%`;
  };
  box.addEventListener('pointerdown', event => { if (event.button === 0 && event.target.closest('.box')) from = { time: timeAt(event), x: event.clientX }; });
  box.addEventListener('pointermove', event => {
    const time = event.target.closest('.box') ? timeAt(event) : null;
    if (time === null) return;
    if (from) mark(from.time, time); else at(time);
  });
  const end = event => {
    if (!from) return;
    const [one, other, moved] = [from.time, timeAt(event), Math.abs(event.clientX - from.x)];
    from = null;
    mark(one, one);
    if (event.type === 'pointerup' && moved > 5) showBetween([Math.min(one, other), Math.max(one, other)]);
  };
  box.addEventListener('pointerup', end);
  box.addEventListener('pointerleave', end);
  box.addEventListener('dblclick', () => showBetween(null));
}

// Draws the curves of a time range.
async function showBetween(span) {
  between = span;
  const { charts } = await ask({ ask: 'charts', between_s: between });
  if (charts) drawCharts(charts);
}

const COLUMNS = [
  ['goodput_kbps', 'Goodput, Mbit/s', 1e-3], ['change', 'against A, %'], ['mean_rtt_ms', 'Mean RTT, ms', 1], ['retransmissions', 'Retransmissions', 1],
  ['timeouts', 'Timeouts', 1], ['lost_queue_full', 'Lost: queue', 1], ['lost_channel', 'Lost: channel', 1],
];

// Means with 95 % intervals, or the numbers of one run.
function drawNumbers(variants, done) {
  byId('heads').replaceChildren(made('tr', {}, made('th', { scope: 'col' }, 'Variant'), ...COLUMNS.map(([, words]) => made('th', { scope: 'col' }, words))));
  byId('caption').textContent = done > 1 ? `Means of ${done} repetitions with 95 % intervals; the pictures show the first run` : 'One run; intervals follow';
  byId('numbers').replaceChildren(...variants.map((flows, variant) => {
    const flow = flows[shownPath ? Math.min(shownPath.shown, flows.length - 1) : 0];
    const cells = COLUMNS.map(([name, , factor]) => {
      if (name === 'change') {
        const change = variant ? flow.goodput_kbps?.change : null;
        return change ? cell(signed(change.percent), change.ci95 && change.ci95.map(signed)) : made('td', {}, variant ? '–' : '');
      }
      const it = flow[name];
      return it ? cell(number(it.mean * factor), it.ci95 && it.ci95.map(end => number(Math.max(0, end * factor)))) : made('td', {}, '–');
    });
    const others = flows.length > 1 ? ` (flow ${flow.flow} of ${flows.length})` : '';
    return made('tr', {}, made('th', { scope: 'row' }, made('span', { class: 'tone', tone: TONES[variant] }), letterOf(variant) + others), ...cells);
  }));
}

const signed = value => (value > 0 ? '+' : '') + value.toFixed(1);
const cell = (text, ends) => made('td', {}, text, ...(ends ? [made('small', {}, `${ends[0]} … ${ends[1]}`)] : []));
