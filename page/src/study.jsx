// One study: what it is doing, why, what it knew at any moment, and changes with a preview.
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get, place } from "./api.js";
import { ArmTable } from "./arms.jsx";
import { Curves } from "./curves.jsx";
import { Doing } from "./doing.jsx";
import { Explain } from "./explain.jsx";
import { Newest } from "./log.jsx";
import { Name } from "./names.jsx";
import { Structure } from "./structure.jsx";
import { Days, Rewards } from "./time.jsx";
import { capital, number, when } from "./words.js";

const asArms = (columns, rows) => new Map(rows.map((row) => [row[0], Object.fromEntries(columns.map((name, i) => [name, row[i]]))]));

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
    let source = null, timer;
    const leave = () => { clearTimeout(timer); setLive(false); if (source) source.close(); source = null; };
    // A browser keeps at most six connections to a service, so a tab that nobody sees must not hold one.
    const follow = () => {
      leave();
      if (document.hidden) return;
      load();
      source = new EventSource(place(name, "/events"));
      source.addEventListener("log", () => { setLive(true); load(); });
      source.addEventListener("gone", () => { leave(); load(); });
      source.onerror = () => { setLive(false); if (source && source.readyState === EventSource.CLOSED) { leave(); timer = setTimeout(follow, 5000); } };
    };
    follow();
    document.addEventListener("visibilitychange", follow);
    return () => { document.removeEventListener("visibilitychange", follow); leave(); };
  }, [name]);
  const shownDecision = at ?? (data ? data.study.decisions : 0);
  useEffect(() => {
    if (!shownDecision) { setThen(null); return undefined; }
    let alive = true;
    const timer = setTimeout(() => get(place(name, `/decisions/${shownDecision}/then`)).then((found) => alive && setThen({ ...found, decision: shownDecision }), (error) => alive && setProblem(error.message)), at === null ? 0 : 150);
    return () => { alive = false; clearTimeout(timer); };
  }, [name, shownDecision]);
  const past = at !== null && then && then.decision === at;
  const units = past ? (then.members ? "super arms" : "arms") : data?.units;
  const arms = useMemo(() => (data ? asArms(data.columns, past ? then.arms : data.arms) : new Map()), [data, then, past]);
  const chosen = useMemo(() => new Set(then ? then.explanation.chosen.super_arm : []), [then]);
  const chosenUnits = useMemo(() => new Set(then ? then.explanation.chosen.arms.map((arm) => arm.label) : []), [then]);
  // Where the policy only knows super arms, their members are known from the log.
  const members = useMemo(() => { const rows = data && (past ? then.members : data.members); return rows ? asArms(data.columns, rows) : arms; }, [data, then, arms, past]);
  const restarted = useMemo(() => (past ? new Set(then.restarted) : null), [then, past]);
  const retired = useMemo(() => new Set(past ? then.retired : data ? data.study.retired : []), [data, then, past]);
  if (!data) return <main id="main"><h1><Name text={name} /></h1>{problem ? <p class="bad" role="alert">{problem}</p> : <p class="wait">Loading …</p>}</main>;
  const study = data.study;
  return (
    <main id="main">
      <h1><Name text={name} /> <span class={`small ${live ? "good" : "faint"}`} aria-live="polite">{live ? "● live" : "○ not live"}</span></h1>
      {problem && <p class="bad" role="alert">{problem}</p>}
      {reading !== null && <p class="faint" role="status">The log is being read: <progress value={reading} /> Curves and charts are incomplete until then.</p>}
      {data.warnings.map((text) => <p class="warn" key={text} role="status">⚠ <Name text={text} /></p>)}
      <dl class="facts card" id="facts">
        <div><dt>decisions</dt><dd id="decisions">{number(study.decisions)}</dd></div><div><dt>round now</dt><dd>{number(study.round)}</dd></div>
        <div><dt>open</dt><dd>{number(study.open)}</dd></div><div><dt>expired</dt><dd class={study.expired ? "bad" : ""}>{number(study.expired)}</dd></div>
        <div><dt>arms</dt><dd>{number(study.arms)}</dd></div><div><dt>horizon in rounds</dt><dd>{study.horizon === null ? "not known" : number(study.horizon)}</dd></div>
        {study.shares.map((each) => <div key={each.name}><dt><Name text={each.name} /> gets</dt><dd>{number(100 * each.share, 3)}% of the asks: <Name text={each.rule} most={80} /></dd></div>)}
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
          </div> : <p class="faint">No decision was asked for yet. Ask for one with <code>study.ask()</code> in Python or <code>POST {place(name, "/ask")}</code>.</p>}
          {study.decisions > 0 && <p class="faint small" aria-live="polite">{at === null ? "The newest decision is shown." : `Arms, structure and outcome curves are shown as of decision ${shownDecision}${past ? `, ${when(then.asked_at)}` : ""}.`}</p>}
        </section>
        <div class="c7 column">
        <section class="card" aria-labelledby="h-structure"><h2 id="h-structure">Structure</h2>
          <Structure structure={data.structure} labels={data.labels} arms={members} chosen={chosen} retired={retired} unit={study.unit} past={past} onPick={setPicked} /></section>
        <section class="card" aria-labelledby="h-curves"><h2 id="h-curves">Outcome curves{past ? ` as of decision ${at}` : ""}</h2>
          <Curves name={name} data={data} arms={members} picked={picked} onPick={setPicked} restarted={restarted} /></section>
        </div>
        <div class="c5 column">
        <section class="card" aria-labelledby="h-why"><h2 id="h-why">{shownDecision ? `Why decision ${shownDecision}` : "Why"}</h2>
          {then ? <Explain explanation={then.explanation} onSuperArms={Boolean(then.members)} unit={study.unit} domain={data.domain} lower={study.lower_is_better} /> : <p class="faint">{study.decisions ? "Loading …" : "No decision was asked for yet."}</p>}</section>
        <section class="card" aria-labelledby="h-do"><h2 id="h-do">Change something</h2>
          <Doing name={name} data={data} picked={picked} onPick={setPicked} retired={new Set(study.retired)} rights={rights} decision={shownDecision} chosen={then ? then.explanation.chosen.super_arm : []} onDone={load} /></section>
        </div>
        <section class="card c6" aria-labelledby="h-reward"><h2 id="h-reward">{capital(data.earns)} over time</h2><Rewards name={name} data={data} /></section>
        <section class="card c6" aria-labelledby="h-days"><h2 id="h-days">Decisions a day</h2><Days days={data.days} /></section>
        <section class="card c12" aria-labelledby="h-arms"><h2 id="h-arms">{capital(units)}{past ? ` as of decision ${at}` : ""}</h2>
          <ArmTable data={data} units={units} arms={arms} chosen={chosenUnits} retired={retired} picked={picked} onPick={setPicked} unit={units === "arms" ? study.unit : ""} /></section>
        <section class="card c12" aria-labelledby="h-log"><h2 id="h-log">Newest decisions and changes</h2>
          <Newest data={data} onShow={setAt} />
        </section>
      </div>
    </main>
  );
}
