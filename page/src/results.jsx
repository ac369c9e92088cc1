// Results of runs: regret with bands, a comparison, and the report.
import { useEffect, useMemo, useState } from "preact/hooks";
import { get } from "./api.js";
import { band, Chart, COLOURS } from "./chart.jsx";
import { number } from "./words.js";

export function Results() {
  const [data, setData] = useState(null);
  const [problem, setProblem] = useState("");
  const [task, setTask] = useState("");
  const [off, setOff] = useState(new Set());
  useEffect(() => {
    document.title = "Results – rising-bandits";
    get("/v1/results").then((found) => { setData(found); setTask(found.tasks[0]?.task || ""); }, (error) => setProblem(error.message));
  }, []);
  const found = data && data.tasks.find((each) => each.task === task);
  const option = useMemo(() => found && ({
    grid: { left: 70, right: 20, top: 52, bottom: 44 }, legend: { top: 0, left: 0, right: 0 },
    tooltip: { trigger: "axis", valueFormatter: (value) => number(value) },
    xAxis: { type: "value", name: "round", nameLocation: "middle", nameGap: 28 },
    yAxis: { type: "value", name: "regret", scale: true },
    series: found.policies.filter((each) => !off.has(each.policy)).flatMap((each) => band(each.policy, each.curve, COLOURS[found.policies.indexOf(each) % COLOURS.length], [each.curve.mean.every((mean) => mean >= 0) ? 0 : null, null])),
  }), [found, off]);
  if (problem) return <main id="main"><p class="bad" role="alert">{problem}</p></main>;
  if (!data) return <p class="wait">Loading …</p>;
  const flip = (policy) => setOff((old) => { const next = new Set(old); if (!next.delete(policy)) next.add(policy); return next; });
  return (
    <main id="main">
      <h1>Results in {data.folder}</h1>
      {!data.tasks.length && !data.report && <p>There are no finished runs in this folder.</p>}
      {data.tasks.length > 0 && <>
        <p class="row"><label>Task <select value={task} onChange={(event) => { setTask(event.target.value); setOff(new Set()); }}>{data.tasks.map((each) => <option key={each.task}>{each.task}</option>)}</select></label>
          <span class="faint">{data.runs} runs in all</span></p>
        <div class="grid">
          <section class="card c8" aria-labelledby="h-regret"><h2 id="h-regret">Regret on {task}</h2>
            <Chart option={option} label={`Regret of ${found.policies.length} policies on ${task} by round, with 99% t-intervals`} />
            <p class="faint small">Mean over seeds; the band is a 99% t-interval.</p></section>
          <section class="card c4" aria-labelledby="h-policies"><h2 id="h-policies">Policies</h2>
            <table><thead><tr><th>policy</th><th>seeds</th><th>regret</th><th>±</th></tr></thead><tbody>
              {found.policies.map((each) => <tr key={each.policy}><td><label><input type="checkbox" checked={!off.has(each.policy)} onChange={() => flip(each.policy)} /> {each.policy}</label></td><td>{each.seeds}</td><td>{number(each.final, 5)}</td><td>{number(each.half_width, 3)}</td></tr>)}
            </tbody></table>
          </section>
          {found.compare && <section class="card c12" aria-labelledby="h-compare"><h2 id="h-compare">Compared with {found.compare.baseline}, seed by seed</h2>
            <div class="scroll" tabIndex={0} role="group" aria-label="Comparison"><table><thead><tr><th>policy</th><th>difference of regret</th><th>low</th><th>high</th><th>seeds</th></tr></thead><tbody>
              {found.compare.rows.map((row) => <tr key={row.policy}><td>{row.policy}</td><td>{number(row.difference, 5)}</td><td>{number(row.low, 5)}</td><td>{number(row.high, 5)}</td><td>{row.seeds}</td></tr>)}
            </tbody></table></div><p class="faint small">Negative is better than {found.compare.baseline}. The interval is a 95% t-interval of paired differences.</p></section>}
        </div>
      </>}
      {data.report && <p class="card"><a href="/report/report.html">The report of this folder</a>, with its claims and figures.</p>}
      {data.figures.length > 0 && <section class="card" aria-labelledby="h-figures"><h2 id="h-figures">Figures</h2><div class="figures">
        {data.figures.filter((name) => name.endsWith(".png")).slice(0, 60).map((name) => <figure key={name}><img loading="lazy" src={`/report/${name.split("/").map(encodeURIComponent).join("/")}`} alt={name} /><figcaption class="faint small">{name}</figcaption></figure>)}
      </div></section>}
    </main>
  );
}
