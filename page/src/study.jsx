// One study: what it is doing, why, what it knew at any moment, and changes with a preview.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get, place } from "./api.js";
import { band, Chart, COLOURS, inside, overTime } from "./chart.jsx";
import { Doing } from "./doing.jsx";
import { Explain, possible } from "./explain.jsx";
import { Structure } from "./structure.jsx";
import { clock, number, when, withUnit } from "./words.js";

const asArms = (columns, rows) => new Map(rows.map((row) => [row[0], Object.fromEntries(columns.map((name, i) => [name, row[i]]))]));

function Rewards({ data }) {
  const found = data.earned;
  const { short, curves } = overTime(found);
  const option = useMemo(() => ({
    grid: { left: 56, right: 16, top: 52, bottom: short ? 40 : 30 }, legend: { top: 0, left: 0, right: 0 },
    tooltip: { trigger: "axis", valueFormatter: (value) => number(value) },
    xAxis: { type: "value", scale: true, axisLabel: short ? {} : { formatter: clock }, splitNumber: 4, name: short ? "decisions told" : "", nameLocation: "middle", nameGap: 26 },
    yAxis: { type: "value", scale: true, name: data.study.unit || data.earns, inverse: data.study.lower_is_better, nameLocation: data.study.lower_is_better ? "start" : "end" },
    series: Object.entries(curves).flatMap(([source, points], i) => band(source === "policy" ? "this study" : source, points, COLOURS[i], data.earned_domain)),
  }), [data]);
  if (!Object.keys(found).length) return <p class="faint">nothing was told yet</p>;
  return <Chart kind="low" option={option} label={`The ${data.earns} of decisions over time, with a band of two standard errors`} />;
}

function Days({ days }) {
  const option = useMemo(() => ({
    grid: { left: 44, right: 8, top: 10, bottom: 24 }, tooltip: { trigger: "axis" },
    xAxis: { type: "category", data: days.map(([day]) => new Date(day * 86400000).toISOString().slice(5, 10)) },
    yAxis: { type: "value", minInterval: 1, splitNumber: 3 },
    series: [{ type: "bar", name: "decisions", data: days.map(([, count]) => count), color: COLOURS[0], barMaxWidth: 40 }],
  }), [days]);
  return <Chart kind="low" option={option} label="Decisions a day" />;
}

// The part of a curve up to a number of plays.
const upTo = (points, plays) => { const kept = points.at.filter((at) => at <= plays).length; return Object.fromEntries(Object.entries(points).map(([key, list]) => [key, list.slice(0, kept)])); };

function Curves({ name, data, arms, picked, past }) {
  const [more, setMore] = useState({});
  useEffect(() => {
    let alive = true;
    if (picked) get(place(name, `/curve?arm=${encodeURIComponent(picked)}`)).then((points) => alive && setMore({ [picked]: points }), () => {});
    return () => { alive = false; };
  }, [picked, data]);
  const option = useMemo(() => {
    const all = picked ? { ...data.curves, ...more } : data.curves;
    const names = Object.keys(all).filter((arm) => all[arm].at.length && (!picked || arm === picked));
    const shown = names.length ? names : Object.keys(data.curves);
    return {
      grid: { left: 56, right: 16, top: 52, bottom: 40 }, legend: { top: 0, left: 0, right: 0 },
      tooltip: { trigger: "axis", valueFormatter: (value) => withUnit(value, data.study.unit) },
      xAxis: { type: "value", name: "play of the arm", nameLocation: "middle", nameGap: 26, minInterval: 1 },
      yAxis: { type: "value", scale: true, name: data.study.unit || "outcome" },
      series: shown.slice(0, 8).flatMap((arm, i) => {
        const known = arms.get(arm), points = past && known ? upTo(all[arm], known.plays ?? 0) : all[arm], colour = COLOURS[i % COLOURS.length];
        const made = band(arm, points, colour, data.domain);
        if (known && known.predicted_outcome !== null && points.at.length) {
          const last = points.at.length - 1;
          made.push({ type: "line", name: arm, color: colour, symbol: ["none", "diamond"], lineStyle: { type: "dashed", width: 2 }, data: [[points.at[last], points.mean[last]], [points.at[last] * 1.15 + 1, inside(known.predicted_outcome, data.domain)]] });
        }
        return made;
      }),
    };
  }, [data, more, picked, arms, past]);
  return <>
    <Chart option={option} label={`Outcomes of ${picked ? picked : "the most played arms"} by play, with bands of two standard errors; dashed: the forecast`} />
    <p class="faint small">{picked ? <>{picked}</> : "The most played arms"}: mean outcomes by play with a band of two standard errors; dashed, the forecast.</p>
  </>;
}

// The columns in the user's unit.
const OUTCOMES = new Set(["recent_outcome", "predicted_outcome", "index"]);

function ArmTable({ data, arms, chosen, retired, picked, onPick, unit }) {
  const [sort, setSort] = useState(["plays", -1]);
  const rows = useMemo(() => {
    const [key, way] = sort;
    const of = (arm) => (arm[key] === null ? -Infinity * way : arm[key]);
    return [...arms.values()].sort((a, b) => (of(a) < of(b) ? -way : of(a) > of(b) ? way : 0));
  }, [arms, sort]);
  const head = [["label", "arm"], ["plays", "plays"], ["recent_outcome", "recent"], ["predicted_outcome", "forecast"], ["index", "possible"]];
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={`What is known about ${data.units}`}>
      <table>
        <caption class="sr">What is known about every arm</caption>
        <thead><tr>{head.map(([key, title]) => (
          <th key={key} aria-sort={sort[0] === key ? (sort[1] > 0 ? "ascending" : "descending") : "none"}><button onClick={() => setSort([key, sort[0] === key ? -sort[1] : -1])}>{title}{unit && OUTCOMES.has(key) ? `, ${unit}` : ""}{sort[0] === key ? (sort[1] > 0 ? " ▲" : " ▼") : ""}</button></th>
        ))}</tr></thead>
        <tbody>{rows.slice(0, 200).map((arm) => (
          <tr key={arm.label} class={`${arm.label === picked ? "picked" : ""} ${retired.has(arm.label) ? "off" : ""}`}>
            <td><button onClick={() => onPick(arm.label === picked ? "" : arm.label)} aria-pressed={arm.label === picked}>{chosen.has(arm.label) ? "● " : ""}{arm.label}</button>{retired.has(arm.label) ? " (retired)" : ""}</td>
            <td>{number(arm.plays)}</td><td>{number(arm.recent_outcome)}</td><td>{number(inside(arm.predicted_outcome, data.domain))}</td><td>{possible(arm, "")}</td>
          </tr>
        ))}</tbody>
      </table>
      {rows.length > 200 && <p class="faint small">{rows.length - 200} more arms; sort by another column to see others.</p>}
    </div>
  );
}

export function StudyPage({ name, rights }) {
  const [data, setData] = useState(null);
  const [problem, setProblem] = useState("");
  const [picked, setPicked] = useState("");
  const [at, setAt] = useState(null);
  const [then, setThen] = useState(null);
  const [live, setLive] = useState(false);
  const [reading, setReading] = useState(null);
  const loading = useRef(false), again = useRef(false);
  const load = useCallback(async () => {
    if (loading.current) { again.current = true; return; }
    loading.current = true;
    try {
      do {
        again.current = false;
        let found = await get(place(name, "/overview"));
        setData(found);
        setProblem("");
        if (!found.left) continue;
        // A long log is read in several calls: the short answer of the glance, until all is read.
        const all = found.seq + found.left;
        do { found = await get(place(name, "/glance")); setReading(found.left ? found.seq / all : null); } while (found.left);
        setData(await get(place(name, "/overview")));
      } while (again.current);
    } catch (error) { setProblem(error.message); }
    loading.current = false;
  }, [name]);
  useEffect(() => {
    document.title = `${name} – rising-bandits`;
    load();
    const source = new EventSource(place(name, "/events"));
    source.addEventListener("log", () => { setLive(true); load(); });
    source.addEventListener("gone", () => { source.close(); setLive(false); });
    source.onerror = () => setLive(false);
    return () => source.close();
  }, [name]);
  const shownDecision = at ?? (data ? data.study.decisions : 0);
  useEffect(() => {
    if (!shownDecision) { setThen(null); return undefined; }
    let alive = true;
    const timer = setTimeout(() => get(place(name, `/decisions/${shownDecision}/then`)).then((found) => alive && setThen({ ...found, decision: shownDecision }), (error) => alive && setProblem(error.message)), at === null ? 0 : 150);
    return () => { alive = false; clearTimeout(timer); };
  }, [name, shownDecision]);
  const past = at !== null && then && then.decision === at;
  const arms = useMemo(() => (data ? asArms(data.columns, past ? then.arms : data.arms) : new Map()), [data, then, past]);
  const chosen = useMemo(() => new Set(then ? then.explanation.chosen.super_arm : []), [then]);
  const retired = useMemo(() => new Set(data ? data.study.retired : []), [data]);
  if (!data) return <main id="main"><h1>{name}</h1>{problem ? <p class="bad" role="alert">{problem}</p> : <p class="wait">Loading …</p>}</main>;
  const study = data.study;
  return (
    <main id="main">
      <h1>{name} <span class={`small ${live ? "good" : "faint"}`} aria-live="polite">{live ? "● live" : "○ not live"}</span></h1>
      {problem && <p class="bad" role="alert">{problem}</p>}
      {reading !== null && <p class="faint" role="status">The log is being read: <progress value={reading} /> Curves and charts are incomplete until then.</p>}
      {data.warnings.map((text) => <p class="warn" key={text} role="status">⚠ {text}</p>)}
      <dl class="facts card" id="facts">
        <div><dt>decisions</dt><dd id="decisions">{study.decisions}</dd></div><div><dt>round</dt><dd>{study.round}</dd></div>
        <div><dt>open</dt><dd>{study.open}</dd></div><div><dt>expired</dt><dd>{study.expired}</dd></div>
        <div><dt>arms</dt><dd>{study.arms}</dd></div><div><dt>horizon</dt><dd>{study.horizon ?? "not known"}</dd></div>
        <div><dt>policy</dt><dd>{study.policy}</dd></div><div><dt>problem</dt><dd>{study.problem}</dd></div>
      </dl>
      <div class="grid">
        <section class="card c12" aria-labelledby="h-time">
          <h2 id="h-time">What did it know then?</h2>
          {study.decisions ? <div class="row">
            <label for="scrub">Decision</label>
            <input id="scrub" type="range" min="1" max={study.decisions} value={shownDecision} onInput={(event) => setAt(Number(event.target.value))} aria-valuetext={`decision ${shownDecision} of ${study.decisions}`} />
            <input type="number" min="1" max={study.decisions} value={shownDecision} aria-label="Number of the decision" onChange={(event) => { const wanted = Number(event.target.value); if (wanted >= 1 && wanted <= study.decisions) setAt(wanted); }} />
            <button disabled={at === null} onClick={() => setAt(null)}>now</button>
            <span class="faint" aria-live="polite">{at === null ? "the newest decision" : `arms, structure and outcome curves as of decision ${shownDecision}`}</span>
          </div> : <p class="faint">No decision was asked for yet.</p>}
        </section>
        <div class="c7 column">
        <section class="card" aria-labelledby="h-structure"><h2 id="h-structure">Structure</h2>
          <Structure structure={data.structure} labels={data.labels} arms={arms} chosen={chosen} retired={retired} unit={study.unit} onPick={setPicked} /></section>
        <section class="card" aria-labelledby="h-curves"><h2 id="h-curves">Outcome curves{past ? ` as of decision ${at}` : ""}</h2><Curves name={name} data={data} arms={arms} picked={picked} past={past} /></section>
        </div>
        <div class="c5 column">
        <section class="card" aria-labelledby="h-why"><h2 id="h-why">Why decision {shownDecision || ""}</h2>
          {then ? <Explain explanation={then.explanation} unit={study.unit} domain={data.domain} lower={study.lower_is_better} /> : <p class="faint">–</p>}</section>
        <section class="card" aria-labelledby="h-do"><h2 id="h-do">Change something</h2>
          <Doing name={name} data={data} picked={picked} onPick={setPicked} retired={retired} rights={rights} onDone={load} /></section>
        </div>
        <section class="card c6" aria-labelledby="h-reward"><h2 id="h-reward">{data.earns[0].toUpperCase() + data.earns.slice(1)} over time</h2><Rewards data={data} /></section>
        <section class="card c6" aria-labelledby="h-days"><h2 id="h-days">Decisions a day</h2><Days days={data.days} /></section>
        <section class="card c12" aria-labelledby="h-arms"><h2 id="h-arms">{data.units === "arms" ? "Arms" : "Super arms"}{past ? ` as of decision ${at}` : ""}</h2>
          <ArmTable data={data} arms={arms} chosen={chosen} retired={retired} picked={picked} onPick={setPicked} unit={study.unit} /></section>
        <section class="card c12" aria-labelledby="h-log"><h2 id="h-log">Newest decisions and changes</h2>
          <div class="scroll" tabIndex={0} role="group" aria-label="Newest decisions and changes">
            <ol class="log">{[...data.changes.map((each) => ({ ...each, change: true })), ...data.newest].sort((a, b) => b.at - a.at || (b.seq || 1e15) - (a.seq || 1e15) || b.id - a.id).slice(0, 80).map((each) => (
              each.change
                ? <li key={`c${each.seq}`}><b>{each.kind}</b> {each.what} <span class="faint small">{when(each.at)}</span></li>
                : <li key={`d${each.id}`}><button onClick={() => setAt(each.id)}>{each.id}</button> {each.arms.slice(0, 12).join(", ")}{each.arms.length > 12 ? " …" : ""} <span class="faint small">{each.told ? `${data.earns} ${withUnit(each.earned, study.unit)}` : "open"} · {when(each.at)}{each.source !== "policy" ? ` · ${each.source}` : ""}{each.metadata ? ` · ${JSON.stringify(each.metadata).slice(0, 120)}` : ""}</span></li>
            ))}</ol>
          </div>
        </section>
      </div>
    </main>
  );
}
