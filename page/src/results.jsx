// Results of runs: regret with bands, a comparison, and the report.
import { useEffect, useMemo, useState } from "preact/hooks";
import { get } from "./api.js";
import { band, Chart, COLOURS } from "./chart.jsx";
import { Key, Name } from "./names.jsx";
import { number, plain, several } from "./words.js";

// How many policies are drawn at first: the ones with the least regret.
const FIRST = 8;

function Compare({ task, policies }) {
  const [baseline, setBaseline] = useState("");
  const [found, setFound] = useState(null);
  const [problem, setProblem] = useState("");
  const first = policies.find((name) => name.startsWith("crucb")) || policies[0];
  const against = policies.includes(baseline) ? baseline : first;
  useEffect(() => {
    let alive = true;
    setProblem("");
    get(`/v1/results/compare?task=${encodeURIComponent(task)}&baseline=${encodeURIComponent(against)}`).then((data) => alive && setFound(data), (error) => { if (alive) { setFound(null); setProblem(error.message); } });
    return () => { alive = false; };
  }, [task, against]);
  return <section class="card c12" aria-labelledby="h-compare"><h2 id="h-compare">Compared on the same seeds</h2>
    <p><label>Baseline <select value={against} onChange={(event) => setBaseline(event.target.value)}>{policies.map((each) => <option key={each}>{each}</option>)}</select></label></p>
    {problem && <p class="bad" role="alert">{problem}</p>}
    {found && <>
      <div class="scroll" tabIndex={0} role="group" aria-label="Comparison"><table aria-label="Differences of regret"><thead><tr><th>policy</th><th>difference of regret</th><th>low</th><th>high</th><th>p</th><th>seeds</th></tr></thead><tbody>
        {found.rows.map((row) => <tr key={`${row.task} ${row.policy}`}><th scope="row"><Name text={row.policy} />{row.task !== task && <> on <Name text={row.task} /></>}</th><td>{number(row.difference)}</td><td>{number(row.low)}</td><td>{number(row.high)}</td><td>{row.p !== null && row.p < 0.001 ? "< 0.001" : number(row.p, 2)}</td><td>{row.pairs}</td></tr>)}
      </tbody></table></div>
      <p class="faint small">Negative: less regret than <Name text={found.baseline} />. Low and high: a 95% t-interval of the paired differences. p: of the paired t-test, corrected by Holm for all rows.</p>
      {found.notes.map((note) => <p class="faint small" key={note}><Name text={note} /></p>)}
    </>}
  </section>;
}

export function Results() {
  const [data, setData] = useState(null);
  const [problem, setProblem] = useState("");
  const [task, setTask] = useState("");
  const [off, setOff] = useState(new Set());
  const [logarithmic, setLogarithmic] = useState(false);
  useEffect(() => {
    document.title = "Results – rising-bandits";
    let alive = true;
    // A folder with very many runs is not read in time. The next call waits for the same reading.
    const look = () => get("/v1/results").then((found) => { if (alive) { setData(found); show(found, found.tasks[0]?.task || ""); } }, (error) => { if (!alive) return; if (error.status === 503) setTimeout(look, 1000); else setProblem(error.message); });
    look();
    return () => { alive = false; };
  }, []);
  const show = (all, name) => { setTask(name); setOff(new Set(all.tasks.find((each) => each.task === name)?.policies.slice(FIRST).map((each) => each.policy))); };
  const found = data && data.tasks.find((each) => each.task === task);
  const colour = (policy) => COLOURS[found.policies.findIndex((each) => each.policy === policy) % COLOURS.length];
  const shown = found ? found.policies.filter((each) => !off.has(each.policy)) : [];
  const option = useMemo(() => found && ({
    grid: { left: 70, right: 20, top: 30, bottom: 44 },
    tooltip: { trigger: "axis", valueFormatter: (value) => number(value) },
    xAxis: { type: logarithmic ? "log" : "value", name: "round", nameLocation: "middle", nameGap: 28 },
    yAxis: { type: "value", name: "regret", scale: true },
    series: shown.flatMap((each) => band(plain(each.policy), each.curve, colour(each.policy), [each.curve.mean.every((mean) => mean >= 0) ? 0 : null, null])),
  }), [found, off, logarithmic]);
  if (problem) return <main id="main"><p class="bad" role="alert">{problem}</p></main>;
  if (!data) return <main id="main"><p class="wait" role="status">Loading …</p></main>;
  const flip = (policy) => setOff((old) => { const next = new Set(old); if (!next.delete(policy)) next.add(policy); return next; });
  return (
    <main id="main">
      <h1>Results in <Name text={data.folder} /></h1>
      {!data.tasks.length && !data.report && <p>There are no finished runs in this folder.</p>}
      {found && <>
        <p class="row"><label>Task <select value={task} onChange={(event) => show(data, event.target.value)}>{data.tasks.map((each) => <option key={each.task}>{each.task}</option>)}</select></label>
          <span class="faint">{several(data.runs, "run")} of {several(data.tasks.length, "task")} in all</span></p>
        <div class="grid">
          <section class="card c8" aria-labelledby="h-regret"><h2 id="h-regret">Regret on <Name text={task} /></h2>
            <Chart option={option} label={`Regret of ${shown.length} policies on ${task} by round, with 99% t-intervals`} />
            <Key entries={shown.map((each) => [each.policy, colour(each.policy)])} />
            <p class="faint small"><label><input type="checkbox" checked={logarithmic} onChange={() => setLogarithmic(!logarithmic)} /> Rounds on a logarithmic axis.</label> Mean over seeds; the band is a 99% t-interval.</p></section>
          <section class="card c4" aria-labelledby="h-policies"><h2 id="h-policies">Policies</h2>
            <div class="scroll" tabIndex={0} role="group" aria-label="Policies"><table aria-label="Regret of each policy"><thead><tr><th>policy</th><th>seeds</th><th>regret</th><th>±</th></tr></thead><tbody>
              {found.policies.map((each) => <tr key={each.policy}><th scope="row"><label><input type="checkbox" checked={!off.has(each.policy)} onChange={() => flip(each.policy)} /> <Name text={each.policy} /></label></th><td>{each.seeds}</td><td>{number(each.final, 5)}</td><td>{number(each.half_width, 3)}</td></tr>)}
            </tbody></table></div>
            <p class="faint small">Regret at the last round, the least first; ± is half of the interval.</p>
          </section>
          {found.policies.length > 1 && <Compare task={task} policies={found.policies.map((each) => each.policy)} />}
        </div>
      </>}
      {data.report && <p class="card"><a href="/report/report.html">The report of this folder</a>, with its claims and figures.</p>}
      {data.figures.length > 0 && <section class="card" aria-labelledby="h-figures"><h2 id="h-figures">Figures</h2><div class="figures">
        {data.figures.filter((name) => name.endsWith(".png") || !data.figures.includes(name.replace(/svg$/, "png"))).slice(0, 60).map((name) => <figure key={name}><img loading="lazy" src={`/report/${name.split("/").map(encodeURIComponent).join("/")}`} alt={name} /><figcaption class="faint small"><Name text={name} /></figcaption></figure>)}
      </div></section>}
    </main>
  );
}
