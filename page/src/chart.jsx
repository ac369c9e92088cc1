// One chart, drawn by ECharts as SVG, with a description for screen readers.
import { useEffect, useRef } from "preact/hooks";
import * as echarts from "echarts/core";
import { BarChart, GraphChart, LineChart } from "echarts/charts";
import { AriaComponent, GridComponent, LegendComponent, TooltipComponent } from "echarts/components";
import { LabelLayout } from "echarts/features";
import { SVGRenderer } from "echarts/renderers";

echarts.use([BarChart, GraphChart, LineChart, AriaComponent, GridComponent, LegendComponent, TooltipComponent, LabelLayout, SVGRenderer]);

export const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6BB1", "#7F7F7F"];
export const escape = (text) => echarts.format.encodeHTML(String(text));

export function ink() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return { ink: of("--ink"), faint: of("--faint"), line: of("--line"), card: of("--card"), main: of("--main"), ramp: of("--ramp").split(/,\s*/) };
}

function dressed(option) {
  const look = ink();
  const axis = (given) => ({
    axisLine: { lineStyle: { color: look.line } }, splitLine: { lineStyle: { color: look.line, opacity: 0.6 } },
    nameTextStyle: { color: look.faint }, ...given, axisLabel: { color: look.faint, hideOverlap: true, ...given.axisLabel },
  });
  const each = (given) => (Array.isArray(given) ? given.map(axis) : given && axis(given));
  return {
    animation: false, textStyle: { color: look.ink, fontFamily: "system-ui, Roboto, sans-serif" }, color: COLOURS,
    ...option,
    legend: option.legend && { textStyle: { color: look.ink, fontFamily: "system-ui, Roboto, sans-serif" }, type: "scroll", itemGap: 16, itemWidth: 14, ...option.legend },
    tooltip: option.tooltip && { backgroundColor: look.card, borderColor: look.line, textStyle: { color: look.ink }, confine: true, ...option.tooltip },
    xAxis: each(option.xAxis), yAxis: each(option.yAxis),
  };
}

export function Chart({ option, label, kind = "", height, onPick }) {
  const spot = useRef(null);
  const chart = useRef(null);
  const pick = useRef(onPick);
  pick.current = onPick;
  useEffect(() => {
    const made = echarts.init(spot.current, null, { renderer: "svg" });
    chart.current = made;
    made.on("click", (event) => pick.current && pick.current(event));
    // A wheel over a chart scrolls the page, unless zooming is meant.
    spot.current.addEventListener("wheel", (event) => event.ctrlKey || event.metaKey || event.stopPropagation(), { capture: true });
    const watch = new ResizeObserver(() => made.resize());
    watch.observe(spot.current);
    return () => { watch.disconnect(); made.dispose(); };
  }, []);
  useEffect(() => { chart.current.setOption(dressed(option), true); }, [option]);
  return <div class={`chart ${kind}`} style={height ? { height } : undefined} ref={spot} role="img" aria-label={label} />;
}

// How ticks of a time axis are written: the first of a day, a month or a year says which.
const TIMES = { year: "{yyyy}", month: "{MMM} {d}", day: "{MMM} {d}", hour: "{HH}:{mm}", minute: "{HH}:{mm}", second: "{HH}:{mm}:{ss}" };

// Curves over time; over the count of tells where all came within minutes, or many came at one moment.
export function overTime(curves) {
  const lists = Object.values(curves).map((points) => points.at);
  const all = lists.flat();
  const span = Math.max(...all) - Math.min(...all);
  const near = lists.flatMap((at) => at.filter((time, i) => i && time - at[i - 1] < span / 1000)).length;
  const crowded = all.length > 2 && near > all.length / 2;
  const short = span < 600 || crowded;
  const counted = (points) => { let sum = 0; return points.count.map((count) => (sum += count)); };
  const moved = (points) => ({ ...points, at: short ? counted(points) : points.at.map((seconds) => seconds * 1000) });
  return {
    axis: short ? { type: "value", min: 0, max: "dataMax", minInterval: 1, name: "decisions told", nameLocation: "middle", nameGap: 26 } : { type: "time", axisLabel: { formatter: TIMES } },
    curves: Object.fromEntries(Object.entries(curves).map(([source, points]) => [source, moved(points)])),
  };
}

// An axis of outcomes on which up is better.
export const outcomeAxis = (name, lower) => ({ type: "value", scale: true, name, inverse: lower, nameLocation: lower ? "start" : "end" });

// The source of decisions that the study made itself.
export const OWN = "study";
// Sources of decisions with their colours, the study's own policy first.
export function sources(curves) {
  const names = Object.keys(curves).sort((a, b) => (b === OWN) - (a === OWN));
  return names.map((name, i) => [name, COLOURS[i % COLOURS.length], name === OWN ? "this study" : name]);
}

// A value within the ends of a domain; an end that is null is open.
export const inside = (value, [low, high]) => (value === null || value === undefined ? null : Math.min(high ?? Infinity, Math.max(low ?? -Infinity, value)));

// A line with its band of two standard errors, as far as outcomes can be.
export function band(name, points, colour, domain = [null, null]) {
  const ends = points.mean.map((mean, i) => [inside(mean - 2 * points.error[i], domain), inside(mean + 2 * points.error[i], domain)]);
  const low = points.at.map((at, i) => [at, ends[i][0]]);
  const wide = points.at.map((at, i) => [at, ends[i][1] - ends[i][0]]);
  const bare = { type: "line", stack: `band ${name}`, stackStrategy: "all", symbol: "none", silent: true, lineStyle: { opacity: 0 }, tooltip: { show: false } };
  return [
    { ...bare, name, data: low, color: colour },
    { ...bare, name, data: wide, color: colour, areaStyle: { color: colour, opacity: 0.18 } },
    { type: "line", name, data: points.at.map((at, i) => [at, points.mean[i]]), color: colour, symbol: points.at.length < 3 ? "circle" : "none", lineStyle: { width: 2 } },
  ];
}
