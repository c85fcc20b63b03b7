// Lessons: settings, a few sentences, and a question each. docs/lessons.md has the lecturer's order.
const link = keys => ({ rate: '10Mbit/s', rtt: '80ms', queue: '1bdp', duration: '20s', ...keys });
const DROPS = { duration: '6s' };
const LESSONS = [
  { id: 'slow-start', name: 'Slow start', keys: link({ duration: '8s' }), variants: [{ slow_start: 'none' }, {}], view: [0, 1.2], text: 'Each ACK lets two segments go, so cwnd doubles in each round trip, until a queue overflows: A goes on up to that loss. B is what Linux does (HyStart): it leaves slow start when round trips grow.', question: 'How many segments does A lose in its first second, and why so many at once?' },
  { id: 'fast-retransmit', name: 'Fast retransmit', base: 'drop-patterns', keys: { channel: '{kind="scripted",packets="15"}', ...DROPS }, variants: [{ recovery: 'new_reno' }], view: [1.8, 3.6], text: 'One segment is lost. The receiver answers each later one with the same ACK; the third copy tells the sender, who sends the lost one again without waiting for its timer.', question: 'Which line in the picture stands still, and what makes it jump?' },
  { id: 'timeout', name: 'A timeout', base: 'drop-patterns', keys: { channel: '{kind="scripted",packets="15, 25, 27, 29"}', ...DROPS }, variants: [{ recovery: 'reno' }], view: [1.8, 5], text: 'Reno repairs one loss of a window. Here four are lost: nothing is left that would make the receiver answer, and the sender waits until its timer runs out.', question: 'How long is nothing sent, and who decides how long?' },
  { id: 'sack', name: 'What SACK changes', base: 'drop-patterns', keys: { channel: '{kind="scripted",packets="15, 25, 27, 29"}', ...DROPS }, variants: [{ recovery: 'sack' }, { recovery: 'new_reno' }, { recovery: 'tahoe' }], view: [1.8, 5], text: 'The same four losses. With SACK the receiver names what it has (small squares), and the sender sends again exactly what is missing. NewReno learns of one hole in each round trip.', question: 'How many segments does each variant send again?' },
  { id: 'bufferbloat', name: 'Bufferbloat', keys: link({ queue: '10bdp', duration: '30s' }), variants: [{}, { queue: '{kind="codel"}' }], view: null, text: 'A queue ten times as large as the path needs: goodput is fine, and every packet waits. CoDel (B) drops a few packets early and keeps the wait short.', question: 'What is the mean RTT of each, and what does a telephone call beside it notice?' },
  { id: 'red', name: 'RED', keys: link({ queue: '200packets', count: '4', duration: '30s' }), variants: [{}, { queue: '{kind="red"}' }], view: null, text: 'Drop-tail (A) lets the queue fill and then drops from all flows at once. RED (B) drops now and then while the queue grows, so that flows slow down one by one.', question: 'Compare the queues: how often does each one stand at its top?' },
  { id: 'random-loss', name: 'Random loss', keys: link({ loss: '1%', duration: '30s' }), variants: [{}, { congestion: 'reno' }, { congestion: 'bbr' }], view: null, text: 'One packet in a hundred is lost on the air, with no congestion at all. Reno and CUBIC take each loss for congestion and slow down. BBR goes by the rate at which packets arrive.', question: 'Reno gets about 1.2 / (RTT √p) segments per second: is that what the table says?' },
  { id: 'ack-splitting', name: 'ACK splitting', base: 'hasegawa', keys: { 'link.wireless.down.channel.rate': '5e-5', duration: '200s' }, variants: [{}, { shape: 'split', cause: 'mac' }], view: null, text: 'After a loss on the air the receiver sends several ACKs for one segment. A sender that counts ACKs (not bytes) opens its window again sooner (Hasegawa et al. 2007).', question: 'Set counting to bytes for B: what is left of the gain, and why?' },
  { id: 'dynamic-window', name: 'A window for the receiver', keys: link({ queue: '10bdp', duration: '30s' }), variants: [{}, { window: '{kind="buffer",size="100 KB"}' }], view: null, text: 'The receiver, too, can say how much may be under way: its advertised window. A window as large as the path needs keeps the queue of the last hop short.', question: 'Which size keeps goodput whole with the shortest RTT? Compare it with rate times round trip.' },
];

function drawLesson() {
  const lesson = LESSONS.find(one => one.id === S.lesson);
  const box = byId('lesson');
  box.hidden = !lesson;
  if (!lesson) { box.replaceChildren(); return; }
  const next = LESSONS[LESSONS.indexOf(lesson) + 1];
  box.replaceChildren(made('h2', {}, lesson.name), made('p', {}, lesson.text), made('p', {}, made('strong', {}, 'Question: '), lesson.question), made('div', { class: 'buttons' }, ...(next ? [made('button', { type: 'button', onclick: () => open(next.id) }, `Next: ${next.name}`)] : []), made('button', { type: 'button', onclick: () => { S.lesson = ''; drawControls(); remember(); } }, 'Leave the lesson')));
}

function open(id) {
  const lesson = LESSONS.find(one => one.id === id);
  if (!lesson) return;
  S = { ...usual(), base: lesson.base || ONE_LINK, lesson: id, keys: { ...lesson.keys }, variants: lesson.variants.map(keys => ({ keys: { ...keys } })), runs: 5 };
  graph.forget(lesson.view && [...lesson.view]);
  shownPath = null;
  drawControls();
  changed();
  byId('lesson').scrollIntoView({ block: 'nearest' });
}
