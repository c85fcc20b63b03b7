// Curves over time with one cursor for all, and the table of numbers.
const charts = new Map();
const list = (values, of) => Array.from(values || [], of);
const orGap = value => Number.isFinite(value) ? value : null;
const flowOf = run => `flow.${run.header.path.shown}`;
const WINDOW_S = 1;

// Payload per second over the last second.
function goodput(run) {
  const bytes = run.columns[`${flowOf(run)}.delivered_bytes`], times = run.columns[`${flowOf(run)}.time_s`];
  let from = 0;
  return list(bytes, (now, at) => {
    while (times[at] - times[from] > WINDOW_S + 1e-9) from += 1;
    return at === from ? null : (now - bytes[from]) * 8e-6 / (times[at] - times[from]);
  });
}

function queue(run) {
  const [link, isDown] = run.header.path.there[run.header.path.there.length - 1];
  return list(run.columns[`link.${link}.${isDown ? 'down' : 'up'}.packets`]);
}

const CHARTS = [
  { id: 'goodput', title: 'Goodput, Mbit/s (mean of the last second)', curves: [{ of: goodput }] },
  { id: 'cwnd', title: 'cwnd (line) and ssthresh (dashes), kB', curves: [{ of: run => list(run.columns[`${flowOf(run)}.cwnd_bytes`], value => value / 1e3) }, { dash: [5, 4], of: run => bounded(run) }] },
  { id: 'rtt', title: 'Smoothed RTT (line) and RTO (dashes), ms', curves: [{ of: run => list(run.columns[`${flowOf(run)}.srtt_ms`], orGap) }, { dash: [5, 4], of: run => list(run.columns[`${flowOf(run)}.rto_ms`], orGap) }] },
  { id: 'queue', title: 'Queue at the last hop, packets', curves: [{ of: queue }] },
  { id: 'flight', title: 'In flight, kB', curves: [{ of: run => list(run.columns[`${flowOf(run)}.in_flight_bytes`], value => value / 1e3) }] },
];

// ssthresh begins without a bound: it is drawn from when it has one.
function bounded(run) {
  const highest = Math.max(...run.columns[`${flowOf(run)}.cwnd_bytes`]);
  return list(run.columns[`${flowOf(run)}.ssthresh_bytes`], value => value > 4 * highest ? null : value / 1e3);
}

function drawCharts(runs) {
  const times = run => run.columns[`${flowOf(run)}.time_s`] || [];
  const longest = runs.reduce((one, other) => times(other).length > times(one).length ? other : one);
  const x = list(times(longest));
  for (const { id, title, curves } of CHARTS) {
    const columns = runs.flatMap(run => curves.map(curve => curve.of(run)));
    const data = [x, ...columns.map(column => x.map((_, at) => column[at] ?? null))];
    const kind = `${runs.length} ${colour('--ink')}`;
    let chart = charts.get(id);
    if (chart && chart.kind === kind) { chart.plot.setData(data); continue; }
    chart?.plot.destroy();
    let box = byId(`chart-${id}`);
    if (!box) {
      box = made('div', { class: 'chart', id: `chart-${id}` }, made('h3', {}, title), made('div', { class: 'area', role: 'img', 'aria-label': `${title}: curves of all variants; the table has their means` }));
      byId('charts').append(box);
    }
    const area = box.querySelector('.area');
    const axis = { stroke: colour('--soft'), grid: { stroke: colour('--grid'), width: 1 }, ticks: { stroke: colour('--grid'), width: 1 }, font: '12px system-ui' };
    const plot = new uPlot({
      width: area.clientWidth || 300, height: 170,
      cursor: { sync: { key: 'lab' }, drag: { x: true, y: false }, points: { size: 6 } },
      scales: { x: { time: false }, y: { range: (_, low, high) => [0, (high || 1) * 1.05] } },
      legend: { show: false },
      axes: [{ ...axis, size: 30 }, { ...axis, size: 52 }],
      series: [{}, ...runs.flatMap((_, variant) => curves.map(curve => ({ stroke: colour(TONES[variant]), width: curve.dash ? 1 : 1.6, dash: curve.dash, points: { show: false } })))],
      hooks: { setCursor: [one => { if (one.cursor.event && one.cursor.left >= 0) at(one.posToVal(one.cursor.left, 'x')); }] },
    }, data, area);
    charts.set(id, { plot, kind });
  }
}

function resizeCharts() {
  for (const [id, { plot }] of charts) {
    const width = byId(`chart-${id}`).querySelector('.area').clientWidth;
    if (width && width !== plot.width) plot.setSize({ width, height: 170 });
  }
}

const COLUMNS = [
  ['goodput_kbps', 'Goodput, Mbit/s', 1e-3], ['change', 'against A, %'], ['mean_rtt_ms', 'Mean RTT, ms', 1], ['retransmissions', 'Sent again', 1],
  ['timeouts', 'Timeouts', 1], ['lost_queue_full', 'Lost: queue', 1], ['lost_channel', 'Lost: air', 1],
];

// Means with their 95 % intervals; of one run its numbers.
function drawNumbers(variants, done) {
  byId('heads').replaceChildren(made('tr', {}, made('th', { scope: 'col' }, 'Variant'), ...COLUMNS.map(([, words]) => made('th', { scope: 'col' }, words))));
  byId('caption').textContent = done > 1 ? `Means of ${done} repetitions with their 95 % intervals; the pictures show the first one` : 'One run; intervals follow';
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
