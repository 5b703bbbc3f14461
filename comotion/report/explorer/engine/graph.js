/** Who hears whom, as a list of neighbours per object. */

/**
 * @typedef {object} Neighbours row a holds the objects `index[a * width + k]`, heard where 1
 * @property {Int32Array} index
 * @property {Uint8Array} heard
 * @property {number} width
 *
 * @typedef {(states: Float64Array, stride: number, allowed: Uint8Array, count: number) => Neighbours} Graph
 */

/**
 * @param {any} spec
 * @param {number} spatial
 * @returns {Graph}
 */
export function makeGraph(spec, spatial) {
  if (spec.kind === "given") return given();
  if (spec.kind === "empty") return () => ({ index: new Int32Array(), heard: new Uint8Array(), width: 0 });
  if (spec.kind === "nearest") return nearest(spec, spatial);
  throw new Error(`This page knows no graph of kind ${spec.kind}.`);
}

/** @param {number} count @param {number} width @returns {Neighbours} */
function room(count, width) {
  return { index: new Int32Array(count * width), heard: new Uint8Array(count * width), width };
}

/** All others in turn: a + 1, a + 2, … @returns {Graph} */
function given() {
  let list = room(0, 0);
  return (_states, _stride, allowed, count) => {
    if (list.index.length !== count * (count - 1)) {
      list = room(count, count - 1);
      for (let k = 0; k < list.index.length; k++) {
        const a = Math.floor(k / list.width);
        list.index[k] = (a + 1 + (k % list.width)) % count;
      }
    }
    for (let a = 0, k = 0; a < count; a++) {
      for (let n = 0; n < list.width; n++, k++) list.heard[k] = allowed[a * count + list.index[k]];
    }
    return list;
  };
}

/** The nearest ones, the nearest first. @param {any} spec @param {number} spatial @returns {Graph} */
function nearest(spec, spatial) {
  const reach = spec.radius === null ? Infinity : spec.radius ** 2;
  let list = room(0, 0);
  let squared = new Float64Array();
  return (states, stride, allowed, count) => {
    const width = Math.min(spec.count ?? count - 1, count - 1);
    if (list.index.length !== count * width) {
      list = room(count, width);
      squared = new Float64Array(width);
    }
    for (let a = 0; a < count; a++) {
      let found = 0;
      for (let b = 0; b < count; b++) {
        if (!allowed[a * count + b]) continue;
        let distance = 0;
        for (let d = 0; d < spatial; d++) {
          const gap = states[a * stride + d] - states[b * stride + d];
          distance += gap * gap;
        }
        if (distance > reach || (found === width && distance >= squared[width - 1])) continue;
        let k = found < width ? found++ : width - 1;
        for (; k > 0 && squared[k - 1] > distance; k--) {
          squared[k] = squared[k - 1];
          list.index[a * width + k] = list.index[a * width + k - 1];
        }
        squared[k] = distance;
        list.index[a * width + k] = b;
      }
      for (let k = 0; k < width; k++) list.heard[a * width + k] = k < found ? 1 : 0;
    }
    return list;
  };
}
