// Where the names of nodes stand in a drawing.
import { cut } from "./words.js";

// A name beside a node; the rest of a long one is in its tooltip. A letter is about so many pixels wide.
export const short = (name) => cut(name, 15);
export const LETTER = 6.5;
// Where the name of each node stands: on the side where it covers the fewest edges and nodes. Places are in pixels.
const SIDES = { top: [0, -1], bottom: [0, 1], right: [1, 0], left: [-1, 0] };
export function sides(points, edges, names, wide) {
  const box = (i, [across, down]) => {
    const long = LETTER * short(names[i]).length + 6, high = 16;
    const x = points[i][0] + across * (long / 2 + 12), y = points[i][1] + down * (high / 2 + 12);
    return [x - long / 2, y - high / 2, x + long / 2, y + high / 2];
  };
  // Whether a line from a to b meets a box: what is left of it between the box's sides, axis by axis.
  const meets = ([ax, ay], [bx, by], [left, top, right, bottom]) => {
    let from = 0, to = 1;
    for (const [start, way, low, high] of [[ax, bx - ax, left, right], [ay, by - ay, top, bottom]]) {
      if (way === 0) {
        if (start < low || start > high) return false;
        continue;
      }
      const ends = [(low - start) / way, (high - start) / way];
      from = Math.max(from, Math.min(...ends));
      to = Math.min(to, Math.max(...ends));
    }
    return from <= to;
  };
  const near = ([x, y], [left, top, right, bottom]) => x > left - 8 && x < right + 8 && y > top - 8 && y < bottom + 8;
  const covers = (one, other) => one[0] < other[2] && one[2] > other[0] && one[1] < other[3] && one[3] > other[1];
  const placed = [];
  return points.map((_, i) => {
    const outside = (room) => room[0] < -0.15 * wide || room[2] > 1.15 * wide;
    const cost = (room) => 8 * outside(room)
      + edges.filter(([from, to]) => meets(points[from], points[to], room)).length
      + 4 * points.filter((point, j) => j !== i && near(point, room)).length
      + 4 * placed.filter((other) => covers(room, other)).length;
    const found = Object.entries(SIDES).map(([side, way]) => ({ side, room: box(i, way), cost: cost(box(i, way)) }));
    const best = found.reduce((one, other) => (other.cost < one.cost ? other : one));
    placed.push(best.room);
    return best.side;
  });
}
