// What decisions earned over time, beside the rules that decide today, and how many there were a day.
import { useEffect, useMemo, useState } from "preact/hooks";
import { get, place } from "./api.js";
import { band, Chart, COLOURS, outcomeAxis, OWN, overTime, sources } from "./chart.jsx";
import { Key, Name } from "./names.jsx";
import { plain, withUnit } from "./words.js";

export function Rewards({ name, data }) {
  const option = useMemo(() => {
    const { axis, curves } = overTime(data.earned);
    return {
      grid: { left: 56, right: 20, top: 30, bottom: axis.name ? 44 : 28 },
      tooltip: { trigger: "axis", valueFormatter: (value) => withUnit(value, data.study.unit) },
      xAxis: { ...axis, splitNumber: 4 },
      yAxis: outcomeAxis(data.study.unit || data.earns, data.study.lower_is_better),
      series: sources(curves).flatMap(([source, colour, shown]) => band(plain(shown), curves[source], colour, data.earned_domain)),
    };
  }, [data]);
  if (!Object.keys(data.earned).length) return <p class="faint">Nothing was told yet.</p>;
  const entries = sources(data.earned);
  return <>
    <Chart kind="low" option={option} label={`The ${data.earns} of decisions over time, with a band of two standard errors`} />
    <Key entries={entries.map(([source, colour, shown]) => [source, colour, `${shown}: ${withUnit(data.earned[source].mean.at(-1), data.study.unit)} now`])} />
    {data.study.lower_is_better && <p class="faint small">Lower is better, so up is good.</p>}
    {entries.filter(([source]) => source !== OWN).map(([source]) => <Against key={source} name={name} source={source} />)}
  </>;
}

// The comparison with one rule, worked out when it is wanted: it reads the whole log.
function Against({ name, source }) {
  const [said, setSaid] = useState("");
  useEffect(() => setSaid(""), [source]);
  const ask = () => { setSaid("Comparing …"); get(place(name, `/compare?source=${encodeURIComponent(source)}`)).then((found) => setSaid(found.text), (error) => setSaid(error.message)); };
  return <p class="small"><button onClick={ask}>Compare with <Name text={source} /></button> <span role="status" class="lines">{plain(said).replaceAll("\\n", "\n")}</span></p>;
}

export function Days({ days }) {
  const option = useMemo(() => {
    const counts = new Map(days), shown = [];
    for (let day = days[0]?.[0]; day <= days.at(-1)?.[0]; day += 1) shown.push(day);
    return {
      grid: { left: 44, right: 8, top: 10, bottom: 24 }, tooltip: { trigger: "axis" },
      xAxis: { type: "category", data: shown.map((day) => new Date(day * 86400000).toISOString().slice(0, 10)), axisLabel: { formatter: (day) => day.slice(5) } },
      yAxis: { type: "value", minInterval: 1, splitNumber: 3 },
      series: [{ type: "bar", name: "decisions", data: shown.map((day) => counts.get(day) || 0), color: COLOURS[0], barMaxWidth: 40 }],
    };
  }, [days]);
  if (!days.length) return <p class="faint">No decision was asked for yet.</p>;
  return <><Chart kind="low" option={option} label="Decisions a day" /><p class="faint small">By days of UTC.</p></>;
}
