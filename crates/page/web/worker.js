// The engine in a worker: jobs run in slices, and a newer job replaces the current one.
'use strict';
const SLICE_MS = 12;
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const files = new Map();
let module = null;
let engine = null;
let newest = 0;
let events = 5000;

// A macrotask: waiting messages are handled first.
const channel = new MessageChannel();
let resume = null;
channel.port1.onmessage = () => resume();
const breathe = () => new Promise(done => { resume = done; channel.port2.postMessage(0); });

function call(request) {
  try {
    const bytes = encoder.encode(JSON.stringify(request));
    const at = engine.request(bytes.length);
    new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
    const length = engine.answer();
    return unpacked(engine.memory.buffer.slice(engine.at(), engine.at() + length));
  } catch (fault) {
    start();
    return { header: { error: { message: `the engine stopped (${fault.message}) and was restarted; please report the scenario` } }, columns: {} };
  }
}

function start() {
  engine = new WebAssembly.Instance(module, {}).exports;
  for (const [name, text] of files) call({ ask: 'file', name, text });
}

function unpacked(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(decoder.decode(new Uint8Array(buffer, 4, length)));
  const begin = Math.ceil((4 + length) / 8) * 8;
  const columns = {};
  for (const [name, from, count] of header.columns) columns[name] = new Float64Array(buffer, begin + from, count);
  return { header, columns, buffer };
}

// Completes one run; null if a newer job has arrived.
async function run(job, request) {
  const begun = call({ ask: 'begin', ...request });
  if (begun.header.error) return begun;
  for (;;) {
    const from = performance.now();
    const answer = call({ ask: 'advance', events });
    if (answer.header.error) return answer;
    if (answer.header.done) {
      answer.header.notes = begun.header.notes;
      answer.header.path = begun.header.path;
      return answer;
    }
    const took = performance.now() - from;
    events = Math.max(500, Math.min(200000, Math.round(events * SLICE_MS / Math.max(took, 1))));
    await breathe();
    if (job.id !== newest) return null;
  }
}

async function picture(job) {
  const from = performance.now();
  if (job.keeps) call({ ask: 'forget' });
  const answers = [];
  for (const request of job.requests) {
    const answer = await run(job, request);
    if (!answer) return;
    answers.push(answer);
    if (answer.header.error) break;
  }
  const buffers = answers.map(answer => answer.buffer).filter(Boolean);
  const { charts } = job.keeps ? call({ ask: 'charts', between_s: job.between }).header : {};
  postMessage({ job: job.id, kind: job.kind, answers, charts, ms: performance.now() - from }, buffers);
  if (job.keeps && !answers.some(answer => answer.header.error)) await repeat(job);
}

// Further repetitions; the first belongs to the picture.
async function repeat(job) {
  for (let number = 0; number < job.runs; number += 1) {
    if (number > 0) {
      const seed = BigInt.asUintN(64, BigInt(job.seed) + BigInt(number)).toString();
      for (const [variant, request] of job.requests.entries()) {
        const answer = await run(job, { line: request.line, seed, variant });
        if (!answer || answer.header.error) return;
      }
    }
    const done = number + 1;
    if (done === 1 || done === job.runs || done % 5 === 0) {
      postMessage({ job: job.id, kind: 'intervals', done, runs: job.runs, variants: call({ ask: 'intervals' }).header.variants });
    }
  }
}

// Decodes bytes: their number, a colon, and five letters in base 85 for each four bytes.
function bytesOf(letters) {
  const from = letters.indexOf(':') + 1, length = parseInt(letters, 10);
  const bytes = new DataView(new ArrayBuffer(4 * Math.ceil(length / 4)));
  const digit = at => { const code = letters.charCodeAt(at); return (code === 33 ? 60 : code) - 35; };
  for (let at = from, to = 0; to < length; at += 5, to += 4) {
    bytes.setUint32(to, (((digit(at) * 85 + digit(at + 1)) * 85 + digit(at + 2)) * 85 + digit(at + 3)) * 85 + digit(at + 4));
  }
  return new Uint8Array(bytes.buffer, 0, length);
}

onmessage = async ({ data }) => {
  if (data.kind === 'start') {
    const raw = new Blob([bytesOf(data.wasm)]).stream().pipeThrough(new DecompressionStream('gzip'));
    module = await WebAssembly.compile(await new Response(raw).arrayBuffer());
    start();
    postMessage({ kind: 'ready' });
  } else if (data.kind === 'ask') {
    if (data.request.ask === 'file') files.set(data.request.name, data.request.text);
    const { header } = call(data.request);
    postMessage({ kind: 'answer', number: data.number, header });
  } else {
    newest = data.id;
    await picture(data);
  }
};
