// All studies at a glance.
import { useEffect, useMemo, useState } from "preact/hooks";
import { get, place } from "./api.js";
import { Chart, COLOURS, overTime } from "./chart.jsx";
import { ago, clock, number } from "./words.js";

function Glance({ name }) {
  const [data, setData] = useState(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let alive = true;
    let timer;
    // A long log is read in several calls, one after the other.
    const look = () => get(place(name, "/glance")).then((found) => {
      if (!alive) return;
      setData(found);
      setProblem("");
      timer = setTimeout(look, found.left ? 0 : 5000);
    }, (error) => {
      if (!alive) return;
      setProblem(error.message);
      timer = setTimeout(look, 5000);
    });
    look();
    return () => { alive = false; clearTimeout(timer); };
  }, [name]);
  const option = useMemo(() => {
    if (!data) return null;
    const { short, curves } = overTime(data.earned);
    const sources = Object.entries(curves);
    return {
      grid: { left: 36, right: 8, top: 8, bottom: 20 },
      tooltip: { trigger: "axis", valueFormatter: (value) => number(value) },
      xAxis: { type: "value", scale: true, axisLabel: short ? {} : { formatter: clock }, splitNumber: 2, splitLine: { show: false } },
      yAxis: { type: "value", scale: true, splitNumber: 2, inverse: data.study.lower_is_better },
      series: sources.map(([source, points], place) => ({ type: "line", name: source, symbol: points.at.length < 3 ? "circle" : "none", color: COLOURS[place], data: points.at.map((at, i) => [at, points.mean[i]]) })),
    };
  }, [data]);
  const today = data && data.days.length ? data.days[data.days.length - 1] : null;
  const rate = today && today[0] === Math.floor(Date.now() / 86400000) ? today[1] : 0;
  return (
    <a class="card" href={`#/study/${encodeURIComponent(name)}`}>
      <h2>{name}</h2>
      {problem && <p class="bad">{problem}</p>}
      {data && <>
        <dl class="facts">
          <div><dt>decisions</dt><dd>{data.study.decisions}</dd></div>
          <div><dt>today</dt><dd>{rate}</dd></div>
          <div><dt>open</dt><dd>{data.study.open}</dd></div>
          <div><dt>expired</dt><dd class={data.study.expired ? "bad" : ""}>{data.study.expired}</dd></div>
          <div><dt>last</dt><dd>{ago(data.last_ask)}</dd></div>
        </dl>
        {data.warnings.map((text) => <p class="warn small" key={text}>⚠ {text}</p>)}
        {Object.keys(data.earned).length
          ? <><p class="faint small">{data.earns}{data.study.unit ? ` in ${data.study.unit}` : ""}{data.study.lower_is_better ? " (lower is better, up is good)" : ""}</p><Chart kind="spark" option={option} label={`The ${data.earns} of ${name} over time`} /></>
          : <p class="faint small">nothing was told yet</p>}
      </>}
      {!data && !problem && <p class="faint">Loading …</p>}
    </a>
  );
}

export function List() {
  const [names, setNames] = useState(null);
  const [problem, setProblem] = useState("");
  const [filter, setFilter] = useState("");
  useEffect(() => {
    document.title = "Studies – rising-bandits";
    get("/v1/studies").then((found) => setNames(found.studies), (error) => setProblem(error.message));
  }, []);
  const shown = (names || []).filter((name) => name.toLowerCase().includes(filter.toLowerCase()));
  return (
    <main id="main">
      <h1>Studies</h1>
      {problem && <p class="bad" role="alert">{problem}</p>}
      {names && names.length > 8 && <p><label>Find <input value={filter} onInput={(event) => setFilter(event.target.value)} /></label></p>}
      {names && !names.length && <p>There are no studies yet. Make one with <code>rising study create</code> or <code>POST /v1/studies</code> (see <a href="/docs">the documentation</a>).</p>}
      <div class="cards">{shown.slice(0, 60).map((name) => <Glance key={name} name={name} />)}</div>
      {shown.length > 60 && <p class="faint">{shown.length - 60} more; type a part of a name to find them.</p>}
    </main>
  );
}
