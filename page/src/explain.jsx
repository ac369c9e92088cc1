// Why a decision was made: the arms of the chosen super arm and of the runner-up, as bars in the user's unit.
import { useMemo } from "preact/hooks";
import { Chart, escape } from "./chart.jsx";
import { number, withUnit } from "./words.js";

export function Explain({ explanation, unit }) {
  const groups = [["chosen", explanation.chosen], ["runner-up", explanation.runner_up]].filter((pair) => pair[1]);
  const rows = groups.flatMap(([name, choice]) => choice.arms.slice(0, 15).map((arm) => ({ ...arm, group: name })));
  const option = useMemo(() => {
    const inUnit = rows.some((row) => row.recent_outcome !== null);
    const names = rows.map((row, i) => `${i}`);
    const label = (i) => `${rows[i].group === "chosen" ? "● " : "○ "}${rows[i].label.length > 22 ? rows[i].label.slice(0, 21) + "…" : rows[i].label}`;
    const bar = (name, pick, colour) => ({ type: "bar", name, barMaxWidth: 12, color: colour, data: rows.map((row) => pick(row)) });
    return {
      grid: { left: 150, right: 24, top: 34, bottom: 40 },
      legend: { top: 0, left: 0 },
      tooltip: { trigger: "axis", axisPointer: { type: "shadow" }, formatter: (items) => {
        const row = rows[Number(items[0].axisValue)];
        return escape(`${row.group}: ${row.label}`) + "<br>" + [
          `plays: ${number(row.plays)}`, `recent average: ${withUnit(row.recent_outcome, unit)}`, `forecast: ${withUnit(row.predicted_outcome, unit)}`,
          `bonus for uncertainty (scale 0 to 1): ${number(row.bonus)}`, `index (scale 0 to 1): ${row.index === null ? "first plays" : number(row.index)}`,
        ].map(escape).join("<br>");
      } },
      xAxis: { type: "value", name: inUnit ? (unit || "outcome") : "index", nameLocation: "middle", nameGap: 26, scale: false },
      yAxis: { type: "category", inverse: true, data: names, axisLabel: { formatter: (name) => label(Number(name)), interval: 0 } },
      series: [
        bar("recent average", (row) => row.recent_outcome, "#0072B2"),
        bar("forecast", (row) => row.predicted_outcome, "#E69F00"),
      ],
    };
  }, [explanation]);
  return <>
    <p><b>Chosen:</b> {explanation.chosen.super_arm.map((name) => <span class="tag in" key={name}>{name}</span>)}</p>
    {explanation.runner_up && <p><b>Runner-up</b>{explanation.margin !== null ? `, behind by ${number(explanation.margin)} (index)` : ""}: {explanation.runner_up.super_arm.map((name) => <span class="tag" key={name}>{name}</span>)}{explanation.exact ? "" : " (there may be a better one)"}</p>}
    <Chart option={option} label={`Why: recent average and forecast of ${rows.length} arms of the chosen super arm and the runner-up`} />
    <div class="scroll" tabIndex={0} role="group" aria-label="The explanation as a table">
      <table>
        <thead><tr><th>arm</th><th>plays</th><th>recent</th><th>forecast</th><th>bonus</th><th>index</th></tr></thead>
        <tbody>{rows.map((row) => (
          <tr key={row.group + row.label}><td>{row.group === "chosen" ? "● " : "○ "}{row.label}</td><td>{number(row.plays)}</td><td>{withUnit(row.recent_outcome, unit)}</td><td>{withUnit(row.predicted_outcome, unit)}</td><td>{number(row.bonus)}</td><td>{row.index === null ? "first plays" : number(row.index)}</td></tr>
        ))}</tbody>
      </table>
    </div>
    {explanation.notes.map((note) => <p class="faint small" key={note}>{note}</p>)}
  </>;
}
