// Changes of a study, each with what it would do to the next decision before it is done.
import { useEffect, useRef, useState } from "preact/hooks";
import { get, place, post } from "./api.js";
import { Explain } from "./explain.jsx";
import { Name, Tags } from "./names.jsx";
import { capital, number, plain } from "./words.js";

// How many arms the menu has; others are picked in the table.
const MOST = 2000;
const DEEDS = [["retire", "retire an arm"], ["restore", "restore an arm"], ["reset", "reset an arm"], ["mask", "mask an arm once"], ["policy", "change the policy"], ["horizon", "change the horizon"], ["share", "hand over a share"]];
const ABOUT = {
  retire: "A retired arm is not used until it is restored. What is known of it is kept.",
  restore: "A restored arm is used again, with what was known of it.",
  reset: "A reset arm begins anew, as if never played: the thing behind it was replaced.",
  mask: "A masked arm is left out of one decision.",
  policy: "The new policy learns from the whole log, and decides from now on.",
  horizon: "The round up to which the study plans. Leave it empty if it is not known.",
  share: "A share of the asks, drawn at random, is decided by another rule, such as the super arm that is used today. The study learns from all, and says who earns more. A share of 0 ends it.",
};
const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));
// What was typed: a number, true, false, null or a list as JSON, anything else as text.
const meant = (text) => { try { return JSON.parse(text); } catch { return text; } };

function Parameters({ about, given, onGive }) {
  const names = Object.keys(about.parameters);
  return <>
    <p class="faint small">{about.description}</p>
    {names.length > 0 && <div class="fields">{names.map((name) => (
      <label key={name}>{name}
        <input value={given[name] ?? ""} placeholder={shown(about.parameters[name])} aria-describedby={`about-${name}`} onInput={(event) => onGive({ ...given, [name]: event.target.value })} />
        <span class="faint small" id={`about-${name}`}>{about.help[name] || ""}</span>
      </label>
    ))}</div>}
  </>;
}

export function Doing({ name, data, picked, onPick, retired, rights, decision, chosen, onDone }) {
  const [what, setWhat] = useState("retire");
  const [known, setKnown] = useState([]);
  const [policy, setPolicy] = useState("");
  const [given, setGiven] = useState({});
  const [horizon, setHorizon] = useState("");
  const [share, setShare] = useState({ name: "today", percent: "10", rule: "chosen" });
  const [seen, setSeen] = useState(null);
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);
  const answer = useRef(null);
  const byPolicy = what === "policy" || (what === "share" && share.rule === "policy");
  // The form of the present policy begins with its present parameters.
  const choose = (next) => { setPolicy(next); setGiven(next === data.policy.name ? Object.fromEntries(Object.entries(data.policy.parameters).map(([each, value]) => [each, shown(value)])) : {}); };
  useEffect(() => {
    if (byPolicy && !known.length) get("/v1/policies").then((found) => { setKnown(found.policies); choose(found.policies.some((each) => each.name === data.policy.name) ? data.policy.name : found.policies[0].name); }, (error) => setSaid(error.message));
  }, [byPolicy]);
  const about = known.find((each) => each.name === policy);
  const onArm = ["retire", "restore", "reset", "mask"].includes(what);
  const percent = Number(share.percent), shared = share.name !== "" && share.percent !== "" && percent >= 0 && percent <= 100 && (share.rule !== "chosen" || chosen.length > 0);
  const ready = onArm ? Boolean(picked) : what === "horizon" ? horizon === "" || Number(horizon) >= 1 : (!byPolicy || Boolean(about)) && (what !== "share" || shared);
  const parameters = Object.fromEntries(Object.entries(given).filter(([, text]) => text.trim() !== "").map(([each, text]) => [each, meant(text.trim())]));
  const typed = { name: policy, parameters };
  const rule = { chosen: { super_arm: chosen }, policy: { policy: typed }, kept: {} }[share.rule];
  const change = onArm ? { [what]: [picked] } : what === "policy" ? { policy: typed } : what === "share" ? { share: { name: share.name, share: percent / 100, ...rule } } : { horizon: horizon === "" ? null : Number(horizon) };
  const mark = JSON.stringify(change);
  useEffect(() => { setSeen(null); setSaid(""); }, [mark]);
  const act = async (work) => {
    // A button that is disabled meanwhile would lose the focus of the keyboard.
    if (busy) return;
    setBusy(true);
    try { await work(); } catch (error) { setSaid(error.message); } finally { setBusy(false); }
  };
  const look = () => act(async () => { setSeen({ mark, ...(await post(place(name, "/preview"), change)) }); setSaid(""); });
  const apply = () => act(async () => {
    if (onArm) await post(place(name, `/${what}`), { arms: [picked] });
    else await post(place(name, "/settings"), change);
    setSaid(`Done: ${what}${onArm ? ` ${plain(picked)}` : ""}.`);
    setSeen(null);
    answer.current.focus();
    onDone();
  });
  const first = data.labels.slice(0, MOST);
  const offered = picked && !first.includes(picked) ? [picked, ...first] : first;
  if (!rights.includes("change")) return <p class="faint">Your token may look, but not change.</p>;
  return <>
    <div class="row">
      <label>Do <select aria-label="Do" value={what} onChange={(event) => setWhat(event.target.value)}>
        {DEEDS.map(([deed, title]) => <option key={deed} value={deed}>{title}</option>)}
      </select></label>
      {onArm && <label>Arm <select aria-label="Arm" value={picked} onChange={(event) => onPick(event.target.value)}>
        <option value="">choose …</option>{offered.map((label) => <option key={label} value={label}>{plain(label)}{retired.has(label) ? " (retired)" : ""}</option>)}
      </select></label>}
      {what === "share" && <>
        <label>Name <input value={share.name} size="9" maxLength="100" onInput={(event) => setShare({ ...share, name: event.target.value })} /></label>
        <label>Percent <input type="number" min="0" max="100" step="any" value={share.percent} onInput={(event) => setShare({ ...share, percent: event.target.value })} /></label>
        <label>Rule <select aria-label="Rule" value={share.rule} onChange={(event) => setShare({ ...share, rule: event.target.value })}>
          <option value="chosen">always what decision {decision} chose</option><option value="policy">a policy</option><option value="kept">as stored</option>
        </select></label>
      </>}
      {byPolicy && <label>Policy <select aria-label="Policy" value={policy} onChange={(event) => choose(event.target.value)}>{known.map((each) => <option key={each.name} value={each.name}>{each.name}</option>)}</select></label>}
      {what === "horizon" && <label>Rounds <input type="number" min="1" placeholder="not known" value={horizon} onInput={(event) => setHorizon(event.target.value)} /></label>}
      <button class="main" disabled={!ready} aria-busy={busy} onClick={look}>Preview</button>
    </div>
    <p class="faint small">{ABOUT[what]}</p>
    {what === "share" && share.rule === "chosen" && chosen.length > 0 && <p>The rule: <Tags names={chosen} /></p>}
    {byPolicy && about && <Parameters about={about} given={given} onGive={setGiven} />}
    <div aria-live="polite" tabIndex={-1} ref={answer}>
      {said && <p class={said.startsWith("Done") ? "good" : "bad"}>{said}</p>}
      {seen && seen.refused && <p class="bad">This cannot be done: {seen.refused}</p>}
      {seen && seen.after && <>
        <p>{seen.same ? "The next decision stays the same: " : "The next decision would change: "}
          <Tags names={seen.before.super_arm} kind={(label) => (seen.after.super_arm.includes(label) ? "" : "out")} />
          {!seen.same && " → "}{!seen.same && <Tags names={seen.after.super_arm} kind={(label) => (seen.before.super_arm.includes(label) ? "" : "in")} />}
        </p>
        <details><summary>Why it would be that</summary><Explain explanation={seen.after.explanation} onSuperArms={seen.after.on_super_arms} unit={data.study.unit} domain={data.domain} lower={data.study.lower_is_better} /></details>
        {what === "mask"
          ? <p class="faint small">A mask holds for one decision: send <code>"unavailable"</code> with the ask.</p>
          : <button class="danger" aria-busy={busy} onClick={apply}>{what === "policy" ? `Change the policy to ${policy}` : what === "horizon" ? "Change the horizon" : what === "share" ? <>Hand {number(percent)}% of the asks to <Name text={share.name} /></> : <>{capital(what)} <Name text={picked} /></>}</button>}
      </>}
    </div>
  </>;
}
