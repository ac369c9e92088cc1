// Why a decision was made: the arms of the chosen super arm and of the runner-up, as bars in the user's unit.
import { useMemo } from "preact/hooks";
import { Chart, escape, inside } from "./chart.jsx";
import { Name, Names, Tags } from "./names.jsx";
import { cut, number, plain, withUnit } from "./words.js";

// An index, a value from 0 to 1, can be beyond all outcomes on either side.
const beyondBest = (arm) => arm.index > 0.5;
// The outcome that an index stands for.
export function possible(arm, unit) {
  if (arm.index === null) return "first plays";
  if (arm.possible_outcome !== null) return withUnit(arm.possible_outcome, unit);
  return beyondBest(arm) ? "beyond the best" : "below the worst";
}
// A super arm of a policy on super arms: its reward as a share of the largest possible one, which has no unit.
export const asReward = (row) => ({
  ...row, recent_outcome: row.recent_average, predicted_outcome: row.predicted_improvement === null ? null : row.recent_average + row.predicted_improvement,
  possible_outcome: row.index !== null && row.index >= 0 && row.index <= 1 ? row.index : null,
});
export const REWARDS = " Of super arms, these are rewards as a share of the largest possible one.";
const MOST = 16;
const MARKS = { chosen: "●", "runner-up": "○", both: "◐" };

// The arms of both super arms, each once. Those in which they differ come first: they decided.
function compared(explanation) {
  const chosen = explanation.chosen.arms, second = explanation.runner_up ? explanation.runner_up.arms : [];
  const inChosen = new Set(chosen.map((arm) => arm.label)), inSecond = new Set(second.map((arm) => arm.label));
  const mine = chosen.map((arm) => ({ ...arm, group: inSecond.has(arm.label) ? "both" : "chosen" }));
  return [...mine.filter((arm) => arm.group === "chosen"), ...second.filter((arm) => !inChosen.has(arm.label)).map((arm) => ({ ...arm, group: "runner-up" })), ...mine.filter((arm) => arm.group === "both")];
}

function Verdict({ explanation, unit, lower }) {
  const { chosen, runner_up: second, by_averages: plainly, total_margin: ahead, margin } = explanation;
  const explored = plainly ? chosen.super_arm.filter((label) => !plainly.includes(label)) : [];
  const gap = ahead === null || ahead === undefined ? "" : ahead === 0 ? "equal in recent averages" : `${withUnit(Math.abs(ahead), unit)} ${(ahead < 0) === lower ? "worse" : "better"} in recent averages`;
  const lead = margin === null ? "" : `${margin < 0 ? "ahead" : "behind"} by ${number(Math.abs(margin))} in the index`;
  const about = [lead, gap].filter(Boolean).join(", ");
  return <>
    <p><b>Chosen:</b> <Tags names={chosen.super_arm.slice(0, 40)} kind={() => "in"} /></p>
    {plainly && !(margin < 0) && <p>{explored.length
      ? <><b>Explores</b> <Names names={explored} />: by recent averages alone the choice would be <Names names={plainly} />.</>
      : "Explores nothing: recent averages alone would choose the same."}</p>}
    {second && <p><b>Runner-up</b>{about && `, ${about}`}: <Tags names={second.super_arm.slice(0, 40)} />{explanation.exact ? "" : " (there may be a better one)"}</p>}
  </>;
}

export function Explain({ explanation, onSuperArms, ...outcomes }) {
  // Rewards of super arms have no unit, and more is better.
  const { unit, domain, lower } = onSuperArms ? { unit: "", domain: [0, 1], lower: false } : outcomes;
  const all = compared(explanation).map((row) => (onSuperArms ? asReward(row) : row)), rows = all.slice(0, MOST);
  const [worst, best] = lower ? [domain[1], domain[0]] : domain;
  const option = useMemo(() => ({
    grid: { left: 150, right: 24, top: 34, bottom: 44 },
    legend: { top: 0, left: 0 },
    tooltip: { trigger: "axis", axisPointer: { type: "shadow" }, formatter: (items) => {
      const row = rows[Number(items[0].axisValue)];
      return [`${row.group}: ${plain(row.label)}`, `plays: ${number(row.plays)}`, `recent average: ${withUnit(row.recent_outcome, unit)}`, `forecast: ${withUnit(inside(row.predicted_outcome, domain), unit)}`, `taken as possible: ${possible(row, unit)}`].map(escape).join("<br>");
    } },
    xAxis: { type: "value", name: onSuperArms ? "share of the largest reward" : unit || "outcome", nameLocation: "middle", nameGap: 28, scale: false },
    yAxis: { type: "category", inverse: true, data: rows.map((row, i) => `${i}`), axisLabel: { formatter: (name) => `${MARKS[rows[Number(name)].group]} ${cut(rows[Number(name)].label, 18)}`, interval: 0 } },
    series: [["recent", (row) => row.recent_outcome, "#0072B2"], ["forecast", (row) => inside(row.predicted_outcome, domain), "#E69F00"],
      ["possible", (row) => (row.index === null ? null : row.possible_outcome ?? (beyondBest(row) ? best : worst)), "#8b95a0"]]
      .filter(([, pick]) => rows.some((row) => pick(row) !== null)).map(([name, pick, color]) => ({ type: "bar", name, color, barMaxWidth: 9, data: rows.map(pick) })),
  }), [explanation]);
  const height = `${Math.max(11, 5.5 + 2.6 * rows.length)}rem`;
  return <>
    <Verdict explanation={explanation} unit={outcomes.unit} lower={outcomes.lower} />
    {option.series.length > 0 && <Chart option={option} height={height} label={`Why: recent average, forecast and possible outcome of ${rows.length} arms of the chosen super arm and the runner-up`} />}
    <p class="faint small">● only in the chosen one, ○ only in the runner-up, ◐ in both. Recent: the average of recent outcomes. Possible, the index: the forecast and a bonus for what is not known yet. The decision is the super arm for which this is best.{lower ? " Lower is better." : ""}{onSuperArms ? REWARDS : ""}{all.length > MOST ? ` The first ${MOST} of ${all.length} arms are drawn.` : ""}</p>
    <details><summary>As a table</summary><div class="scroll" tabIndex={0} role="group" aria-label="The explanation as a table">
      <table aria-label="The bars as numbers">
        <thead><tr><th>{onSuperArms ? "super arm" : "arm"}</th><th>plays</th><th>recent</th><th>forecast</th><th>possible</th></tr></thead>
        <tbody>{all.slice(0, 200).map((row) => (
          <tr key={row.label}><th scope="row">{MARKS[row.group]}<span class="sr"> {row.group}</span> <Name text={row.label} /></th><td>{number(row.plays)}</td><td>{withUnit(row.recent_outcome, unit)}</td><td>{withUnit(inside(row.predicted_outcome, domain), unit)}</td><td>{possible(row, unit)}</td></tr>
        ))}</tbody>
      </table>
    </div></details>
    {explanation.notes.map((note) => <p class="faint small" key={note}>Note: <Name text={note} /></p>)}
  </>;
}
