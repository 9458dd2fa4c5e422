// What the replay page shows of SameGame: the board before each move.
const { colours, shapes } = data;
const box = `-1 -1 ${10 * width + 2} ${10 * height + 2}`;
const headings = ["move", "cells", "points", "total"];

// One board: its cells, and an outline around the group that goes next.
function picture(frame) {
  const parts = [];
  frame.columns.forEach((column, c) => [...column].forEach((colour, row) => {
    const y = 10 * (height - 1 - row);
    parts.push(`<g transform="translate(${10 * c} ${y})"><rect x=".3" y=".3" width="9.4" height="9.4" rx="1.2" fill="${colours[colour]}"/>` +
      `<path d="${shapes[colour]}" fill="#000" fill-opacity=".3" fill-rule="evenodd"/></g>`);
  }));
  const inside = new Set(frame.group.map(String));
  let edges = "";
  for (const [c, row] of frame.group) {
    const x = 10 * c, y = 10 * (height - 1 - row);
    if (!inside.has(String([c - 1, row]))) edges += `M${x} ${y}v10`;
    if (!inside.has(String([c + 1, row]))) edges += `M${x + 10} ${y}v10`;
    if (!inside.has(String([c, row + 1]))) edges += `M${x} ${y}h10`;
    if (!inside.has(String([c, row - 1]))) edges += `M${x} ${y + 10}h10`;
  }
  parts.push(`<path id="outline" d="${edges}" fill="none" stroke="var(--outline)" stroke-width="1.3" stroke-linecap="round"/>`);
  return parts.join("");
}

function label(frame) {
  const left = frame.columns.reduce((sum, column) => sum + column.length, 0);
  return `Board of ${width} by ${height}, ${left} cells left. ${sentence()}`;
}

function gain(k) { return frames[k + 1].points - frames[k].points; }

function sentence() {
  if (step === end) return `The end after ${end} moves. ${data.ending}`;
  const cells = frames[step].group, [column, row] = cells[0];
  return `Move ${step + 1} of ${end}: ${cells.length} cells at column ${column}, row ${row}, ` +
    `${number(gain(step))} points. ${number(frames[step].points)} so far.`;
}

const place = () => step === end ? "the end" : `before move ${step + 1} of ${end}`;

const rows = () => frames.slice(0, end).map((frame, k) =>
  `<tr data-step="${k}"><td>${k + 1}</td><td>${frame.group.length}</td><td>+${number(gain(k))}</td><td>${number(frames[k + 1].points)}</td></tr>`).join("") +
  `<tr data-step="${end}"><td colspan="4">${data.ending}</td></tr>`;
