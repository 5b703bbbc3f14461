/** Pictures, films and links of what is seen. */

const FILM_FRAMES = 30;

/** @param {Blob} content @param {string} name */
function save(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** @param {HTMLCanvasElement} canvas */
export function savePicture(canvas) {
  canvas.toBlob((content) => content && save(content, "comotion.png"));
}

/**
 * Records until it is stopped.
 * @param {HTMLCanvasElement} canvas
 * @returns {(() => void) | null} stops and saves; null where the browser cannot record
 */
export function recordFilm(canvas) {
  if (typeof MediaRecorder === "undefined" || !canvas.captureStream) return null;
  const kinds = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];
  const kind = kinds.find((one) => MediaRecorder.isTypeSupported(one));
  if (!kind) return null;
  const recorder = new MediaRecorder(canvas.captureStream(FILM_FRAMES), { mimeType: kind });
  /** @type {Blob[]} */
  const pieces = [];
  recorder.ondataavailable = (event) => pieces.push(event.data);
  recorder.onstop = () => save(new Blob(pieces, { type: "video/webm" }), "comotion.webm");
  recorder.start();
  return () => recorder.stop();
}

/**
 * @param {string} address
 * @returns {Promise<boolean>} whether it is on the clipboard
 */
export async function copyLink(address) {
  try {
    await navigator.clipboard.writeText(address);
    return true;
  } catch {
    return false;
  }
}
