// Why a decision was made: the arms of the chosen super arm and of the runner-up, as bars in the user's unit.
import { useMemo } from "preact/hooks";
import { Chart, escape, inside } from "./chart.jsx";
import { number, withUnit } from "./words.js";

// The outcome that an index stands for. An index beyond all outcomes counts as the best one.
export const possible = (arm, unit) => (arm.index === null ? "first plays" : arm.possible_outcome === null ? "beyond the best" : withUnit(arm.possible_outcome, unit));
// Forecasts may lie outside of what can happen; they are drawn and written as the nearer end, see `inside`.
const cut = (text) => (text.length > 22 ? text.slice(0, 21) + "…" : text);
const MOST = 12;

export function Explain({ explanation, unit, domain, lower }) {
  const groups = [["chosen", explanation.chosen], ["runner-up", explanation.runner_up]].filter((pair) => pair[1]);
  const rows = groups.flatMap(([name, choice]) => choice.arms.slice(0, MOST).map((arm) => ({ ...arm, group: name })));
  const best = lower ? domain[0] : domain[1];
  const option = useMemo(() => ({
    grid: { left: 150, right: 24, top: 34, bottom: 44 },
    legend: { top: 0, left: 0 },
    tooltip: { trigger: "axis", axisPointer: { type: "shadow" }, formatter: (items) => {
      const row = rows[Number(items[0].axisValue)];
      return [`${row.group}: ${row.label}`, `plays: ${number(row.plays)}`, `recent average: ${withUnit(row.recent_outcome, unit)}`, `forecast: ${withUnit(inside(row.predicted_outcome, domain), unit)}`, `taken as possible: ${possible(row, unit)}`].map(escape).join("<br>");
    } },
    xAxis: { type: "value", name: unit || "outcome", nameLocation: "middle", nameGap: 28, scale: false },
    yAxis: { type: "category", inverse: true, data: rows.map((row, i) => `${i}`), axisLabel: { formatter: (name) => `${rows[Number(name)].group === "chosen" ? "● " : "○ "}${cut(rows[Number(name)].label)}`, interval: 0 } },
    series: [["recent", (row) => row.recent_outcome, "#0072B2"], ["forecast", (row) => inside(row.predicted_outcome, domain), "#E69F00"],
      ["possible", (row) => (row.index === null ? null : row.possible_outcome ?? best), "#8b95a0"]]
      .map(([name, pick, color]) => ({ type: "bar", name, color, barMaxWidth: 9, data: rows.map(pick) })),
  }), [explanation]);
  const height = `${Math.max(12, 5.5 + 2.6 * rows.length)}rem`;
  const ahead = explanation.total_margin;
  const lead = ahead === null || ahead === undefined ? "" : ahead === 0 ? ", equal in recent averages" : `, ${withUnit(Math.abs(ahead), unit)} ${(ahead < 0) === lower ? "worse" : "better"} in recent averages`;
  return <>
    <p><b>Chosen:</b> {explanation.chosen.super_arm.slice(0, 40).map((name) => <span class="tag in" key={name}>{name}</span>)}</p>
    {explanation.runner_up && <p><b>Runner-up</b>{lead}: {explanation.runner_up.super_arm.slice(0, 40).map((name) => <span class="tag" key={name}>{name}</span>)}{explanation.exact ? "" : " (there may be a better one)"}</p>}
    <Chart option={option} height={height} label={`Why: recent average, forecast and possible outcome of ${rows.length} arms of the chosen super arm and the runner-up`} />
    <p class="faint small">● chosen, ○ runner-up. Recent: the average of recent outcomes. The decision maximises what is possible: the forecast and a bonus for what is not known yet{explanation.chosen.arms.length > MOST ? `; the first ${MOST} arms are drawn` : ""}.</p>
    <details><summary>As a table</summary><div class="scroll" tabIndex={0} role="group" aria-label="The explanation as a table">
      <table>
        <thead><tr><th>arm</th><th>plays</th><th>recent</th><th>forecast</th><th>possible</th></tr></thead>
        <tbody>{rows.map((row) => (
          <tr key={row.group + row.label}><td>{row.group === "chosen" ? "● " : "○ "}{row.label}</td><td>{number(row.plays)}</td><td>{withUnit(row.recent_outcome, unit)}</td><td>{withUnit(inside(row.predicted_outcome, domain), unit)}</td><td>{possible(row, unit)}</td></tr>
        ))}</tbody>
      </table>
    </div></details>
    {explanation.notes.map((note) => <p class="faint small" key={note}>{note}</p>)}
  </>;
}
