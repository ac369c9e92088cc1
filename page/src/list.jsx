// All studies at a glance.
import { useEffect, useMemo, useState } from "preact/hooks";
import { get, place } from "./api.js";
import { Chart, outcomeAxis, overTime, sources } from "./chart.jsx";
import { Key, Name } from "./names.jsx";
import { ago, number, plain, withUnit } from "./words.js";

// Decisions of today, and the mean of the seven days before.
function rates(days) {
  const today = Math.floor(Date.now() / 86400000), counts = new Map(days);
  const first = days.length ? days[0][0] : today, week = Math.min(7, today - first);
  let sum = 0;
  for (let back = 1; back <= week; back += 1) sum += counts.get(today - back) || 0;
  return { today: counts.get(today) || 0, daily: week > 0 ? sum / week : null };
}

function Glance({ name }) {
  const [data, setData] = useState(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    let alive = true;
    let timer;
    const look = () => {
      // Nothing is asked for a page that nobody sees.
      if (document.hidden) { timer = setTimeout(look, 1000); return; }
      get(place(name, "/glance")).then((found) => {
        if (!alive) return;
        setData(found);
        setProblem("");
        // A long log is read in several calls, one after the other.
        timer = setTimeout(look, found.left ? 0 : 5000);
      }, (error) => {
        if (!alive) return;
        setProblem(error.message);
        timer = setTimeout(look, 5000);
      });
    };
    look();
    return () => { alive = false; clearTimeout(timer); };
  }, [name]);
  const option = useMemo(() => {
    if (!data) return null;
    const { axis, curves } = overTime(data.earned);
    return {
      grid: { left: 40, right: 12, top: 8, bottom: axis.name ? 36 : 20 },
      tooltip: { trigger: "axis", valueFormatter: (value) => withUnit(value, data.study.unit) },
      xAxis: { ...axis, splitNumber: 2, splitLine: { show: false } },
      yAxis: { ...outcomeAxis("", data.study.lower_is_better), splitNumber: 2 },
      series: sources(curves).map(([source, color, shown]) => ({ type: "line", name: plain(shown), symbol: curves[source].at.length < 3 ? "circle" : "none", color, data: curves[source].at.map((at, i) => [at, curves[source].mean[i]]) })),
    };
  }, [data]);
  const { today, daily } = rates(data ? data.days : []);
  const way = `#/study/${encodeURIComponent(name)}`;
  // The whole card is clicked, and the keyboard and a screen reader get a link with the name alone.
  return (
    <article class="card" onClick={() => { window.location.hash = way; }}>
      <h2><a href={way}><Name text={name} /></a></h2>
      {problem && <p class="bad">{problem}</p>}
      {data && <>
        <dl class="facts">
          <div><dt>decisions</dt><dd>{number(data.study.decisions)}</dd></div>
          <div><dt>today</dt><dd>{number(today)}</dd></div>
          <div><dt>a day</dt><dd title="the mean of the last seven days">{number(daily, 3)}</dd></div>
          <div><dt>open</dt><dd>{number(data.study.open)}</dd></div>
          <div><dt>expired</dt><dd class={data.study.expired ? "bad" : ""}>{number(data.study.expired)}</dd></div>
        </dl>
        <p class="faint small">Last decision: {ago(data.last_ask)}.{data.left ? " The log is being read." : ""}</p>
        {data.warnings.map((text) => <p class="warn small" key={text}>⚠ <Name text={text} /></p>)}
        {Object.keys(data.earned).length
          ? <>
            <p class="faint small">{data.earns}{data.study.unit ? ` in ${data.study.unit}` : ""}{data.study.lower_is_better ? "; lower is better, so up is good" : ""}</p>
            <Chart kind="spark" option={option} label={`The ${data.earns} of ${name} over time`} />
            <Key entries={sources(data.earned).map(([source, colour, shown]) => [source, colour, `${shown}: ${withUnit(data.earned[source].mean.at(-1), data.study.unit)}`])} />
          </>
          : <p class="faint small">Nothing was told yet.</p>}
      </>}
      {!data && !problem && <p class="faint">Loading …</p>}
    </article>
  );
}

export function List() {
  const [names, setNames] = useState(null);
  const [problem, setProblem] = useState("");
  const [filter, setFilter] = useState("");
  useEffect(() => {
    document.title = "Studies – rising-bandits";
    const look = () => get("/v1/studies").then((found) => { setNames(found.studies); setProblem(""); }, (error) => setProblem(error.message));
    look();
    const timer = setInterval(look, 10000);
    return () => clearInterval(timer);
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
