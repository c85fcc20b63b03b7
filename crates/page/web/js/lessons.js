// Lessons: settings, a text and a question each; for the order in a lecture see docs/tutorials/lab-lessons.md.
const link = keys => ({ rate: '10Mbit/s', rtt: '80ms', queue: '1bdp', duration: '20s', ...keys });
const DROPS = { duration: '6s' };
const LESSONS = [
  { id: 'slow-start', name: 'Slow start', keys: link({ duration: '8s' }), variants: [{ slow_start: 'none' }, {}], view: [0, 1.2], text: 'Each ACK lets the sender transmit two segments, so cwnd doubles in each round trip until a queue overflows. A stays in slow start until that loss. B is Linux with HyStart: it leaves slow start when round trips grow.', question: 'How many segments does A lose in its first second, and why so many at once?' },
  { id: 'fast-retransmit', name: 'Fast retransmit', base: 'drop-patterns', keys: { channel: '{kind="scripted",packets="15"}', ...DROPS }, variants: [{ recovery: 'new_reno' }], view: [1.8, 3.6], text: 'One segment is lost. The receiver answers each later segment with a duplicate ACK. The third duplicate makes the sender retransmit the lost segment without waiting for the timer.', question: 'Which line in the picture stays level, and what makes it jump?' },
  { id: 'timeout', name: 'A timeout', base: 'drop-patterns', keys: { channel: '{kind="scripted",packets="15, 25, 27, 29"}', ...DROPS }, variants: [{ recovery: 'reno' }], view: [1.8, 5], text: 'Reno repairs one loss of a window. Here four segments are lost. No further segments reach the receiver, so no duplicate ACKs return, and the sender waits until its timer expires.', question: 'How long does the sender stay silent, and what determines this time?' },
  { id: 'sack', name: 'What SACK changes', base: 'drop-patterns', keys: { channel: '{kind="scripted",packets="15, 25, 27, 29"}', ...DROPS }, variants: [{ recovery: 'sack' }, { recovery: 'new_reno' }, { recovery: 'tahoe' }], view: [1.8, 5], text: 'The same four losses. With SACK the receiver reports the received blocks (small squares), and the sender retransmits exactly the missing segments. NewReno detects one hole per round trip.', question: 'How many segments does each variant retransmit?' },
  { id: 'bufferbloat', name: 'Bufferbloat', keys: link({ queue: '10bdp', duration: '30s' }), variants: [{}, { queue: '{kind="codel"}' }], view: null, text: 'A queue ten times as large as the path needs: goodput is high, but every packet waits. CoDel (B) drops a few packets early and keeps the queueing delay short.', question: 'What is the mean RTT of each, and what would a concurrent telephone call notice?' },
  { id: 'red', name: 'RED', keys: link({ queue: '200packets', count: '4', duration: '30s' }), variants: [{}, { queue: '{kind="red"}' }], view: null, text: 'Drop-tail (A) lets the queue fill and then drops from all flows at once. RED (B) drops single packets while the queue grows, so that flows slow down one by one.', question: 'Compare the queues: how often is each full?' },
  { id: 'random-loss', name: 'Random loss', keys: link({ loss: '1%', duration: '30s' }), variants: [{}, { congestion: 'reno' }, { congestion: 'bbr' }], view: null, text: 'One packet in a hundred is lost on the channel, without congestion. Reno and CUBIC treat each loss as congestion and slow down. BBR uses the delivery rate instead.', question: 'Reno gets about 1.2 / (RTT √p) segments per second: does the table agree?' },
  { id: 'ack-splitting', name: 'ACK splitting', base: 'hasegawa', keys: { 'link.wireless.down.channel.rate': '5e-5', duration: '200s' }, variants: [{}, { ack_splitting: 'split', 'receiver.loss_discrimination': 'mac' }], view: null, text: 'After a channel loss the receiver sends several ACKs for one segment. A sender that counts ACKs instead of bytes opens its window faster (Hasegawa et al. 2007).', question: 'Set ack counting to bytes for B: what is left of the gain, and why?' },
  { id: 'dynamic-window', name: 'The advertised window', keys: link({ queue: '10bdp', duration: '30s' }), variants: [{}, { window: '{kind="buffer",size="100 KB"}' }], view: null, text: 'The receiver can limit the bytes in flight by its advertised window. A window as large as the path needs keeps the queue of the last hop short.', question: 'Which size keeps the full goodput at the shortest RTT? Compare it with rate times round trip.' },
];

function drawLesson() {
  const lesson = LESSONS.find(one => one.id === S.lesson);
  const box = byId('lesson');
  box.hidden = !lesson;
  if (!lesson) { box.replaceChildren(); return; }
  const next = LESSONS[LESSONS.indexOf(lesson) + 1];
  box.replaceChildren(made('h2', {}, lesson.name), made('p', {}, lesson.text), made('p', {}, made('strong', {}, 'Question: '), lesson.question), made('div', { class: 'buttons' }, ...(next ? [made('button', { onclick: () => open(next.id) }, `Next: ${next.name}`)] : []), made('button', { onclick: () => { S.lesson = ''; drawControls(); remember(); } }, 'Leave the lesson')));
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
