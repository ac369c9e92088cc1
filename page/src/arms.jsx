// All arms as a table that can be sorted and searched.
import { useMemo, useState } from "preact/hooks";
import { inside } from "./chart.jsx";
import { asReward, possible, REWARDS } from "./explain.jsx";
import { Name } from "./names.jsx";
import { number } from "./words.js";

const COLUMNS = [["label", "arm"], ["plays", "plays"], ["recent_outcome", "recent"], ["predicted_outcome", "forecast"], ["index", "possible"]];
// The columns in the user's unit.
const OUTCOMES = new Set(["recent_outcome", "predicted_outcome", "index"]);
const MOST = 200;

export function ArmTable({ data, units, arms, chosen, retired, picked, onPick, unit }) {
  const [sort, setSort] = useState(["plays", -1]);
  const [filter, setFilter] = useState("");
  const rows = useMemo(() => {
    const wanted = filter.toLowerCase();
    const found = [...arms.values()].map((arm) => (units === "arms" ? arm : asReward(arm))).filter((arm) => arm.label.toLowerCase().includes(wanted));
    const [key, way] = sort;
    // What is not known comes last, whichever way is sorted.
    const of = (arm) => (arm[key] === null ? -Infinity * way : arm[key]);
    return found.sort((a, b) => (of(a) < of(b) ? -way : of(a) > of(b) ? way : 0));
  }, [arms, units, sort, filter]);
  const arrow = (key) => (sort[0] === key ? (sort[1] > 0 ? " ▲" : " ▼") : "");
  return <>
    {arms.size > 20 && <p><label>Find <input value={filter} onInput={(event) => setFilter(event.target.value)} /></label> <span class="faint small" role="status">{rows.length} of {arms.size}</span></p>}
    <div class="scroll" tabIndex={0} role="group" aria-label={`What is known about ${units}`}>
      <table>
        <caption class="sr">What is known about every arm</caption>
        <thead><tr>{COLUMNS.map(([key, title]) => (
          <th key={key} aria-sort={sort[0] === key ? (sort[1] > 0 ? "ascending" : "descending") : "none"}><button onClick={() => setSort([key, sort[0] === key ? -sort[1] : key === "label" ? 1 : -1])}>{key === "label" && units !== "arms" ? "super arm" : title}{unit && OUTCOMES.has(key) ? `, ${unit}` : ""}{arrow(key)}</button></th>
        ))}</tr></thead>
        <tbody>{rows.slice(0, MOST).map((arm) => (
          <tr key={arm.label} class={`${arm.label === picked ? "picked" : ""} ${retired.has(arm.label) ? "off" : ""}`}>
            <th scope="row">{units !== "arms" ? <>{chosen.has(arm.label) ? "● " : ""}<Name text={arm.label} /></> : <button onClick={() => onPick(arm.label === picked ? "" : arm.label)} aria-pressed={arm.label === picked}>{chosen.has(arm.label) ? "● " : ""}<Name text={arm.label} /></button>}{retired.has(arm.label) ? " (retired)" : ""}</th>
            <td>{number(arm.plays)}</td><td>{number(arm.recent_outcome)}</td><td>{number(inside(arm.predicted_outcome, units === "arms" ? data.domain : [0, 1]))}</td><td>{possible(arm, "")}</td>
          </tr>
        ))}</tbody>
      </table>
    </div>
    <p class="faint small">{rows.length > MOST ? `The first ${MOST} of ${rows.length}; sort by another column or type a part of a name to see others. ` : ""}● in the shown decision. Recent: the average of recent outcomes. Forecast: what it is expected to become. Possible: the forecast and a bonus for what is not known yet; the decision is the super arm for which this is best.{units === "arms" ? "" : REWARDS}</p>
  </>;
}
