// The sequence graph of the chosen variants, and the history of a segment.
const canvas = byId('sequence');
const graph = sequenceGraph(canvas, { losses: () => catalogue.losses, viewed: wantSegments, pointed: at, picked: tell, said, wheelsAlways: true });
byId('sequence-help').textContent = `The wheel, ${SEQUENCE_HELP}`;

// The shown variant, then the overlaid ones.
const drawnVariants = () => [S.shown, ...S.over.filter(variant => variant !== S.shown && variant < S.variants.length)];

// Runs of these variants, in order.
function setGraph(runs) {
  const layers = drawnVariants().map((variant, at) => {
    const run = runs[at], columns = run && run.columns;
    const segments = columns && columns['data.sent_s'] && segmentsOf(columns, run.header.segments_to_s);
    return { segments, name: letterOf(variant), tone: TONES[variant], dash: variant, order: variant };
  });
  const [{ segments, ...look }, ...others] = layers;
  graph.show(segments, shownPath.duration_s, look, others);
  byId('sequence-key').textContent = graph.key;
}

// Choice of overlaid variants.
function drawOver() {
  const box = byId('over'), focused = document.activeElement && document.activeElement.id;
  const others = S.variants.map((_, variant) => variant).filter(variant => variant !== S.shown);
  const choose = variant => event => {
    S.over = S.over.filter(other => other !== variant);
    if (event.target.checked) S.over.push(variant);
    changed();
  };
  box.replaceChildren(...others.map(variant => made('label', {}, made('input', { type: 'checkbox', id: `over-${variant}`, checked: S.over.includes(variant), onchange: choose(variant) }), ` ${letterOf(variant)}`)));
  box.hidden = !others.length;
  if (others.length) box.prepend('with ');
  if (focused && focused.startsWith('over-')) byId(focused)?.focus();
}

async function tell(index) {
  const box = byId('story');
  const { start, length } = graph.segments;
  const header = await ask({ ask: 'story', line: lineOf(S, S.shown), seed: S.seed, offset: Math.round(start[index]) });
  box.hidden = false;
  const close = made('button', { class: 'small', onclick: () => { box.hidden = true; canvas.focus(); } }, 'Close');
  if (header.error) { box.replaceChildren(made('p', {}, header.error.message), close); return; }
  const link = pipe => { const it = shownPath.links[pipe >> 1]; return `${it.name}${pipe & 1 ? ', up' : ''}`; };
  const words = line => {
    switch (line.what) {
      case 'again': return `The sender retransmits it: ${RETRANSMIT_REASONS[line.reason] || line.reason}.`;
      case 'joins': return line.hop === 0 ? `It is ${line.again ? 're' : ''}transmitted and joins the queue of link ${link(line.pipe)}.` : `It joins the queue of link ${link(line.pipe)}.`;
      case 'arrives': return `It arrives at the end of link ${link(line.pipe)}.`;
      case 'lost': return `It is lost on link ${link(line.pipe)}: ${LOSS_REASONS[line.reason] || line.reason}.`;
      case 'acked': return 'An ACK that covers it arrives at the sender.';
      default: return `At node ${shownPath.nodes[line.node]}: ${line.what.replaceAll('_', ' ')}.`;
    }
  };
  const lines = header.lines.sort((one, other) => one.time_s - other.time_s);
  box.replaceChildren(made('h3', {}, `Bytes ${number(start[index])} to ${number(start[index] + length[index])} of variant ${letterOf(S.shown)}`), made('ol', {}, ...lines.map(line => made('li', {}, `${line.time_s.toFixed(6)} s: ${words(line)}`, ...losable(line)))), close);
}

// A button that drops a packet on the last hop, selected by its number there, or undoes the drop.
function losable(line) {
  const [link, isDown] = shownPath.there[shownPath.there.length - 1];
  if (line.what !== 'joins' || line.pipe !== 2 * link + (isDown ? 0 : 1) || line.number === null) return [];
  const script = /scripted.*packets *= *"([\d, ]*)"/.exec(keysOf(S, S.shown).channel || '');
  const lost = new Set(script ? script[1].split(',').filter(word => word.trim()).map(Number) : []);
  const isLost = lost.has(line.number);
  const toggle = () => {
    if (isLost) lost.delete(line.number); else lost.add(line.number);
    const packets = [...lost].sort((one, other) => one - other).join(', ');
    ['loss', 'burst', 'ber', 'arq', 'channel'].forEach(key => { delete S.keys[key]; delete S.variants[S.shown].keys[key]; });
    S.keys.channel = `{kind="scripted",packets="${packets}"}`;
    byId('story').hidden = true;
    drawControls();
    changed();
    canvas.focus();
  };
  return [' ', made('button', { class: 'small', onclick: toggle }, isLost ? 'Deliver it' : 'Drop this packet here; the link then drops only chosen packets')];
}
