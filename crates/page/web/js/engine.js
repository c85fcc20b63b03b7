// Runs the engine in a worker. Only the newest job counts; requests are answered in order.
const worker = new Worker(URL.createObjectURL(new Blob([byId('worker').textContent], { type: 'text/javascript' })));
const asked = new Map();
let jobs = 0;
let questions = 0;

function ask(request) {
  questions += 1;
  worker.postMessage({ kind: 'ask', number: questions, request });
  return new Promise(answered => asked.set(questions, answered));
}

function begin(job) {
  jobs += 1;
  worker.postMessage({ ...job, id: jobs });
  return jobs;
}

const ready = new Promise(isReady => {
  worker.onmessage = ({ data }) => {
    if (data.kind === 'ready') isReady();
    else if (data.kind === 'answer') { asked.get(data.number)(data.header); asked.delete(data.number); }
    else if (data.job === jobs) onJob(data);
  };
});
worker.postMessage({ kind: 'start', wasm: byId('engine').textContent.trim() });
