// Returns a plot as a standalone SVG, in which computed styles are attributes.
function plotPicture(plot) {
  const name = 'http://www.w3.org/2000/svg';
  const frame = plot.getBoundingClientRect();
  const svg = document.createElementNS(name, 'svg');
  const add = (tag, style, looks, attributes, text) => {
    const element = document.createElementNS(name, tag);
    for (const look of looks) element.setAttribute(look, style.getPropertyValue(look));
    for (const [key, one] of Object.entries(attributes)) element.setAttribute(key, one);
    element.textContent = text ?? '';
    svg.append(element);
  };
  const strokes = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'stroke-linejoin', 'opacity', 'vector-effect'];
  const letters = ['fill', 'font-family', 'font-size', 'text-anchor'];
  const [width, height] = [Math.ceil(frame.width) + 8, Math.ceil(frame.height) + 8];
  Object.entries({ xmlns: name, width, height, viewBox: `0 0 ${width} ${height}` }).forEach(([key, one]) => svg.setAttribute(key, one));
  const page = getComputedStyle(document.body);
  add('rect', page, [], { width, height, fill: page.backgroundColor });
  for (const mark of plot.querySelectorAll('path, use, text')) {
    const style = getComputedStyle(mark);
    if (style.display === 'none') continue;
    const { a, b, c, d, e, f } = mark.getScreenCTM().translate(...mark.matches('use') ? [mark.x.baseVal.value, mark.y.baseVal.value] : [0, 0]);
    const transform = `matrix(${[a, b, c, d, e - frame.left + 4, f - frame.top + 4].map(one => +one.toFixed(3))})`;
    if (mark.matches('text')) {
      const [x, y] = [mark.x.baseVal[0]?.value ?? 0, mark.y.baseVal[0]?.value ?? 0];
      add('text', style, letters, { transform, x, y });
      for (const part of mark.childNodes) svg.lastChild.append(part.cloneNode(true));
      svg.querySelectorAll('tspan').forEach(part => part.setAttribute('font-size', '10px'));
    } else {
      const path = mark.matches('use') ? document.querySelector(mark.getAttribute('href')) : mark;
      add('path', style, strokes, { transform, d: path.getAttribute('d') });
    }
  }
  // Adds the legend and axis labels, which are HTML around the plot.
  for (const words of plot.querySelectorAll('.legend li, .x-label, .y-label')) {
    const range = document.createRange();
    range.selectNodeContents(words.lastChild ?? words);
    const [box] = range.getClientRects();
    const style = getComputedStyle(words);
    if (box) add('text', style, ['font-family', 'font-size'], { fill: style.color, x: box.left - frame.left + 4, y: box.bottom - frame.top }, words.textContent);
  }
  return new XMLSerializer().serializeToString(svg);
}
