// The structure of a problem: a graph whose edges are coloured by how good they are, or arms as coloured tags.
import { useMemo } from "preact/hooks";
import { Chart, escape, ink } from "./chart.jsx";
import { number, withUnit } from "./words.js";

const SCALE = ["#b2182b", "#ef8a62", "#c9b26b", "#67a9cf", "#2166ac"];
export function shade(goodness) {
  if (goodness === null || goodness === undefined) return "#8b95a0";
  const at = Math.min(0.9999, Math.max(0, goodness)) * (SCALE.length - 1);
  const low = Math.floor(at), part = at - low;
  const mix = [1, 3, 5].map((i) => Math.round(parseInt(SCALE[low].slice(i, i + 2), 16) * (1 - part) + parseInt(SCALE[low + 1].slice(i, i + 2), 16) * part));
  return `rgb(${mix.join(",")})`;
}
// How many arms are drawn as tags.
const MOST = 200;
const KEY = "red: worst now, blue: best now, grey: not known yet; thick: in the shown decision; dashed: retired";

export function Structure({ structure, labels, arms, chosen, retired, unit, onPick }) {
  const known = labels.map((label) => arms.get(label));
  const averages = known.filter((arm) => arm && arm.recent_average !== null).map((arm) => arm.recent_average);
  const low = Math.min(...averages), high = Math.max(...averages);
  const goodness = (arm) => (!arm || arm.recent_average === null ? null : high > low ? (arm.recent_average - low) / (high - low) : 0.75);
  const said = (label, arm) => `${label}: ${arm && arm.plays !== null ? `${arm.plays} plays` : "no plays"}, now ${arm ? withUnit(arm.recent_outcome, unit) : "–"}`;
  const option = useMemo(() => {
    if (!structure.nodes) return null;
    const look = ink();
    const many = structure.nodes.length > 60;
    const tall = structure.kind === "matching" ? Math.max(structure.nodes.length * 14, 300) : 440;
    return {
      tooltip: { formatter: (event) => (event.dataType === "edge" ? escape(event.data.said) : escape(event.name)) },
      series: [{
        type: "graph", layout: "none", roam: true, preserveAspect: "contain", scaleLimit: { min: 0.5, max: 12 }, left: "12%", right: "12%", top: 24, bottom: 24,
        symbolSize: many ? 5 : 13, edgeSymbol: ["none", structure.directed ? "arrow" : "none"], edgeSymbolSize: many ? 4 : 7,
        label: { show: !many, position: structure.kind === "matching" ? "bottom" : "top", color: look.ink, backgroundColor: look.card, padding: [0, 2], fontSize: 11, width: 90, overflow: "truncate" },
        itemStyle: { color: look.card, borderColor: look.ink, borderWidth: 1.4 },
        data: structure.nodes.map((node, i) => ({ id: String(i), name: node.name, x: node.x * 720, y: node.y * tall, itemStyle: (structure.sources || []).includes(i) || (structure.targets || []).includes(i) ? { color: look.main } : undefined,
          label: structure.kind === "matching" ? { position: i < structure.workers ? "left" : "right" } : undefined })),
        links: structure.edges.map(([from, to], i) => ({
          source: String(from), target: String(to), label: { show: false }, said: said(labels[i], known[i]), arm: labels[i],
          lineStyle: { color: shade(goodness(known[i])), width: chosen.has(labels[i]) ? 5 : many ? 1 : 2, type: retired.has(labels[i]) ? "dashed" : "solid", opacity: chosen.size && !chosen.has(labels[i]) ? 0.65 : 1, curveness: 0 },
        })),
      }],
    };
  }, [structure, labels, arms, chosen, retired]);
  if (option) {
    return <>
      <Chart option={option} height={structure.nodes.length > 12 ? "28rem" : undefined} label={`The structure with ${structure.nodes.length} nodes and ${labels.length} arms. The table of arms has the same as text.`} onPick={(event) => event.dataType === "edge" && onPick(event.data.arm)} />
      <p class="faint small">{KEY}; drag to move, scroll to zoom, click an edge to pick it.</p>
    </>;
  }
  // Of many arms the chosen ones come first, then the best.
  const rank = new Map(labels.map((label, i) => [label, chosen.has(label) ? 2 : goodness(known[i]) ?? -1]));
  const first = labels.length > MOST ? [...labels].sort((a, b) => rank.get(b) - rank.get(a)) : labels;
  const tags = (names) => names.map((label) => {
    const arm = arms.get(label);
    return (
      <button key={label} class="tag" title={said(label, arm) + (structure.costs ? `, cost ${number(structure.costs[labels.indexOf(label)])}` : "")} onClick={() => onPick(label)}
        style={{ borderColor: shade(goodness(arm)), borderWidth: chosen.has(label) ? "3px" : "2px", textDecoration: retired.has(label) ? "line-through" : "none" }}>
        {label} <span class="faint">{arm ? number(arm.recent_outcome, 3) : ""}</span>
      </button>
    );
  });
  return <>
    {structure.kind === "choice" && !structure.costs && <p class="faint small">{structure.k} of {labels.length} arms are chosen at a time.</p>}
    {structure.costs && <p class="faint small">The costs of the chosen arms stay within {number(structure.budget)}. Hover over an arm to see its cost.</p>}
    {structure.kind === "groups" && <p class="faint small">One arm of each group is chosen.</p>}
    {structure.kind === "list" && structure.groups.length > 0 && <p class="faint small">One of these sets is chosen at a time.</p>}
    <div class="scroll" tabIndex={0} role="group" aria-label="The arms">
      {structure.groups && structure.groups.length && structure.groups.length <= 60
        ? <ol class="groups">{structure.groups.map((group, i) => <li key={i}>{group.name && <b>{group.name}: </b>}{tags(group.arms)}</li>)}</ol>
        : tags(first.slice(0, MOST))}
    </div>
    {first.length > MOST && <p class="faint small">The shown decision and the best arms; the table has the other {first.length - MOST}.</p>}
    <p class="faint small">Border: red is the worst now, blue the best; thick: in the shown decision.</p>
  </>;
}
