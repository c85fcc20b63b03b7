// Draws the figures: each is a box and, after it, a script element with its JSON.
"use strict";
(() => {
  const boxes = [...document.querySelectorAll(".plot")];
  const root = document.documentElement;
  const height = 390; // of a figure without its legend
  const font = 13;
  const brush = document.createElement("canvas").getContext("2d");

  const family = () => getComputedStyle(document.body).fontFamily;
  const width = (text) => {
    brush.font = `${font}px ${family()}`;
    return brush.measureText(text.replace(/&lt;|&gt;|&amp;/g, "x")).width;
  };

  // Labels do not break by themselves.
  const broken = (text, room) => {
    const lines = [""];
    for (const word of text.split(" ")) {
      const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
      if (!lines.at(-1) || width(longer) <= room) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines.join("<br>");
  };

  // Colours are names in the style sheet, which knows whether the page is dark.
  const colored = (value, style) => {
    if (typeof value === "string") {
      return value.replace(/^var\((--\w+)\)$/, (_, name) => style.getPropertyValue(name).trim());
    }
    if (Array.isArray(value)) return typeof value[0] === "object" ? value.map((one) => colored(one, style)) : value;
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, colored(one, style)]));
  };

  const draw = (box, room) => {
    const style = getComputedStyle(root);
    const { data, layout, config } = colored(JSON.parse(box.nextElementSibling.textContent), style);
    const names = data.filter((trace) => trace.showlegend !== false).map((trace) => trace.name);
    const entry = Math.max(...names.map(width), 0) + layout.legend.itemwidth + 20;
    const rows = Math.ceil(names.length / Math.max(1, Math.floor((room - 80) / entry)));
    layout.width = room;
    layout.margin.t = 12 + rows * 20;
    layout.height = height + layout.margin.t;
    layout.font = { family: family(), size: font, color: style.getPropertyValue("--ink").trim() };
    layout.xaxis.title.font = layout.yaxis.title.font = { size: font };
    layout.xaxis.title.text = broken(layout.xaxis.title.text, room - 90);
    layout.yaxis.title.text = broken(layout.yaxis.title.text, height - 60);
    layout.hoverlabel.font = layout.font;
    layout.hoverlabel.bgcolor = style.getPropertyValue("--raised").trim();
    // A finger that drags wants to scroll the page, and has no use for buttons that hide the legend.
    if (matchMedia("(hover: none)").matches) {
      layout.dragmode = false;
      config.displayModeBar = false;
    }
    box.drawn = room;
    // From scratch: updating a plot leaves a legend that has got more rows where it was, upon the data.
    Plotly.purge(box);
    Plotly.newPlot(box, data, layout, config);
  };

  const redraw = () => boxes.filter((box) => box.drawn).forEach((box) => draw(box, box.clientWidth));

  // One after the other, so that the page can be read meanwhile.
  const next = (index) => {
    if (index === boxes.length) {
      root.dataset.plots = "drawn";
      return;
    }
    if (!boxes[index].drawn) draw(boxes[index], boxes[index].clientWidth);
    setTimeout(next, 0, index + 1);
  };
  next(0);

  new ResizeObserver(() => {
    boxes.filter((box) => box.drawn && box.drawn !== box.clientWidth).forEach((box) => draw(box, box.clientWidth));
  }).observe(document.querySelector("main"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

  // Paper is white, and as narrow as A4 or Letter.
  addEventListener("beforeprint", () => {
    root.dataset.light = "";
    boxes.forEach((box) => draw(box, 660));
  });
  addEventListener("afterprint", () => {
    delete root.dataset.light;
    redraw();
  });
})();
