// The structure of a problem: a graph whose edges are coloured by how good they are, or arms as coloured tags.
import { useMemo } from "preact/hooks";
import { Chart, escape, ink } from "./chart.jsx";
import { Name } from "./names.jsx";
import { LETTER, short, sides } from "./sides.js";
import { number, plain, several, withUnit } from "./words.js";

// The colour of an arm: grey if nothing is known, else on the ramp from the worst to the best.
function shade(goodness, ramp) {
  if (goodness === null) return "#8b95a0";
  const at = Math.min(0.9999, Math.max(0, goodness)) * (ramp.length - 1);
  const low = Math.floor(at), part = at - low;
  const mix = [1, 3, 5].map((i) => Math.round(parseInt(ramp[low].slice(i, i + 2), 16) * (1 - part) + parseInt(ramp[low + 1].slice(i, i + 2), 16) * part));
  return `rgb(${mix.join(",")})`;
}
// How many arms are drawn as tags.
const MOST = 200;

// What the colours mean, in the user's unit.
function Colours({ known, unit, past, children }) {
  const seen = known.filter((arm) => arm && arm.recent_average !== null).sort((a, b) => a.recent_average - b.recent_average);
  return <p class="faint small">{seen.length > 0 && <span class="ramp">worst {past ? "then" : "now"}: {withUnit(seen[0].recent_outcome, unit)} <i style={{ background: `linear-gradient(to right, ${ink().ramp.join(", ")})` }} /> best {past ? "then" : "now"}: {withUnit(seen.at(-1).recent_outcome, unit)}. </span>}Grey: not known{past ? "" : " yet"}. {children}</p>;
}

export function Structure({ structure, labels, arms, chosen, retired, unit, past, onPick }) {
  const known = labels.map((label) => arms.get(label));
  const averages = known.filter((arm) => arm && arm.recent_average !== null).map((arm) => arm.recent_average);
  const low = Math.min(...averages), high = Math.max(...averages);
  const goodness = (arm) => (!arm || arm.recent_average === null ? null : high > low ? (arm.recent_average - low) / (high - low) : 0.75);
  const said = (label, arm) => `${plain(label)}: ${arm && arm.plays ? several(arm.plays, "play") : "no plays"}, recently ${arm ? withUnit(arm.recent_outcome, unit) : "–"}`;
  const option = useMemo(() => {
    if (!structure.nodes) return null;
    const look = ink();
    const many = structure.nodes.length > 60;
    const names = structure.nodes.map((node) => plain(node.name));
    // In a matching the names stand outside, so they need room at both sides.
    const matching = structure.kind === "matching", workers = structure.workers || 0;
    const room = (some) => 18 + LETTER * Math.max(...some.map((name) => short(name).length));
    // About how large the drawing is on this screen.
    const across = Math.min(window.innerWidth - 60, 640);
    const wide = matching ? across - room(names.slice(0, workers)) - room(names.slice(workers)) : 0.76 * across;
    const tall = matching ? Math.max(structure.nodes.length * 14, 300) : Math.max(wide / 1.64, 280);
    const points = structure.nodes.map((node) => [node.x * wide, node.y * tall]);
    const side = many || matching ? [] : sides(points, structure.edges, names, wide);
    return {
      tooltip: { formatter: (event) => (event.dataType === "edge" ? escape(event.data.said) : escape(event.name)) },
      series: [{
        type: "graph", layout: "none", roam: true, preserveAspect: "contain", scaleLimit: { min: 0.5, max: 12 }, left: matching ? room(names.slice(0, workers)) : "12%", right: matching ? room(names.slice(workers)) : "12%", top: 32, bottom: 32,
        symbolSize: many ? 5 : 13, edgeSymbol: ["none", structure.directed ? "arrow" : "none"], edgeSymbolSize: many ? 4 : 7,
        // The background keeps an edge from crossing the letters.
        label: { show: !many, color: look.ink, backgroundColor: look.card, padding: [1, 3], borderRadius: 3, fontSize: 11, lineHeight: 14, formatter: (event) => short(event.name) },
        labelLayout: { hideOverlap: true },
        itemStyle: { color: look.card, borderColor: look.ink, borderWidth: 1.4 },
        data: structure.nodes.map((_, i) => ({ id: String(i), name: names[i], x: points[i][0], y: points[i][1], itemStyle: (structure.sources || []).includes(i) || (structure.targets || []).includes(i) ? { color: look.main } : undefined,
          label: { position: matching ? (i < workers ? "left" : "right") : side[i] } })),
        links: structure.edges.map(([from, to], i) => ({
          source: String(from), target: String(to), label: { show: false }, said: said(labels[i], known[i]), arm: labels[i],
          lineStyle: { color: shade(goodness(known[i]), look.ramp), width: chosen.has(labels[i]) ? 5 : many ? 1 : 2, type: retired.has(labels[i]) ? "dashed" : "solid", opacity: chosen.size && !chosen.has(labels[i]) ? 0.65 : 1, curveness: 0 },
        })),
      }],
    };
  }, [structure, labels, arms, chosen, retired]);
  if (option) {
    return <>
      <Chart option={option} kind={structure.nodes.length > 12 ? "tall" : ""} label={`The structure with ${structure.nodes.length} nodes and ${labels.length} arms. The table of arms has the same as text.`} onPick={(event) => event.dataType === "edge" && onPick(event.data.arm)} />
      <Colours known={known} unit={unit} past={past}>Thick: in the shown decision; dashed: retired. Drag to move, Ctrl and scroll to zoom, click an edge to pick it.</Colours>
    </>;
  }
  // Of many arms the chosen ones come first, then the best.
  const rank = new Map(labels.map((label, i) => [label, chosen.has(label) ? 2 : goodness(known[i]) ?? -1]));
  const first = labels.length > MOST ? [...labels].sort((a, b) => rank.get(b) - rank.get(a)) : labels;
  const ramp = ink().ramp;
  const tags = (names) => names.map((label) => {
    const arm = arms.get(label);
    return (
      <button key={label} class="tag" title={said(label, arm)} onClick={() => onPick(label)}
        style={{ borderColor: shade(goodness(arm), ramp), borderWidth: chosen.has(label) ? "3px" : "2px", textDecoration: retired.has(label) ? "line-through" : "none" }}>
        <Name text={label} most={48} /> <span class="faint">{arm ? number(arm.recent_outcome, 3) : ""}{structure.costs ? ` · cost ${number(structure.costs[labels.indexOf(label)])}` : ""}</span>
      </button>
    );
  });
  return <>
    {structure.kind === "choice" && !structure.costs && <p class="faint small">{structure.k} of {labels.length} arms are chosen at a time.</p>}
    {structure.costs && <p class="faint small">The costs of the chosen arms stay within {number(structure.budget)}.</p>}
    {structure.kind === "groups" && <p class="faint small">One arm of each group is chosen.</p>}
    {structure.kind === "list" && structure.groups.length > 0 && <p class="faint small">One of these sets is chosen at a time.</p>}
    <div class="scroll" tabIndex={0} role="group" aria-label="The arms">
      {structure.groups && structure.groups.length && structure.groups.length <= 60
        ? <ol class="groups">{structure.groups.map((group, i) => <li key={i}>{group.name && <b><Name text={group.name} />: </b>}{tags(group.arms)}</li>)}</ol>
        : tags(first.slice(0, MOST))}
    </div>
    {first.length > MOST && <p class="faint small">The shown decision and the best arms; the table has the other {first.length - MOST}.</p>}
    <Colours known={known} unit={unit} past={past}>Thick: in the shown decision; struck through: retired.</Colours>
  </>;
}
