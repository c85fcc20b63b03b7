// Element helpers.
function byId(id) { return document.getElementById(id); }

function made(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'tone') element.style.setProperty('--tone', `var(${value})`);
    else if (name in element && typeof value !== 'string') element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function drawn(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const colour = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function said(text) { byId('said').textContent = text; }

function save(name, blob) {
  const link = made('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// Formats a number with about three significant digits.
function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const size = Math.abs(value);
  if (size >= 1000 || Number.isInteger(value)) return Math.round(value).toLocaleString('en').replaceAll(',', ' ');
  return value.toFixed(size >= 100 ? 1 : size >= 10 ? 1 : 2);
}
