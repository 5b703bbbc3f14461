/** What is known about the frames of a sequence, also after its last one. */

/** @typedef {import("./model.js").Sequence} Sequence */

/**
 * The time of a frame in the data's own clock; after the recording, one usual step after another.
 * @param {Sequence} sequence
 * @param {number} step
 * @param {number} frame
 */
export function timeOf(sequence, step, frame) {
  const times = sequence.times.data;
  const last = times.length - 1;
  return frame <= last ? times[frame] : times[last] + (frame - last) * step;
}

/**
 * Whether an object is in the scene; who is there in the last frame stays.
 * @param {Sequence} sequence
 * @param {number} frame
 * @param {number} a
 */
export function isAlive(sequence, frame, a) {
  const [frames, count] = sequence.alive.shape;
  return sequence.alive.data[Math.min(frame, frames - 1) * count + a] === 1;
}

/**
 * Controls of all objects in a frame; after the recording they stay as they were.
 * @param {Sequence} sequence
 * @param {number} frame
 * @returns {import("./unpack.js").Numbers}
 */
export function controlsAt(sequence, frame) {
  const [frames, count, width] = sequence.controls.shape;
  const at = Math.min(frame, frames - 1) * count * width;
  return sequence.controls.data.subarray(at, at + count * width);
}
