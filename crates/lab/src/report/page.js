// Tooltips of plots, a button that saves a plot, and a choice of settings above a table. Plots and tables also work
// without scripts.
{
  const say = (tag, text, className) => Object.assign(document.createElement(tag), { textContent: text, className });

  // Fields of a data row: series, x, y, and the ends of the interval if the point has an interval.
  const fields = (row) => [...row.matchAll(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g)]
    .map(([, field]) => field.replace(/^"|"$/g, "").replaceAll('""', '"'));

  const label = (figure, axis) => figure.querySelector(`.${axis}-label`).textContent;

  // Text for the nearest marker; null if no marker is near.
  const marked = (figure, area, right, down) => {
    let nearest = [24, null];
    for (const marker of area.querySelectorAll("g[data-row] > use")) {
      const off = Math.hypot(marker.x.baseVal.value - right, marker.y.baseVal.value - down);
      if (off < nearest[0]) nearest = [off, marker];
    }
    const [, marker] = nearest;
    if (!marker) return null;
    const before = [...marker.parentNode.children].indexOf(marker);
    const rows = figure.querySelector(".data pre").textContent.trim().split("\n");
    const [series, x, y, low, high] = fields(rows[1 + Number(marker.parentNode.dataset.row) + before]);
    const interval = low ? `\n95 % interval: ${low} to ${high}` : "";
    return `${series}\n${label(figure, "x")}: ${x}\n${label(figure, "y")}: ${y}${interval}`;
  };

  // Value at a share of an axis; `scale` holds the ends, and `log` if the axis is logarithmic.
  const value = (scale, share) => {
    const [low, high, log] = scale.split(" ");
    return Number((log ? low * (high / low) ** share : Number(low) + (high - low) * share).toPrecision(3));
  };

  const here = (figure, area, right, down, box) => {
    if (!area.dataset.x || right < 0 || down < 0 || right > box.width || down > box.height) return null;
    const x = value(area.dataset.x, right / box.width);
    const y = value(area.dataset.y, 1 - down / box.height);
    return `${label(figure, "x")}: ${x}\n${label(figure, "y")}: ${y}`;
  };

  const tip = document.body.appendChild(say("div", "", "tip"));
  tip.hidden = true;
  addEventListener("pointermove", (event) => {
    const area = event.target.closest?.(".area");
    const figure = area?.closest("figure");
    const box = figure && area.getBoundingClientRect();
    const place = figure && [event.clientX - box.left, event.clientY - box.top];
    const text = figure && (marked(figure, area, ...place) ?? here(figure, area, ...place, box));
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
    const left = event.clientX + 14 + tip.offsetWidth > innerWidth ? event.clientX - 14 - tip.offsetWidth : event.clientX + 14;
    tip.style.left = `${Math.max(0, left)}px`;
    tip.style.top = `${Math.max(0, event.clientY - tip.offsetHeight - 10)}px`;
  });

  for (const table of document.querySelectorAll("[data-settings]")) {
    const settings = JSON.parse(table.dataset.settings);
    const choice = document.createElement("select");
    choice.append(new Option("default reading", -1), ...settings.map(([label], at) => new Option(label, at)));
    let before = [];
    const verdicts = ["agrees", "shape", "undecidable", "inconclusive", "differs"];
    const put = ([cell, textContent, className]) => {
      const old = [cell, cell.textContent, cell.className];
      Object.assign(cell, { textContent, className });
      return old;
    };
    choice.addEventListener("change", () => {
      before.forEach(put);
      const [, cells] = settings[choice.value] ?? ["", []];
      before = cells.map(([row, column, text, name = verdicts.includes(text) ? text : ""]) => put([table.tBodies[0].rows[row].cells[column], text, `${name} switched`.trim()]));
    });
    const label = say("label", "Setting: ", "switch");
    label.append(choice);
    table.closest(".wide").before(label);
  }

  for (const plot of document.querySelectorAll("figure > .plot")) {
    const figure = plot.parentNode;
    const button = say("button", "save SVG", "save");
    button.type = "button";
    button.addEventListener("click", () => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([plotPicture(plot)], { type: "image/svg+xml" }));
      link.download = `${figure.id}.svg`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    figure.querySelector(".title").append(button);
  }
}
