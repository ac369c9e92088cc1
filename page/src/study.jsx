// One study: what it is doing, why, what it knew at any moment, and changes with a preview.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get, place, post } from "./api.js";
import { band, Chart, COLOURS, overTime } from "./chart.jsx";
import { Explain } from "./explain.jsx";
import { Structure } from "./structure.jsx";
import { clock, number, when, withUnit } from "./words.js";

const inside = (value, [low, high]) => Math.min(high ?? Infinity, Math.max(low ?? -Infinity, value));
const asArms = (columns, rows) => new Map(rows.map((row) => [row[0], Object.fromEntries(columns.map((name, i) => [name, row[i]]))]));

function Rewards({ data }) {
  const inUnit = Boolean(data.study.unit);
  const found = inUnit ? data.outcome : data.reward;
  const { short, curves } = overTime(found);
  const option = useMemo(() => ({
    grid: { left: 56, right: 16, top: 34, bottom: short ? 40 : 30 }, legend: { top: 0, left: 90 },
    tooltip: { trigger: "axis", valueFormatter: (value) => number(value) },
    xAxis: { type: "value", scale: true, axisLabel: short ? {} : { formatter: clock }, splitNumber: 4, name: short ? "decisions told" : "", nameLocation: "middle", nameGap: 26 },
    yAxis: { type: "value", scale: true, name: inUnit ? data.study.unit : "reward", inverse: inUnit && data.study.lower_is_better },
    series: Object.entries(curves).flatMap(([source, points], i) => band(source === "policy" ? "this study" : source, points, COLOURS[i])),
  }), [data]);
  if (!Object.keys(found).length) return <p class="faint">nothing was told yet</p>;
  return <Chart kind="low" option={option} label={`${inUnit ? "Mean outcome" : "Reward"} of decisions over time, with a band of two standard errors`} />;
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

function Curves({ name, data, arms, picked }) {
  const [more, setMore] = useState({});
  useEffect(() => {
    if (picked && !data.curves[picked]) get(place(name, `/curve?arm=${encodeURIComponent(picked)}`)).then((points) => setMore((old) => ({ ...old, [picked]: points })), () => {});
  }, [picked, data]);
  const option = useMemo(() => {
    const all = { ...more, ...data.curves };
    const names = Object.keys(all).filter((arm) => all[arm].at.length && (!picked || arm === picked || picked === ""));
    const shown = names.length ? names : Object.keys(data.curves);
    return {
      grid: { left: 56, right: 16, top: 34, bottom: 40 }, legend: { top: 0, left: 110 },
      tooltip: { trigger: "axis", valueFormatter: (value) => withUnit(value, data.study.unit) },
      xAxis: { type: "value", name: "play of the arm", nameLocation: "middle", nameGap: 26, minInterval: 1 },
      yAxis: { type: "value", scale: true, name: data.study.unit || "outcome" },
      series: shown.slice(0, 8).flatMap((arm, i) => {
        const points = all[arm], known = arms.get(arm), colour = COLOURS[i % COLOURS.length];
        const made = band(arm, points, colour);
        if (known && known.predicted_outcome !== null && points.at.length) {
          const last = points.at.length - 1;
          made.push({ type: "line", name: arm, color: colour, symbol: ["none", "diamond"], lineStyle: { type: "dashed", width: 2 }, data: [[points.at[last], points.mean[last]], [points.at[last] * 1.15 + 1, inside(known.predicted_outcome, data.domain)]] });
        }
        return made;
      }),
    };
  }, [data, more, picked, arms]);
  return <>
    <Chart option={option} label={`Outcomes of ${picked ? picked : "the most played arms"} by play, with bands of two standard errors; dashed: the forecast`} />
    <p class="faint small">{picked ? <>{picked}</> : "The most played arms"}: mean outcomes by play with a band of two standard errors; dashed, the forecast.</p>
  </>;
}

function ArmTable({ data, arms, chosen, retired, picked, onPick, unit }) {
  const [sort, setSort] = useState(["plays", -1]);
  const rows = useMemo(() => {
    const [key, way] = sort;
    const of = (arm) => (arm[key] === null ? -Infinity * way : arm[key]);
    return [...arms.values()].sort((a, b) => (of(a) < of(b) ? -way : of(a) > of(b) ? way : 0));
  }, [arms, sort]);
  const head = [["label", "arm"], ["plays", "plays"], ["recent_outcome", "recent"], ["predicted_outcome", "forecast"], ["bonus", "bonus"], ["index", "index"]];
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={`What is known about ${data.units}`}>
      <table>
        <caption class="sr">What is known about every arm</caption>
        <thead><tr>{head.map(([key, title]) => (
          <th key={key} aria-sort={sort[0] === key ? (sort[1] > 0 ? "ascending" : "descending") : "none"}><button onClick={() => setSort([key, sort[0] === key ? -sort[1] : -1])}>{title}{sort[0] === key ? (sort[1] > 0 ? " ▲" : " ▼") : ""}</button></th>
        ))}</tr></thead>
        <tbody>{rows.slice(0, 200).map((arm) => (
          <tr key={arm.label} class={`${arm.label === picked ? "picked" : ""} ${retired.has(arm.label) ? "off" : ""}`}>
            <td><button onClick={() => onPick(arm.label === picked ? "" : arm.label)} aria-pressed={arm.label === picked}>{chosen.has(arm.label) ? "● " : ""}{arm.label}</button>{retired.has(arm.label) ? " (retired)" : ""}</td>
            <td>{number(arm.plays)}</td><td>{withUnit(arm.recent_outcome, unit)}</td><td>{withUnit(arm.predicted_outcome, unit)}</td><td>{number(arm.bonus)}</td><td>{arm.index === null ? "first plays" : number(arm.index)}</td>
          </tr>
        ))}</tbody>
      </table>
      {rows.length > 200 && <p class="faint small">{rows.length - 200} more arms; sort by another column to see others.</p>}
    </div>
  );
}

const POLICIES = ["horizon-crucb", "crucb", "sw-cucb", "sw-cts", "random"];

function Doing({ name, data, picked, onPick, retired, rights, onDone }) {
  const [what, setWhat] = useState("retire");
  const [policy, setPolicy] = useState(POLICIES[0]);
  const [horizon, setHorizon] = useState("");
  const [seen, setSeen] = useState(null);
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);
  const onArm = ["retire", "restore", "reset", "mask"].includes(what);
  const ready = onArm ? Boolean(picked) : what === "policy" ? true : horizon === "" || Number(horizon) >= 1;
  const change = onArm ? { [what]: [picked] } : what === "policy" ? { policy: { name: policy } } : { horizon: horizon === "" ? null : Number(horizon) };
  const mark = JSON.stringify(change);
  useEffect(() => { setSeen(null); setSaid(""); }, [mark]);
  const act = async (work) => {
    setBusy(true);
    try { await work(); } catch (error) { setSaid(error.message); } finally { setBusy(false); }
  };
  const look = () => act(async () => { setSeen({ mark, ...(await post(place(name, "/preview"), change)) }); setSaid(""); });
  const apply = () => act(async () => {
    if (onArm) await post(place(name, `/${what}`), { arms: [picked] });
    else await post(place(name, "/settings"), change);
    setSaid(`Done: ${what}${onArm ? ` ${picked}` : ""}.`);
    setSeen(null);
    onDone();
  });
  if (!rights.includes("change")) return <p class="faint">Your token may look, but not change.</p>;
  return <>
    <div class="row">
      <label>Do <select aria-label="Do" value={what} onChange={(event) => setWhat(event.target.value)}>
        <option value="retire">retire an arm</option><option value="restore">restore an arm</option><option value="reset">reset an arm</option>
        <option value="mask">mask an arm once</option><option value="policy">change the policy</option><option value="horizon">change the horizon</option>
      </select></label>
      {onArm && <label>Arm <select aria-label="Arm" value={picked} onChange={(event) => onPick(event.target.value)}>
        <option value="">choose …</option>{data.labels.slice(0, 2000).map((label) => <option key={label} value={label}>{label}{retired.has(label) ? " (retired)" : ""}</option>)}
      </select></label>}
      {what === "policy" && <label>Policy <select aria-label="Policy" value={policy} onChange={(event) => setPolicy(event.target.value)}>{POLICIES.map((each) => <option key={each}>{each}</option>)}</select></label>}
      {what === "horizon" && <label>Rounds <input type="number" min="1" placeholder="not known" value={horizon} onInput={(event) => setHorizon(event.target.value)} /></label>}
      <button class="main" disabled={!ready || busy} onClick={look}>Preview</button>
    </div>
    <div aria-live="polite">
      {said && <p class={said.startsWith("Done") ? "good" : "bad"}>{said}</p>}
      {seen && seen.refused && <p class="bad">This cannot be done: {seen.refused}</p>}
      {seen && seen.after && <>
        <p>{seen.same ? "The next decision stays the same: " : "The next decision would change: "}
          {seen.before.super_arm.map((label) => <span key={`b${label}`} class={`tag ${seen.after.super_arm.includes(label) ? "" : "out"}`}>{label}</span>)}
          {!seen.same && " → "}{!seen.same && seen.after.super_arm.map((label) => <span key={`a${label}`} class={`tag ${seen.before.super_arm.includes(label) ? "" : "in"}`}>{label}</span>)}
        </p>
        {what === "mask"
          ? <p class="faint small">A mask holds for one decision: send <code>"unavailable"</code> with the ask.</p>
          : <button class="danger" disabled={busy} onClick={apply}>{what === "policy" ? `Change the policy to ${policy}` : what === "horizon" ? "Change the horizon" : `${what[0].toUpperCase()}${what.slice(1)} ${picked}`}</button>}
      </>}
    </div>
  </>;
}

export function StudyPage({ name, rights }) {
  const [data, setData] = useState(null);
  const [problem, setProblem] = useState("");
  const [picked, setPicked] = useState("");
  const [at, setAt] = useState(null);
  const [then, setThen] = useState(null);
  const [live, setLive] = useState(false);
  const loading = useRef(false), again = useRef(false);
  const load = useCallback(async () => {
    if (loading.current) { again.current = true; return; }
    loading.current = true;
    try {
      do { again.current = false; setData(await get(place(name, "/overview"))); setProblem(""); } while (again.current);
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
            <span class="faint" aria-live="polite">{at === null ? "the newest decision; charts show now" : `arms and structure as of decision ${shownDecision}`}</span>
          </div> : <p class="faint">No decision was asked for yet.</p>}
        </section>
        <div class="c7 column">
        <section class="card" aria-labelledby="h-structure"><h2 id="h-structure">Structure</h2>
          <Structure structure={data.structure} labels={data.labels} arms={arms} chosen={chosen} retired={retired} unit={study.unit} onPick={setPicked} /></section>
        <section class="card" aria-labelledby="h-do"><h2 id="h-do">Change something</h2>
          <Doing name={name} data={data} picked={picked} onPick={setPicked} retired={retired} rights={rights} onDone={load} /></section>
        </div>
        <section class="card c5" aria-labelledby="h-why"><h2 id="h-why">Why decision {shownDecision || ""}</h2>
          {then ? <Explain explanation={then.explanation} unit={study.unit} /> : <p class="faint">–</p>}</section>
        <section class="card c6" aria-labelledby="h-reward"><h2 id="h-reward">{study.unit ? "Outcome" : "Reward"} over time</h2><Rewards data={data} /></section>
        <section class="card c6" aria-labelledby="h-days"><h2 id="h-days">Decisions a day</h2><Days days={data.days} /></section>
        <section class="card c6" aria-labelledby="h-curves"><h2 id="h-curves">Outcome curves</h2><Curves name={name} data={data} arms={arms} picked={picked} /></section>
        <section class="card c6" aria-labelledby="h-arms"><h2 id="h-arms">{data.units === "arms" ? "Arms" : "Super arms"}{past ? ` as of decision ${at}` : ""}</h2>
          <ArmTable data={data} arms={arms} chosen={chosen} retired={retired} picked={picked} onPick={setPicked} unit={study.unit} /></section>
        <section class="card c12" aria-labelledby="h-log"><h2 id="h-log">Newest decisions and changes</h2>
          <div class="scroll" tabIndex={0} role="group" aria-label="Newest decisions and changes">
            <ol class="log">{[...data.changes.map((each) => ({ ...each, change: true })), ...data.newest].sort((a, b) => b.at - a.at || (b.seq || 1e15) - (a.seq || 1e15) || b.id - a.id).slice(0, 80).map((each) => (
              each.change
                ? <li key={`c${each.seq}`}><b>{each.kind}</b> {each.what} <span class="faint small">{when(each.at)}</span></li>
                : <li key={`d${each.id}`}><button onClick={() => setAt(each.id)}>{each.id}</button> {each.arms.slice(0, 12).join(", ")}{each.arms.length > 12 ? " …" : ""} <span class="faint small">{each.told ? `reward ${number(each.reward)}` : "open"} · {when(each.at)}{each.source !== "policy" ? ` · ${each.source}` : ""}{each.metadata ? ` · ${JSON.stringify(each.metadata).slice(0, 120)}` : ""}</span></li>
            ))}</ol>
          </div>
        </section>
      </div>
    </main>
  );
}
