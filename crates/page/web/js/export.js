// Exports: CSV, and one picture of everything as SVG or PNG.

// Samples of all variants, one row per time.
function csv() {
  const names = ['cwnd_bytes', 'ssthresh_bytes', 'in_flight_bytes', 'srtt_ms', 'rto_ms', 'delivered_bytes'];
  const rows = [['variant', 'time_s', ...names].join(',')];
  lastRuns.forEach((run, variant) => {
    const of = name => run.columns[`${flowOf(run)}.${name}`];
    (of('time_s') || []).forEach((time, row) => rows.push([letterOf(variant), time, ...names.map(name => Number.isNaN(of(name)[row]) ? '' : of(name)[row])].join(',')));
  });
  return `${rows.join('\n')}\n`;
}

const PICTURE_WIDTH = 900, MARGIN = 16;

// One picture without a style sheet: variants, numbers with intervals, segments, curves.
function wholePicture() {
  const plots = [...document.querySelectorAll('#charts .chart')].map(box => {
    const plot = box.querySelector('.plot'), { width, height } = plot.getBoundingClientRect();
    return { title: box.querySelector('h3').textContent, svg: plotPicture(plot), width: Math.ceil(width) + 8, height: Math.ceil(height) + 8 };
  });
  const width = Math.max(PICTURE_WIDTH, ...plots.map(plot => plot.width + 2 * MARGIN));
  const rows = [...document.querySelectorAll('.wide-table tr')].map(row => [...row.cells].map(cellText));
  const variants = S.variants.map((_, variant) => `${letterOf(variant)}: ${lineOf(S, variant)}`);
  const graphHeight = 340, line = 20;
  const text = [`Lasthop lab, seed ${S.seed}`, ...variants.flatMap(one => folded(one, (width - 2 * MARGIN) / 7))];
  const height = (text.length + rows.length + 4) * line + graphHeight + plots.reduce((sum, plot) => sum + plot.height + line, 0) + 2 * MARGIN;
  const pen = svgPen(width, height), ink = colour('--ink');
  pen.fillStyle = colour('--paper');
  pen.fillRect(0, 0, width, height);
  let y = MARGIN;
  const write = (words, font = '13px system-ui') => { y += line; pen.fillStyle = ink; pen.font = font; pen.textAlign = 'left'; pen.fillText(words, MARGIN, y - 5); };
  text.forEach((words, at) => write(words, at ? '12px system-ui' : 'bold 16px system-ui'));
  write(byId('caption').textContent, 'bold 13px system-ui');
  const column = (width - 2 * MARGIN) / Math.max(1, ...rows.map(row => row.length));
  for (const row of rows) {
    y += line;
    row.forEach((words, at) => { pen.font = '11px system-ui'; pen.textAlign = at ? 'right' : 'left'; pen.fillText(words, MARGIN + column * (at ? at + 1 : 0), y - 5); });
  }
  write(byId('sequence-title').firstChild.textContent + drawnVariants().map(letterOf).join(' and '), 'bold 13px system-ui');
  pen.put(graph.svg(width - 2 * MARGIN, graphHeight, 'Segments and ACKs'), MARGIN, y);
  y += graphHeight;
  write(graph.key, '11px system-ui');
  for (const plot of plots) {
    write(plot.title, 'bold 13px system-ui');
    pen.put(plot.svg, MARGIN, y);
    y += plot.height;
  }
  return pen.svg('Lasthop lab');
}

// A cell with its interval on one line.
const cellText = cell => {
  const small = cell.querySelector('small');
  return small ? `${cell.firstChild.textContent} (${small.textContent})` : cell.textContent;
};

// Wraps text into lines of a given length.
function folded(text, letters) {
  const lines = [];
  for (let from = 0; from < text.length; from += Math.floor(letters)) lines.push(text.slice(from, from + Math.floor(letters)));
  return lines;
}

async function png() {
  const ratio = 2, image = new Image();
  image.src = URL.createObjectURL(new Blob([wholePicture()], { type: 'image/svg+xml' }));
  await image.decode();
  const whole = made('canvas', { width: image.width * ratio, height: image.height * ratio });
  whole.getContext('2d').drawImage(image, 0, 0, whole.width, whole.height);
  URL.revokeObjectURL(image.src);
  return new Promise(done => whole.toBlob(blob => { save('lab.png', blob); done(blob.size); }));
}
