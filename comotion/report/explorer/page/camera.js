/** From positions in one, two or three dimensions to the picture and back. */

/**
 * @typedef {{ x: number, y: number, width: number, height: number }} Rectangle
 *
 * @typedef {object} Camera
 * @property {(position: number[], object: number) => [number, number]} project
 * @property {(object: number) => { x: number[], y: number[] }} shares the same as sums: what is at
 *   zero, then what each axis adds
 * @property {(pixel: [number, number], before: number[]) => number[]} place the position behind a
 *   pixel, at the depth it had before
 * @property {(vector: number[]) => [number, number]} direction of a vector in the picture, in
 *   pixels per unit
 * @property {(pixels: [number, number], before: number[]) => number[]} vector the reverse
 */

const MARGIN = 0.09;
const TILT = { turn: 0.55, lift: 0.42 };

/**
 * @param {[number, number][]} bounds of each axis
 * @param {Rectangle} rectangle
 * @param {number} objects lanes of a one-dimensional scene
 * @returns {Camera}
 */
export function makeCamera(bounds, rectangle, objects) {
  const spatial = bounds.length;
  const { right, up } = spatial === 3 ? tilted() : { right: [1, 0], up: [0, 1] };
  const middle = bounds.map(([low, high]) => (low + high) / 2);
  const half = bounds.map(([low, high]) => (high - low) / 2);
  const reach = [right, up].map((axis) => half.reduce((sum, size, d) => sum + Math.abs((axis[d] ?? 0) * size), 0));
  const room = [rectangle.width, rectangle.height].map((size) => size * (0.5 - MARGIN));
  const scale = spatial === 1 ? room[0] / reach[0] : Math.min(room[0] / reach[0], room[1] / reach[1]);
  const centre = [rectangle.x + rectangle.width / 2, rectangle.y + rectangle.height / 2];
  const lane = rectangle.height / (objects + 1);

  /** @param {number[]} vector @param {number[]} axis */
  const along = (vector, axis) => vector.reduce((sum, x, d) => sum + x * (axis[d] ?? 0), 0);
  return {
    project(position, object) {
      const from = position.map((x, d) => x - middle[d]);
      const y = spatial === 1 ? rectangle.y + lane * (object + 1) : centre[1] - scale * along(from, up);
      return [centre[0] + scale * along(from, right), y];
    },
    shares(object) {
      const origin = middle.map(() => 0);
      const [x, y] = this.project(origin, object);
      const ends = origin.map((_, d) => this.project(origin.map((_, e) => (e === d ? 1 : 0)), object));
      return { x: [x, ...ends.map((end) => end[0] - x)], y: [y, ...ends.map((end) => end[1] - y)] };
    },
    place([x, y], before) {
      const [oldX, oldY] = this.project(before, 0);
      return before.map((value, d) => {
        const upward = spatial === 1 ? 0 : ((oldY - y) / scale) * up[d];
        return value + ((x - oldX) / scale) * right[d] + upward;
      });
    },
    direction: (vector) => [scale * along(vector, right), spatial === 1 ? 0 : -scale * along(vector, up)],
    vector([x, y], before) {
      const depth = along(before, cross(right, up));
      const forward = cross(right, up);
      return before.map((_, d) => {
        const upward = spatial === 1 ? 0 : (-y / scale) * up[d];
        return (x / scale) * right[d] + upward + (spatial === 3 ? depth * forward[d] : 0);
      });
    },
  };
}

/** Three dimensions from a little above and to one side. */
function tilted() {
  const { turn, lift } = TILT;
  const right = [Math.cos(turn), Math.sin(turn), 0];
  const up = [-Math.sin(turn) * Math.sin(lift), Math.cos(turn) * Math.sin(lift), Math.cos(lift)];
  return { right, up };
}

/** @param {number[]} a @param {number[]} b */
function cross(a, b) {
  const [x = 0, y = 0, z = 0] = a;
  const [u = 0, v = 0, w = 0] = b;
  return [y * w - z * v, z * u - x * w, x * v - y * u];
}
