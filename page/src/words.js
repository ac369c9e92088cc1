// Numbers, times and names as people read them.
export function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return Math.abs(value) < 1e4 ? String(value) : value.toLocaleString("en");
  return String(Number(value.toPrecision(digits)));
}
export const withUnit = (value, unit) => (value === null || value === undefined ? "–" : `${number(value)}${unit ? ` ${unit}` : ""}`);
// What an object holds under a name of a stranger, such as "constructor".
export const own = (object, name) => (Object.hasOwn(object, name) ? object[name] : undefined);
export const several = (count, word) => `${number(count)} ${word}${count === 1 ? "" : "s"}`;
export const capital = (text) => text[0].toUpperCase() + text.slice(1);

export const when = (seconds) => (seconds ? new Date(seconds * 1000).toLocaleString() : "–");
export function ago(seconds) {
  if (!seconds) return "never";
  const passed = Math.max(0, Date.now() / 1000 - seconds);
  if (passed < 90) return `${Math.round(passed)} s ago`;
  if (passed < 5400) return `${Math.round(passed / 60)} min ago`;
  if (passed < 129600) return `${Math.round(passed / 3600)} h ago`;
  return `${Math.round(passed / 86400)} days ago`;
}

// Names of strangers: what does not print, or would turn letters around, is written as an escape.
const UNPRINTED = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/gu;
const SHORT = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const escaped = (letter) => SHORT[letter] || `\\u${letter.codePointAt(0).toString(16).padStart(4, "0")}`;
export const plain = (text) => String(text).replace(UNPRINTED, escaped);
export const cut = (text, most) => { const letters = [...plain(text)]; return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : letters.join(""); };
