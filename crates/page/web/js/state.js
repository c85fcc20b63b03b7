// The settings that determine the pictures, and the engine's scenario lines.
'use strict';
const OWN = 'lab.toml';
const ONE_LINK = '';
const MOST_VARIANTS = 4;
const LONGEST_LINK = 2000;
const LARGEST_SEED = 9223372036854775807n;
const TONES = ['--c1', '--c2', '--c3', '--c4'];

const usual = () => ({
  base: ONE_LINK, toml: '', seed: '1', runs: 10, more: '', lesson: '', shown: 0, over: [],
  keys: { rate: '10Mbit/s', rtt: '40ms', queue: '1bdp', loss: '0.1%', duration: '20s' },
  variants: [{ keys: {} }, { keys: { congestion: 'reno' } }],
});

// Settings from a link's contents; null if invalid.
function settings(found) {
  if (found === null || typeof found !== 'object') return null;
  const isText = (value, longest) => typeof value === 'string' && value.length <= longest;
  const keys = map => {
    if (map === null || typeof map !== 'object' || Array.isArray(map)) return null;
    const pairs = Object.entries(map);
    if (pairs.length > 60 || !pairs.every(([key, value]) => /^[\w.-]{1,80}$/.test(key) && isText(value, 400))) return null;
    return Object.fromEntries(pairs);
  };
  const made = usual();
  made.keys = keys(found.keys);
  if (!Array.isArray(found.variants) || found.variants.length < 1 || found.variants.length > MOST_VARIANTS) return null;
  made.variants = found.variants.map(variant => ({ keys: keys(variant && variant.keys) }));
  if (!made.keys || made.variants.some(variant => !variant.keys)) return null;
  for (const [name, longest] of [['base', 60], ['toml', 100000], ['more', 1000], ['lesson', 40]]) {
    if (!isText(found[name], longest)) return null;
    made[name] = found[name];
  }
  if (!isText(found.seed, 19) || !/^\d+$/.test(found.seed) || BigInt(found.seed) > LARGEST_SEED || !Number.isInteger(found.runs)) return null;
  made.seed = found.seed;
  made.runs = Math.max(1, Math.min(200, found.runs));
  made.shown = Number.isInteger(found.shown) && found.shown >= 0 && found.shown < made.variants.length ? found.shown : 0;
  const isVariant = one => Number.isInteger(one) && one >= 0 && one < made.variants.length;
  made.over = Array.isArray(found.over) ? [...new Set(found.over.filter(isVariant))] : [];
  return made;
}

// Mutually exclusive keys: the later key replaces the earlier.
const RIVALS = [['rate', 'trace', 'down_trace'], ['up', 'up_trace'], ['rtt', 'one_way_delay'], ['loss', 'ber', 'channel'], ['burst', 'ber', 'channel']];

function merged(keys, others) {
  const made = { ...keys };
  for (const [key, value] of Object.entries(others)) {
    for (const rivals of RIVALS) {
      if (rivals.includes(key)) rivals.filter(rival => rival !== key).forEach(rival => { if (!(rival in others)) delete made[rival]; });
    }
    if (value === '') delete made[key]; else made[key] = value;
  }
  return made;
}

// Splits at commas outside brackets and quotes into keys and values.
function pairs(text) {
  const found = {};
  let depth = 0, quoted = false, piece = '';
  const take = () => {
    const at = piece.indexOf('=');
    if (piece.trim()) found[(at < 0 ? piece : piece.slice(0, at)).trim()] = at < 0 ? '' : piece.slice(at + 1).trim();
    piece = '';
  };
  for (const letter of text) {
    if (letter === '"') quoted = !quoted;
    if (!quoted && '{['.includes(letter)) depth += 1;
    if (!quoted && '}]'.includes(letter)) depth -= 1;
    if (letter === ',' && !quoted && depth <= 0) take(); else piece += letter;
  }
  take();
  return found;
}

const keysOf = (state, variant) => merged(merged(state.keys, pairs(state.more)), state.variants[variant].keys);

// The scenario in one line, as on the command line.
function lineOf(state, variant) {
  return lineWith(state, keysOf(state, variant));
}

function lineWith(state, keys) {
  const words = Object.entries(keys).map(([key, value]) => `${key}=${value}`);
  return (state.base ? [state.base, ...words] : words).join(',');
}

// Place of each key in the line.
function placesIn(state, variant) {
  let at = state.base ? state.base.length + 1 : 0;
  return Object.entries(keysOf(state, variant)).map(([key, value]) => {
    const place = { key, from: at, to: at + key.length + 1 + value.length };
    at = place.to + 1;
    return place;
  });
}

const quoted = text => /^[\w.,:=%/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

// Commands that print the same numbers.
function commands(state) {
  const ends = ` --seed ${state.seed} --runs ${state.runs}`;
  const keys = state.variants.map((_, variant) => keysOf(state, variant));
  const changed = [...new Set(keys.flatMap(Object.keys))].filter(key => new Set(keys.map(one => one[key])).size > 1);
  const values = changed.length === 1 ? keys.map(one => one[changed[0]]) : [];
  const canVary = values.length > 1 && values.every(value => value && /^[\w.%/-]+$/.test(value)) && new Set(values).size === values.length;
  if (canVary) {
    const { [changed[0]]: _, ...others } = keys[0];
    return [`lasthop compare ${quoted(lineWith(state, others))} --vary ${quoted(`${changed[0]}=${values.join(',')}`)}${ends}`];
  }
  return state.variants.map((_, variant) => `lasthop run ${quoted(lineOf(state, variant))}${ends}`);
}

const letterOf = variant => 'ABCD'[variant];
const describe = keys => Object.entries(keys).map(([key, value]) => `${key} = ${value || 'none'}`).join(', ');

// Links: the settings as deflated JSON in URL-safe base64.
async function packedLink(state) {
  const text = JSON.stringify(state);
  const bytes = await through(new Blob([text]), new CompressionStream('deflate-raw'));
  return '1.' + btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

async function unpackedLink(text) {
  try {
    if (!text.startsWith('1.') || text.length > 4 * LONGEST_LINK) return null;
    const letters = atob(text.slice(2).replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(letters, letter => letter.charCodeAt(0));
    const raw = await through(new Blob([bytes]), new DecompressionStream('deflate-raw'));
    return settings(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(raw)));
  } catch (_) {
    return null;
  }
}

// Contents of a stream, up to 1 MB.
async function through(blob, transform) {
  const reader = blob.stream().pipeThrough(transform).getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > 1 << 20) { await reader.cancel(); throw new Error('too long'); }
    parts.push(value);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) { all.set(part, at); at += part.length; }
  return all;
}
