// SVG writer. It has those methods of a canvas context that the time-sequence graph uses.
let clips = 0;

function svgPen(width, height) {
  const parts = [], groups = [];
  let path = '', box = null, open = 0, dash = '';
  const short = value => Number(value.toFixed(2));
  const text = words => String(words).replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const attribute = words => text(words).replaceAll('"', '&quot;');
  const ANCHORS = { left: 'start', center: 'middle', right: 'end' };
  const pen = {
    fillStyle: '#000', strokeStyle: '#000', lineWidth: 1, globalAlpha: 1, font: '12px system-ui', textAlign: 'left',
    opacity: () => pen.globalAlpha < 1 ? ` opacity="${pen.globalAlpha}"` : '',
    fillRect: (x, y, w, h) => parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(w)}" height="${short(h)}" fill="${pen.fillStyle}"${pen.opacity()}/>`),
    fillText: (words, x, y) => parts.push(`<text x="${short(x)}" y="${short(y)}" font-family="system-ui, sans-serif" font-size="${/[\d.]+/.exec(pen.font)[0]}"${/bold/.test(pen.font) ? ' font-weight="bold"' : ''} text-anchor="${ANCHORS[pen.textAlign]}" fill="${pen.fillStyle}">${text(words)}</text>`),
    beginPath: () => { path = ''; box = null; },
    moveTo: (x, y) => { path += `M${short(x)} ${short(y)}`; },
    lineTo: (x, y) => { path += `L${short(x)} ${short(y)}`; },
    closePath: () => { path += 'z'; },
    rect: (x, y, w, h) => { box = [x, y, w, h]; },
    setLineDash: lengths => { dash = lengths.length ? ` stroke-dasharray="${lengths.join(' ')}"` : ''; },
    stroke: () => parts.push(`<path d="${path}" fill="none" stroke="${pen.strokeStyle}" stroke-width="${pen.lineWidth}"${dash}${pen.opacity()}/>`),
    save: () => { groups.push(open); },
    clip: () => {
      clips += 1;
      const [x, y, w, h] = box.map(short);
      parts.push(`<clipPath id="clip-${clips}"><rect x="${x}" y="${y}" width="${w}" height="${h}"/></clipPath><g clip-path="url(#clip-${clips})">`);
      open += 1;
    },
    restore: () => { for (const before = groups.pop(); open > before; open -= 1) parts.push('</g>'); },
    // Embeds a complete SVG picture.
    put: (svg, x, y) => parts.push(svg.replace('<svg ', `<svg x="${short(x)}" y="${short(y)}" `)),
    svg: (title = '') => `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"${title ? ` role="img" aria-label="${attribute(title)}"` : ''}>${parts.join('\n')}</svg>`,
  };
  return pen;
}
