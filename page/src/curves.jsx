// Outcome curves of arms: means by play with a band, and the forecast.
import { useEffect, useMemo, useState } from "preact/hooks";
import { get, place } from "./api.js";
import { band, Chart, COLOURS, inside, outcomeAxis } from "./chart.jsx";
import { Key, Name, Names } from "./names.jsx";
import { own, plain, withUnit } from "./words.js";

// The part of a curve up to a number of plays.
const upTo = (points, plays) => { const kept = points.at.filter((at) => at <= plays).length; return Object.fromEntries(Object.entries(points).map(([key, list]) => [key, list.slice(0, kept)])); };

export function Curves({ name, data, arms, picked, onPick, restarted }) {
  // As of a decision in the past: `restarted` has the arms whose plays of then were forgotten since.
  const past = restarted !== null;
  const [more, setMore] = useState({});
  useEffect(() => {
    let alive = true;
    if (picked) get(place(name, `/curve?arm=${encodeURIComponent(picked)}`)).then((points) => alive && setMore({ [picked]: points }), () => {});
    return () => { alive = false; };
  }, [picked, data]);
  const first = Object.keys(data.curves).filter((arm) => data.curves[arm].at.length);
  const names = picked && !first.includes(picked) ? [...first, picked] : first;
  const colour = (arm) => COLOURS[names.indexOf(arm) % COLOURS.length];
  const option = useMemo(() => ({
    grid: { left: 56, right: 16, top: 30, bottom: 44 },
    tooltip: { trigger: "axis", valueFormatter: (value) => withUnit(value, data.study.unit) },
    xAxis: { type: "value", name: "play of the arm", nameLocation: "middle", nameGap: 26, minInterval: 1 },
    yAxis: outcomeAxis(data.study.unit || "outcome", data.study.lower_is_better),
    series: (picked ? [picked] : names).flatMap((arm) => {
      const all = own(more, arm) || own(data.curves, arm);
      if (!all || !all.at.length || (past && restarted.has(arm))) return [];
      const known = arms.get(arm), points = past ? upTo(all, known?.plays ?? 0) : all;
      const made = band(plain(arm), points, colour(arm), data.domain);
      if (known && known.predicted_outcome !== null && points.at.length) {
        const at = points.at.at(-1), ahead = { value: [at * 1.15 + 1, inside(known.predicted_outcome, data.domain)], symbol: "diamond", symbolSize: 9 };
        made.push({ type: "line", name: `${plain(arm)}, forecast`, color: colour(arm), symbol: "none", lineStyle: { type: "dashed", width: 2 }, data: [[at, points.mean.at(-1)], ahead] });
      }
      return made;
    }),
  }), [data, more, picked, arms, restarted]);
  if (!names.length) return <p class="faint">Nothing was told yet.</p>;
  const gone = past ? names.filter((arm) => restarted.has(arm)) : [];
  return <>
    {gone.length > 0 && <p class="faint small">Not drawn, because their plays of then were forgotten since: <Names names={gone} />.</p>}
    <Chart option={option} label={`Outcomes of ${picked || "the most played arms"} by play, with bands of two standard errors; dashed: the forecast`} />
    <Key entries={names.map((arm) => [arm, colour(arm)])} picked={picked} onPick={onPick} />
    <p class="faint small">{picked ? <Name text={picked} /> : "The most played arms"}: mean outcomes by play with a band of two standard errors. {names.some((arm) => arms.get(arm)?.predicted_outcome != null) ? "A dashed line leads to the forecast, ◆, which the policy decides by; how far ahead it looks depends on the policy." : "This policy makes no forecasts."}{data.study.lower_is_better ? " Lower is better, so up is good." : ""} {picked ? <button class="link" onClick={() => onPick("")}>Show the most played arms</button> : "Pick a name to see one arm alone."}</p>
  </>;
}
