/** Colours, and names and numbers as text. */

const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#c98a00", "#56b4e9"];
const DARK = ["#4ba9e3", "#f2884a", "#3fcf9f", "#e69bc8", "#f0bd45", "#8fd3f7"];
const LABEL_LETTERS = 18;

/**
 * @typedef {object} Theme colours of what is drawn, from the style sheet
 * @property {boolean} dark
 * @property {string} paper
 * @property {string} ink
 * @property {string} muted
 * @property {string} line
 */

/** @returns {Theme} */
export function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const value = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  return {
    dark: value("--dark") === "1",
    paper: value("--stage"),
    ink: value("--ink"),
    muted: value("--muted"),
    line: value("--line"),
  };
}

/** Okabe and Ito's colours first, which colour-blind readers can tell apart. @param {number} object @param {Theme} theme */
export function objectColour(object, theme) {
  const named = theme.dark ? DARK : LIGHT;
  if (object < named.length) return named[object];
  return `hsl(${(object * 137.5) % 360} 60% ${theme.dark ? 68 : 42}%)`;
}

/** From calm to strong. @param {number} share 0 to 1 @param {Theme} theme */
export function scaleColour(share, theme) {
  const at = Math.min(1, Math.max(0, share));
  return `hsl(${215 - 195 * at} ${55 + 30 * at}% ${theme.dark ? 58 + 6 * at : 50 - 6 * at}%)`;
}

/** A name short enough to stand beside an object, without marks that turn what follows. @param {string} name */
export function labelOf(name) {
  const plain = [...name.slice(0, 4 * LABEL_LETTERS)]
    .filter((letter) => !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(letter))
    .join("");
  const letters = [...plain];
  return letters.length > LABEL_LETTERS ? `${letters.slice(0, LABEL_LETTERS - 1).join("")}…` : plain;
}

/** Three digits, and a true minus sign. @param {number} x */
export function digits(x) {
  if (!Number.isFinite(x)) return "–";
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return x.toExponential(1).replace(/-/g, "−");
  const text = size >= 100 ? x.toFixed(0) : size >= 10 ? x.toFixed(1) : x.toFixed(2);
  return (Number(text) === 0 ? "0" : text).replace("-", "−");
}

/** With what it is measured in, where that is known. @param {string} number @param {string} unit */
export function withUnit(number, unit) {
  return unit ? `${number} ${unit}` : number;
}

/** At rank p (L + 1), like all bands of draws. @param {number[]} sorted @param {number} share */
export function quantile(sorted, share) {
  if (sorted.length === 0) return NaN;
  const at = Math.min(Math.max(share * (sorted.length + 1) - 1, 0), sorted.length - 1);
  const low = Math.floor(at);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
}

/** Middle and 90 % interval. @param {number[]} values */
export function interval(values) {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  return { low: quantile(sorted, 0.05), middle: quantile(sorted, 0.5), high: quantile(sorted, 0.95) };
}
