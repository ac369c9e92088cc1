// Numbers and times as people read them.
export function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e7) return String(value);
  return String(Number(value.toPrecision(digits)));
}
export const withUnit = (value, unit) => (value === null || value === undefined ? "–" : `${number(value)}${unit ? ` ${unit}` : ""}`);
export const when = (seconds) => (seconds ? new Date(seconds * 1000).toLocaleString() : "–");
export function ago(seconds) {
  if (!seconds) return "never";
  const passed = Math.max(0, Date.now() / 1000 - seconds);
  if (passed < 90) return `${Math.round(passed)} s ago`;
  if (passed < 5400) return `${Math.round(passed / 60)} min ago`;
  if (passed < 129600) return `${Math.round(passed / 3600)} h ago`;
  return `${Math.round(passed / 86400)} days ago`;
}
export const clock = (value) => {
  const date = new Date(value * 1000);
  return `${date.getMonth() + 1}/${date.getDate()} ${String(date.getHours()).padStart(2, "0")}:${String(date.getMinutes()).padStart(2, "0")}`;
};
