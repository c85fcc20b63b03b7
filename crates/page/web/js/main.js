// Reactions to changed settings, answers of the engine, and buttons.
let S = usual();
let asksAt = 0;
// Interface for programs, beside the controls.
window.lab = {
  latencies: [], first: 0, runs: () => lastRuns, state: () => S, line: variant => lineOf(S, variant), ask,
  settings: unpackedLink, take,
  // One run: its flows' numbers, and a checksum over its columns.
  run: request => new Promise(done => { probed = done; begin({ kind: 'probe', requests: [request], seed: request.seed, runs: 1, keeps: false }); }).then(({ answers: [{ header, columns }], ms }) => ({ header, sum: sum(columns), ms })),
};
let probed = null;

// FNV-1a over the columns' 32-bit words.
function sum(columns) {
  let hash = 0x811c9dc5;
  for (const column of Object.values(columns)) {
    for (const word of new Uint32Array(column.buffer, column.byteOffset, 2 * column.length)) hash = Math.imul(hash ^ word, 0x01000193);
  }
  return hash >>> 0;
}


const MOST_SEGMENTS = 120000;
let segmentsWanted = null;

// After a change of settings: redraws the pictures, then starts the repetitions and updates the link.
function changed() {
  asksAt = asksAt || performance.now();
  segmentsWanted = null;
  passages = null;
  if (waiting) return;
  waiting = true;
  queueMicrotask(() => { waiting = false; picture('all'); remember(); });
}
let waiting = false;

function picture(what) {
  const segments = segmentsWanted || { from_s: 0, to_s: 1e9, most: MOST_SEGMENTS };
  if (what === 'all') {
    const inPicture = drawnVariants();
    const requests = S.variants.map((_, variant) => ({ line: lineOf(S, variant), seed: S.seed, variant, samples: true, segments: inPicture.includes(variant) ? segments : null }));
    begin({ kind: 'all', requests, seed: S.seed, runs: S.runs, keeps: true, between });
  } else {
    // More detail for the visible part.
    const variants = what === 'segments' ? drawnVariants() : [S.shown];
    const requests = variants.map(variant => ({ line: lineOf(S, variant), seed: S.seed, segments: what === 'segments' ? segments : null, hops: what === 'hops' ? passagesWanted : null }));
    begin({ kind: what, requests, seed: S.seed, runs: 1, keeps: false });
  }
}

// Runs again only if the graph lacks segments for the visible part.
function wantSegments() {
  const [from, to] = graph.view;
  if (to <= graph.to && from >= (segmentsWanted ? segmentsWanted.from_s : 0)) return;
  clearTimeout(wantSegments.timer);
  wantSegments.timer = setTimeout(() => {
    const width = to - from;
    segmentsWanted = { from_s: Math.max(0, from - width), to_s: to + width, most: MOST_SEGMENTS };
    picture('segments');
  }, 120);
}

function onJob(message) {
  if (message.kind === 'intervals') {
    drawNumbers(message.variants, message.done);
    byId('status').dataset.done = String(message.done);
    document.body.dataset.repetitions = String(message.done);
    return;
  }
  if (message.kind === 'probe') { probed(message); return; }
  const failed = message.answers.findIndex(answer => answer.header.error);
  if (failed >= 0) {
    showError(message.answers[failed].header.error, message.kind === 'all' ? failed : S.shown);
    byId('status').textContent = 'The pictures show the last valid settings.';
    asksAt = 0;
    return;
  }
  if (message.kind === 'hops') {
    const c = message.answers[0].columns;
    passages = { joins: c['hop.joins_s'], arrives: c['hop.arrives_s'], fate: c['hop.fate'], pipe: c['hop.pipe'], data: c['hop.data'], retransmission: c['hop.retransmission'] };
    drawPackets();
    return;
  }
  if (message.kind === 'segments') {
    setGraph(message.answers);
    return;
  }
  showAll(message);
}

function showAll({ answers, charts, ms }) {
  showError(null);
  lastRuns = answers;
  const before = shownPath && JSON.stringify(shownPath);
  shownPath = answers[S.shown].header.path;
  if (before !== JSON.stringify(shownPath)) { drawPath(); if (!sliding()) refreshSliders(); }
  cursorAt = within(cursorAt);
  setGraph(drawnVariants().map(variant => answers[variant]));
  drawCharts(charts);
  drawShown();
  drawMoment();
  at(cursorAt);
  const notes = [...new Set(answers.flatMap(answer => answer.header.notes || []))];
  const at0 = asksAt;
  asksAt = 0;
  requestAnimationFrame(() => setTimeout(() => {
    const now = performance.now();
    if (at0) window.lab.latencies.push(now - at0);
    window.lab.first = window.lab.first || now;
    byId('status').textContent = [`${answers.length === 1 ? 'One run' : `${answers.length} runs`} in ${ms.toFixed(0)} ms.`, ...notes].join(' ');
    document.body.dataset.pictures = String(Number(document.body.dataset.pictures || 0) + 1);
  }, 0));
}

const sliding = () => document.activeElement && document.activeElement.type === 'range';

function refreshSliders() {
  const focused = document.activeElement && document.activeElement.id;
  byId('sliders').replaceChildren(...Object.keys(SCALES).map(slider), losses());
  if (focused) byId(focused)?.focus();
}

// A sentence that describes the variants, above the pictures.
function drawAbout() {
  const names = S.variants.map((_, variant) => letterOf(variant)), changes = S.variants.map(({ keys }) => `with${describe(keys) ? ` ${describe(keys)}` : 'out a change'}`);
  byId('about').textContent = names.length > 1
    ? `Variants ${new Intl.ListFormat('en-GB').format(names)} run over the same path with the same random losses: ${names.map((name, variant) => `${name} ${changes[variant]}`).join('; ')}.`
    : `Variant A runs over this path, ${changes[0]}.`;
}

function drawShown() {
  drawAbout();
  byId('shown').replaceChildren(...S.variants.map((_, variant) => made('option', { value: String(variant), selected: variant === S.shown }, letterOf(variant))));
  drawOver();
}

// Stores the settings in the address if they fit.
async function remember() {
  const packed = await packedLink(S);
  if (packed.length + location.href.split('#')[0].length > LONGEST_LINK) return null;
  history.replaceState(null, '', `#${packed}`);
  return location.href;
}

async function copied(text, words) {
  try { await navigator.clipboard.writeText(text); said(`${words} Copied.`); } catch (_) { said(`${words} ${text}`); }
}

function on(id, event, act) { byId(id).addEventListener(event, act); }

on('base', 'change', event => {
  const base = event.target.value;
  S.lesson = '';
  S.base = base;
  S.keys = base === ONE_LINK ? usual().keys : { duration: '20s' };
  S.variants = [{ keys: {} }];
  graph.forget();
  between = null;
  shownPath = null;
  drawControls();
  changed();
});
on('seed', 'change', event => {
  const text = event.target.value.trim();
  if (!/^\d{1,19}$/.test(text) || BigInt(text) > LARGEST_SEED) { said(`A seed is a whole number from 0 to ${LARGEST_SEED}.`); event.target.setAttribute('aria-invalid', 'true'); return; }
  event.target.removeAttribute('aria-invalid');
  S.seed = text;
  changed();
});
on('runs', 'change', event => { S.runs = Math.max(1, Math.min(200, Math.round(Number(event.target.value)) || 1)); event.target.value = S.runs; changed(); });
on('more', 'change', event => { S.more = event.target.value.trim(); changed(); });
on('add', 'click', () => {
  const copy = JSON.parse(JSON.stringify(S.variants[S.variants.length - 1]));
  S.variants.push(copy);
  drawVariants();
  changed();
  byId('variants').lastElementChild.querySelector('select')?.focus();
});
on('use', 'click', async () => { await own(byId('toml').value); });
on('resolve', 'click', async () => {
  const { toml, error } = await ask({ ask: 'show', line: lineOf(S, S.shown) });
  if (error) { showError(error, S.shown); return; }
  byId('toml').value = toml;
});
on('share', 'click', async () => {
  const address = await remember();
  if (!address) { said(`These settings exceed a link of ${LONGEST_LINK} characters: save them as a scenario.`); return; }
  const hasFile = Object.values(S.keys).some(value => files.has(value));
  await copied(address, hasFile ? 'The link has every setting except the recorded trace.' : 'The link has every setting.');
});
on('command', 'click', async () => {
  const words = S.base === OWN ? `Save your scenario as ${OWN} first.` : 'The same numbers on the command line:';
  await copied(commands(S).join('\n'), words);
});
on('scenario', 'click', async () => {
  const { toml, error } = await ask({ ask: 'show', line: lineOf(S, S.shown) });
  if (error) { showError(error, S.shown); return; }
  save(`lab-${letterOf(S.shown)}.toml`, new Blob([toml], { type: 'text/plain' }));
  said(`Variant ${letterOf(S.shown)}: lasthop run lab-${letterOf(S.shown)}.toml --seed ${S.seed} --runs ${S.runs}`);
});
on('csv', 'click', () => save('lab.csv', new Blob([csv()], { type: 'text/csv' })));
on('png', 'click', png);
on('svg', 'click', () => save('lab.svg', new Blob([wholePicture()], { type: 'image/svg+xml' })));

// The menu closes after a choice, a click elsewhere, or Escape.
function closeMenu() {
  const menu = byId('saves'), summary = menu.firstElementChild;
  if (menu.contains(document.activeElement)) summary.focus();
  menu.open = false;
}
document.addEventListener('click', event => { if (!event.target.closest('#saves > summary')) closeMenu(); });
on('saves', 'keydown', event => { if (event.key === 'Escape') closeMenu(); });
on('curves', 'click', () => showBetween(between ? null : graph.view));
on('licence', 'click', () => { byId('licences').hidden = !byId('licences').hidden; });
on('shown', 'change', event => { S.shown = Number(event.target.value); changed(); });
on('at', 'input', event => { if (shownPath) at(Number(event.target.value) / 1000 * shownPath.duration_s); });
on('play', 'click', play);
on('step', 'click', step);
on('next-loss', 'click', () => { graph.nextLoss(); fetchPassages(); });
on('lessons', 'change', event => { if (event.target.value) open(event.target.value); });
document.querySelectorAll('[data-zoom]').forEach(button => button.addEventListener('click', () => ({ in: () => graph.zoom(0.5), out: () => graph.zoom(2), all: graph.whole })[button.dataset.zoom]()));

// Files: a scenario or a recorded trace.
const files = new Set();
async function own(text) {
  S.toml = text;
  S.base = OWN;
  S.keys = {};
  S.variants = [{ keys: {} }];
  graph.forget();
  between = null;
  shownPath = null;
  await ask({ ask: 'file', name: OWN, text });
  drawControls();
  changed();
}

document.addEventListener('dragover', event => { event.preventDefault(); document.body.classList.add('over'); });
document.addEventListener('dragleave', () => document.body.classList.remove('over'));
document.addEventListener('drop', async event => {
  event.preventDefault();
  document.body.classList.remove('over');
  for (const file of event.dataTransfer.files) await take(file.name, await file.text());
});

async function take(name, text) {
  if (name.endsWith('.toml')) { byId('toml').value = text; await own(text); return; }
  const plain = name.replaceAll(/[^\w.-]/g, '_');
  files.add(plain);
  await ask({ ask: 'file', name: plain, text });
  const { up, rate } = S.keys;
  S.keys = merged(S.keys, { trace: plain });
  if (S.base === ONE_LINK && up === undefined) S.keys.up = rate || '10Mbit/s';
  drawControls();
  changed();
  said(`The link now uses the trace ${plain}.`);
}

addEventListener('resize', graph.drawSoon);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', graph.drawSoon);
addEventListener('hashchange', () => restore());

// Settings from the command line: a line, or a scenario's text with changes, and files.
const given = JSON.parse(byId('given').textContent || 'null');

async function begun({ line, toml, files: others, seed, runs }) {
  for (const [name, text] of others) { files.add(name); await ask({ ask: 'file', name, text }); }
  const comma = line.indexOf(','), first = comma < 0 ? line : line.slice(0, comma);
  const isPath = toml === null && !first.includes('=');
  const base = toml !== null ? OWN : isPath ? first : ONE_LINK;
  S = { ...usual(), base, toml: toml ?? '', seed, runs: Math.min(200, runs), keys: pairs(isPath ? line.slice(first.length + 1) : line), variants: [{ keys: {} }] };
}

async function restore() {
  const hash = location.hash.slice(1);
  if (hash && hash !== 'pictures') {
    const lesson = LESSONS.find(one => one.id === hash);
    if (lesson) { open(lesson.id); return; }
    const found = await unpackedLink(hash);
    if (found) S = found; else said('This link is damaged; the default settings are shown.');
  }
  if (!hash && given) await begun(given);
  if (S.base === OWN) await ask({ ask: 'file', name: OWN, text: S.toml });
  graph.forget();
  between = null;
  shownPath = null;
  drawControls();
  changed();
}

ready.then(async () => {
  catalogue = await ask({ ask: 'catalogue' });
  const paths = catalogue.entries.filter(one => one.kind === 'path');
  byId('base').append(made('option', { value: ONE_LINK }, 'one link'), ...paths.map(one => made('option', { value: one.name, title: one.summary }, one.name)), made('option', { value: OWN }, 'your own TOML'));
  byId('lessons').append(made('option', { value: '' }, 'none'), ...LESSONS.map(one => made('option', { value: one.id }, one.name)));
  await restore();
});
