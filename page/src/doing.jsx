// Changes of a study, each with what it would do to the next decision before it is done.
import { useEffect, useState } from "preact/hooks";
import { get, place, post } from "./api.js";

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

export function Doing({ name, data, picked, onPick, retired, rights, onDone }) {
  const [what, setWhat] = useState("retire");
  const [known, setKnown] = useState([]);
  const [policy, setPolicy] = useState("");
  const [given, setGiven] = useState({});
  const [horizon, setHorizon] = useState("");
  const [seen, setSeen] = useState(null);
  const [said, setSaid] = useState("");
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (what === "policy" && !known.length) get("/v1/policies").then((found) => { setKnown(found.policies); setPolicy(found.policies.some((each) => each.name === "horizon-crucb") ? "horizon-crucb" : found.policies[0].name); }, (error) => setSaid(error.message));
  }, [what]);
  const about = known.find((each) => each.name === policy);
  const onArm = ["retire", "restore", "reset", "mask"].includes(what);
  const ready = onArm ? Boolean(picked) : what === "policy" ? Boolean(about) : horizon === "" || Number(horizon) >= 1;
  const parameters = Object.fromEntries(Object.entries(given).filter(([, text]) => text.trim() !== "").map(([each, text]) => [each, meant(text.trim())]));
  const change = onArm ? { [what]: [picked] } : what === "policy" ? { policy: { name: policy, parameters } } : { horizon: horizon === "" ? null : Number(horizon) };
  const mark = JSON.stringify(change);
  useEffect(() => { setSeen(null); setSaid(""); }, [mark]);
  const act = async (work) => {
    setBusy(true);
    try { await work(); } catch (error) { setSaid(error.message); } finally { setBusy(false); }
  };
  const look = () => act(async () => { setSeen({ mark, ...(await post(place(name, "/preview"), change)) }); setSaid(""); });
  const apply = () => act(async () => {
    if (onArm) await post(place(name, `/${what}`), { arms: [picked] });
    else await post(place(name, "/settings"), change);
    setSaid(`Done: ${what}${onArm ? ` ${picked}` : ""}.`);
    setSeen(null);
    onDone();
  });
  if (!rights.includes("change")) return <p class="faint">Your token may look, but not change.</p>;
  return <>
    <div class="row">
      <label>Do <select aria-label="Do" value={what} onChange={(event) => setWhat(event.target.value)}>
        <option value="retire">retire an arm</option><option value="restore">restore an arm</option><option value="reset">reset an arm</option>
        <option value="mask">mask an arm once</option><option value="policy">change the policy</option><option value="horizon">change the horizon</option>
      </select></label>
      {onArm && <label>Arm <select aria-label="Arm" value={picked} onChange={(event) => onPick(event.target.value)}>
        <option value="">choose …</option>{data.labels.slice(0, 2000).map((label) => <option key={label} value={label}>{label}{retired.has(label) ? " (retired)" : ""}</option>)}
      </select></label>}
      {what === "policy" && <label>Policy <select aria-label="Policy" value={policy} onChange={(event) => { setPolicy(event.target.value); setGiven({}); }}>{known.map((each) => <option key={each.name} value={each.name}>{each.name}</option>)}</select></label>}
      {what === "horizon" && <label>Rounds <input type="number" min="1" placeholder="not known" value={horizon} onInput={(event) => setHorizon(event.target.value)} /></label>}
      <button class="main" disabled={!ready || busy} onClick={look}>Preview</button>
    </div>
    {what === "policy" && about && <Parameters about={about} given={given} onGive={setGiven} />}
    <div aria-live="polite">
      {said && <p class={said.startsWith("Done") ? "good" : "bad"}>{said}</p>}
      {seen && seen.refused && <p class="bad">This cannot be done: {seen.refused}</p>}
      {seen && seen.after && <>
        <p>{seen.same ? "The next decision stays the same: " : "The next decision would change: "}
          {seen.before.super_arm.map((label) => <span key={`b${label}`} class={`tag ${seen.after.super_arm.includes(label) ? "" : "out"}`}>{label}</span>)}
          {!seen.same && " → "}{!seen.same && seen.after.super_arm.map((label) => <span key={`a${label}`} class={`tag ${seen.before.super_arm.includes(label) ? "" : "in"}`}>{label}</span>)}
        </p>
        {what === "mask"
          ? <p class="faint small">A mask holds for one decision: send <code>"unavailable"</code> with the ask.</p>
          : <button class="danger" disabled={busy} onClick={apply}>{what === "policy" ? `Change the policy to ${policy}` : what === "horizon" ? "Change the horizon" : `${what[0].toUpperCase()}${what.slice(1)} ${picked}`}</button>}
      </>}
    </div>
  </>;
}

