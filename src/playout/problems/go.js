// What the replay page shows of Go: the board after each move.
const side = 10, letters = "ABCDEFGHJKLMNOPQRSTUVWXYZ";
const box = `0 0 ${side * (width + 2)} ${side * (height + 2)}`;
const headings = ["move", "player", "point"];
const x = column => side * (column + 1.5), y = row => side * (height + 0.5 - row);

const grid = [...Array(width).keys()].map(c => `M${x(c)} ${y(0)}V${y(height - 1)}`)
  .concat([...Array(height).keys()].map(r => `M${x(0)} ${y(r)}H${x(width - 1)}`)).join("");
const names = [...Array(width).keys()].map(c => `<text x="${x(c)}" y="${y(-1) + 1}">${letters[c]}</text>`)
  .concat([...Array(height).keys()].map(r => `<text x="5" y="${y(r) + 1.5}">${r + 1}</text>`)).join("");
const board = `<rect width="100%" height="100%" fill="#e8c47c"/><path d="${grid}" stroke="#000" stroke-width=".3"/>` +
  `<g font-size="4.5" text-anchor="middle" fill="#000">${names}${data.stars.map(([c, r]) =>
    `<circle cx="${x(c)}" cy="${y(r)}" r=".9"/>`).join("")}</g>`;

function picture(frame) {
  const stones = [...frame.cells].map((colour, point) => colour === "0" ? "" :
    `<circle class="stone" cx="${x(point % width)}" cy="${y(Math.floor(point / width))}" r="4.7" ` +
    `fill="${colour === "1" ? "#000" : "#fff"}" stroke="#000" stroke-width=".3"/>`);
  const last = frame.point < 0 ? "" : `<circle id="mark" cx="${x(frame.point % width)}" ` +
    `cy="${y(Math.floor(frame.point / width))}" r="2" fill="none" stroke="#d55e00" stroke-width="1"/>`;
  return board + stones.join("") + last;
}

function label(frame) {
  const count = colour => [...frame.cells].filter(cell => cell === colour).length;
  return `Board of ${width} by ${height}, ${count("1")} black stones, ${count("2")} white stones. ${sentence()}`;
}

function sentence() {
  const { player, move, comment } = frames[step];
  const what = step === 0 ? "The start." : `Move ${step} of ${end}: ${player} ${move}.`;
  return what + (step === end ? ` ${data.ending}` : "") + (comment ? `\n${comment}` : "");
}

const place = () => step === 0 ? "the start" : `after move ${step} of ${end}`;

const rows = () => frames.map(({ player, move }, k) => k === 0 ? "" :
  `<tr data-step="${k}"><td>${k}</td><td>${player}</td><td>${move}</td></tr>`).join("");
