// Sliders of the path, changes of variants, and error messages beside their fields.
const SCALES = {
  rate: { name: 'Rate down', unit: 'Mbit/s', least: 0.05, most: 200, read: text => amount(text, { 'bit/s': 1e-6, 'kbit/s': 1e-3, 'Mbit/s': 1, 'Gbit/s': 1e3 }) },
  up: { name: 'Rate up', unit: 'Mbit/s', least: 0.01, most: 200, read: text => amount(text, { 'bit/s': 1e-6, 'kbit/s': 1e-3, 'Mbit/s': 1, 'Gbit/s': 1e3 }) },
  rtt: { name: 'Round trip without queues', unit: 'ms', least: 1, most: 1000, read: text => amount(text, { us: 1e-3, ms: 1, s: 1e3 }) },
  queue: { name: 'Queue', unit: 'packets', units: ['packets', 'KB', 'bdp'], least: 1, most: 2000, read: text => amount(text, { packets: 1, KB: 1, bdp: 1, MB: 1000 }) },
  duration: { name: 'Length of a run', unit: 's', least: 1, most: 300, read: text => amount(text, { ms: 1e-3, s: 1, min: 60 }) },
  count: { name: 'Flows', unit: '', least: 1, most: 50, whole: true, read: text => amount(text, { '': 1 }) },
};

const LOSSES = {
  none: { name: 'as in the path', keys: [] },
  loss: { name: 'independent losses', keys: [['loss', 'share lost', '1%']] },
  burst: { name: 'bursts', keys: [['loss', 'share lost', '1%'], ['burst', 'mean burst, packets', '5']] },
  ber: { name: 'bit errors, with ARQ', keys: [['ber', 'bit error rate', '2e-5'], ['arq', 'link layer', '{kind="repeat",transmissions=4,delay="6 ms"}']] },
  rlc: { name: 'bit errors under RLC', keys: [['ber', 'bit error rate', '2e-5'], ['arq', 'link layer', 'rlc']] },
  fading: { name: 'fading', keys: [['channel', 'channel', 'fading']] },
  other: { name: 'another channel', keys: [['channel', 'channel', '{kind="scripted",packets="20, 21"}']] },
};

function amount(text, units) {
  const found = /^\s*([\d.]+(?:e-?\d+)?)\s*(.*?)\s*$/i.exec(text || '');
  if (!found) return NaN;
  const unit = Object.keys(units).find(known => known.toLowerCase() === found[2].toLowerCase());
  return unit === undefined ? NaN : Number(found[1]) * units[unit];
}

const nice = (value, whole) => {
  if (whole || value >= 100) return Math.round(value);
  return Number(value.toPrecision(value >= 10 ? 3 : 2));
};
const STEPS = 300;
const placeOf = (scale, value) => Math.round(STEPS * Math.log(value / scale.least) / Math.log(scale.most / scale.least));
const valueAt = (scale, place) => nice(scale.least * (scale.most / scale.least) ** (place / STEPS), scale.whole);

let catalogue = null;

function drawControls() {
  byId('base').value = S.base;
  byId('seed').value = S.seed;
  byId('runs').value = S.runs;
  byId('more').value = S.more;
  byId('toml').value = S.toml;
  byId('lessons').value = S.lesson;
  byId('sliders').replaceChildren(...Object.keys(SCALES).map(slider), losses());
  drawVariants();
  drawLesson();
}

function drawVariants() {
  byId('variants').replaceChildren(...S.variants.map((_, variant) => fieldset(variant)));
  byId('add').disabled = S.variants.length >= MOST_VARIANTS;
}

// Values of the path itself, for untouched sliders.
function ofPath(key) {
  const last = lastHop();
  if (!last) return '';
  const { down, up } = last;
  const sum = hops => hops.reduce((all, [link, isDown]) => all + shownPath.links[link][isDown ? 'down' : 'up'].delay_ms, 0);
  switch (key) {
    case 'rate': return down.rate;
    case 'up': return up.rate;
    case 'rtt': return `${number(sum(shownPath.there) + sum(shownPath.back))} ms`;
    case 'queue': return roomOf(down);
    case 'count': return String(shownPath.flows.length);
    case 'duration': return `${number(shownPath.duration_s)} s`;
    default: return '';
  }
}

function lastHop() {
  if (!shownPath || !shownPath.there.length) return null;
  const [link, isDown] = shownPath.there[shownPath.there.length - 1];
  const it = shownPath.links[link];
  return isDown ? { link, isDown, down: it.down, up: it.up } : { link, isDown, down: it.up, up: it.down };
}

function roomOf(direction) {
  if (!direction.room) return direction.queue;
  const { packets, bytes } = direction.room;
  const words = packets ? `${packets} packets` : bytes ? `${number(bytes / 1000)} KB` : 'unlimited';
  return direction.queue === 'drop_tail' ? words : `${direction.queue}, ${words}`;
}

function slider(key) {
  const scale = SCALES[key];
  const written = S.keys[key];
  const unit = scale.units ? scale.units.find(one => (written || '').toLowerCase().endsWith(one.toLowerCase())) || scale.unit : scale.unit;
  const range = unit === 'bdp' ? { ...scale, least: 0.05, most: 20 } : scale;
  const now = scale.read(written === undefined ? ofPath(key) : written);
  const text = made('input', { type: 'text', id: `text-${key}`, 'aria-label': `${scale.name}, as in a scenario`, spellcheck: 'false', value: written === undefined ? '' : written, placeholder: ofPath(key) || 'as in the path', 'data-key': key });
  const bar = made('input', { type: 'range', id: `slide-${key}`, 'aria-label': scale.name, min: '0', max: String(STEPS), step: '1' });
  const show = () => {
    const value = written === undefined && S.keys[key] === undefined ? ofPath(key) : S.keys[key];
    bar.setAttribute('aria-valuetext', value || 'as in the path');
  };
  bar.value = Number.isFinite(now) && now > 0 ? Math.max(0, Math.min(STEPS, placeOf(range, now))) : STEPS / 2;
  const unitChoice = scale.units && made('select', { 'aria-label': `Unit of ${scale.name}`, class: 'small', onchange: event => {
    S.keys[key] = event.target.value === 'bdp' ? '1bdp' : event.target.value === 'KB' ? '64KB' : '60packets';
    drawControls();
    changed();
  } }, ...scale.units.map(one => made('option', { value: one, selected: one === unit }, one)));
  bar.addEventListener('input', () => {
    S.keys[key] = `${valueAt(range, Number(bar.value))}${unit}`;
    if (key === 'rate') delete S.keys.trace;
    text.value = S.keys[key];
    show();
    changed();
  });
  text.addEventListener('change', () => {
    if (text.value.trim()) S.keys[key] = text.value.trim(); else delete S.keys[key];
    drawControls();
    changed();
    byId(`text-${key}`).focus();
  });
  show();
  return made('div', { class: 'slider', 'data-place': key }, made('div', { class: 'top' }, made('label', { for: `slide-${key}` }, scale.name), made('span', { class: 'inner' }, text, ...(unitChoice ? [unitChoice] : []))), bar);
}

function lossKind() {
  const { loss, burst, ber, arq, channel } = S.keys;
  if (channel !== undefined) return channel === 'fading' || channel.includes('"fading"') ? 'fading' : 'other';
  if (ber !== undefined) return (arq || '').includes('rlc') ? 'rlc' : 'ber';
  if (loss !== undefined) return burst === undefined ? 'loss' : 'burst';
  return 'none';
}

function losses() {
  const kind = lossKind();
  const choice = made('select', { id: 'losses', onchange: event => {
    ['loss', 'burst', 'ber', 'arq', 'channel'].forEach(key => delete S.keys[key]);
    for (const [key, , usually] of LOSSES[event.target.value].keys) S.keys[key] = usually;
    drawControls();
    changed();
    byId('losses').focus();
  } }, ...Object.entries(LOSSES).map(([name, one]) => made('option', { value: name, selected: name === kind }, one.name)));
  const inputs = LOSSES[kind].keys.map(([key, words]) => {
    const text = made('input', { type: 'text', id: `text-${key}`, value: S.keys[key] || '', spellcheck: 'false', 'data-key': key });
    text.addEventListener('change', () => { if (text.value.trim()) S.keys[key] = text.value.trim(); else delete S.keys[key]; drawControls(); changed(); byId(`text-${key}`)?.focus(); });
    const rows = [made('div', { class: 'top' }, made('label', { for: `text-${key}` }, words), text)];
    if (key === 'loss' || key === 'ber') {
      const scale = key === 'loss' ? { least: 0.01, most: 30 } : { least: 1e-7, most: 1e-3 };
      const value = key === 'loss' ? parseFloat(S.keys[key]) * (S.keys[key].includes('%') ? 1 : 100) : Number(S.keys[key]);
      const bar = made('input', { type: 'range', id: `slide-${key}`, 'aria-label': words, min: '0', max: String(STEPS) });
      bar.value = value > 0 ? Math.max(0, Math.min(STEPS, placeOf(scale, value))) : 0;
      bar.setAttribute('aria-valuetext', S.keys[key]);
      bar.addEventListener('input', () => {
        const moved = scale.least * (scale.most / scale.least) ** (Number(bar.value) / STEPS);
        S.keys[key] = key === 'loss' ? `${Number(moved.toPrecision(2))}%` : moved.toExponential(1).replace('+', '');
        text.value = S.keys[key];
        bar.setAttribute('aria-valuetext', S.keys[key]);
        changed();
      });
      rows.push(bar);
    }
    return made('div', { class: 'slider', 'data-place': key }, ...rows);
  });
  return made('div', { class: 'slider' }, made('div', { class: 'top' }, made('label', { for: 'losses' }, 'Channel losses'), choice), ...inputs);
}

const ENDS = [['profile', 'TCP profile'], ['ecn', 'ECN'], ['segment', 'segment'], ['initial_window', 'initial window'], ['min_rto', 'minimum RTO'], ['transfer', 'transfer']];

function fieldset(variant) {
  const { keys } = S.variants[variant];
  const rows = Object.entries(keys).map(([key, value]) => change(variant, key, value));
  const choice = made('select', { 'aria-label': `Change for variant ${letterOf(variant)}`, onchange: event => {
    const key = event.target.value;
    if (!key) return;
    const question = catalogue.questions.find(one => one.name === key);
    const others = question ? question.mechanisms.filter(one => one.name !== question.default) : [];
    keys[key] = question ? (others[0] || question.mechanisms[0]).name : key === 'profile' ? 'rfc' : key === 'ecn' ? 'true' : key === 'transfer' ? '1MB' : key === 'min_rto' ? '1s' : key === 'segment' ? '536bytes' : '4';
    drawVariants();
    changed();
    byId('variants').children[variant].querySelector('.change:last-of-type select, .change:last-of-type input')?.focus();
  } }, made('option', { value: '' }, 'add a change …'), ...groups(keys));
  const remove = made('button', { class: 'small', disabled: S.variants.length < 2, 'aria-label': `Remove variant ${letterOf(variant)}`, onclick: () => {
    S.variants.splice(variant, 1);
    S.shown = Math.min(S.shown, S.variants.length - 1);
    S.over = S.over.filter(one => one !== variant).map(one => one > variant ? one - 1 : one);
    drawVariants();
    changed();
    byId('add').focus();
  } }, 'Remove');
  return made('fieldset', { tone: TONES[variant], 'data-variant': String(variant) }, made('legend', {}, `Variant ${letterOf(variant)}: ${describe(keys) || 'the unchanged path'}`), ...rows, made('div', { class: 'buttons' }, choice, remove));
}

function groups(keys) {
  const sides = [['sender', 'Sender'], ['receiver', 'Receiver'], ['link', 'Link'], ['node', 'Node between links']];
  const free = one => !(one.name in keys);
  const made_ = sides.map(([side, words]) => made('optgroup', { label: words }, ...catalogue.questions.filter(one => one.side === side && free(one)).map(one => made('option', { value: one.name, title: one.question }, one.name.replaceAll('_', ' ')))));
  return [...made_, made('optgroup', { label: 'Both ends' }, ...ENDS.filter(([key]) => !(key in keys)).map(([key, words]) => made('option', { value: key }, words)))];
}

// A mechanism's name and its given parameters.
function read(value) {
  const table = /^\{(.*)\}$/s.exec(value.trim());
  if (!table) return { kind: value, parameters: {} };
  const { kind, ...parameters } = pairs(table[1]);
  const bare = text => text.replace(/^"(.*)"$/s, '$1');
  return { kind: bare(kind || ''), parameters: Object.fromEntries(Object.entries(parameters).map(([name, text]) => [name, bare(text)])) };
}

function written(kind, parameters) {
  const words = Object.entries(parameters).filter(([, text]) => text.trim());
  const value = text => /^(true|false|-?\d+(\.\d+)?(e-?\d+)?)$/.test(text) ? text : `"${text.replaceAll('"', '')}"`;
  return words.length ? `{kind="${kind}",${words.map(([name, text]) => `${name}=${value(text.trim())}`).join(',')}}` : kind;
}

function change(variant, key, value) {
  const { keys } = S.variants[variant];
  const question = catalogue.questions.find(one => one.name === key);
  const label = made('label', { for: `change-${variant}-${key}`, title: question ? question.question : '' }, key.replaceAll('_', ' '));
  const remove = made('button', { class: 'small', 'aria-label': `Remove ${key} from variant ${letterOf(variant)}`, onclick: () => { delete keys[key]; drawVariants(); changed(); byId('add').focus(); } }, '×');
  const put = text => { keys[key] = text; changed(); };
  const names = question ? question.mechanisms.map(one => [one.name, one.summary]) : key === 'profile' ? catalogue.entries.filter(one => one.kind === 'profile').map(one => [one.name, one.summary]) : null;
  const { kind, parameters } = read(value);
  if (!names || !names.some(([name]) => name === kind)) {
    const text = made('input', { type: 'text', id: `change-${variant}-${key}`, value, spellcheck: 'false' });
    text.addEventListener('change', () => put(text.value));
    return made('div', { class: 'change', 'data-place': `${variant} ${key}` }, label, text, remove);
  }
  const choice = made('select', { id: `change-${variant}-${key}`, onchange: event => { put(event.target.value); drawVariants(); byId(`change-${variant}-${key}`).focus(); } }, ...names.map(([name, summary]) => made('option', { value: name, title: summary, selected: name === kind }, name)));
  const mechanism = question && question.mechanisms.find(one => one.name === kind);
  const inputs = (mechanism ? mechanism.parameters : []).map(one => {
    const text = made('input', { type: 'text', id: `change-${variant}-${key}-${one.name}`, value: parameters[one.name] || '', placeholder: one.default || '', spellcheck: 'false' });
    text.addEventListener('change', () => { parameters[one.name] = text.value; put(written(kind, parameters)); });
    return made('div', { class: 'parameter' }, made('label', { for: text.id, title: one.doc }, one.name.replaceAll('_', ' ')), text);
  });
  return made('div', { class: 'change', 'data-place': `${variant} ${key}` }, label, choice, remove, ...inputs);
}

// Shows the engine's error message beside the faulty field.
function showError(error, variant) {
  document.querySelectorAll('.controls .error:not(#error)').forEach(one => one.remove());
  document.querySelectorAll('[aria-invalid]').forEach(one => { one.removeAttribute('aria-invalid'); one.removeAttribute('aria-describedby'); });
  const top = byId('error');
  top.hidden = true;
  top.replaceChildren();
  document.body.dataset.error = error ? error.message : '';
  if (!error) return;
  const words = [error.message, ...(error.underlined && error.underlined.length < 80 ? [': ', made('code', {}, error.underlined)] : []), ...(error.help ? [made('br'), error.help] : [])];
  if (error.file === OWN) {
    byId('own').open = true;
    const box = byId('toml');
    box.setSelectionRange(error.from, error.to);
    beside(byId('own'), box, [`line ${error.line}, column ${error.column}: `, ...words]);
    return;
  }
  const place = placesIn(S, variant).find(one => error.from >= one.from && error.from < one.to);
  const key = place && place.key;
  const row = key && [...document.querySelectorAll('[data-place]')].find(one => one.dataset.place === (key in S.variants[variant].keys ? `${variant} ${key}` : key));
  if (row) beside(row, row.querySelector('input[type=text], select, input'), words);
  else if (key && key in pairs(S.more)) beside(byId('more').parentElement, byId('more'), words);
  else { top.hidden = false; top.append(...words); }
}

function beside(row, input, words) {
  row.append(made('p', { class: 'error', role: 'alert', id: 'error-here' }, ...words));
  if (input) { input.setAttribute('aria-invalid', 'true'); input.setAttribute('aria-describedby', 'error-here'); }
}
