// Names of arms, studies and rules: isolated, so that a name from right to left does not turn what stands beside it.
import { cut, plain } from "./words.js";

// With `most`, a longer name is cut, and whole under the mouse.
export const Name = ({ text, most }) => { const whole = plain(text), shown = most ? cut(text, most) : whole; return <bdi title={shown === whole ? undefined : whole}>{shown}</bdi>; };
// How many letters a name has at most where several stand beside each other.
const LONG = 48;

// Some names as tags; `kind` gives the class of each.
export const Tags = ({ names, kind = () => "" }) => names.map((name) => <span key={name} class={`tag ${kind(name)}`}><Name text={name} most={LONG} /></span>);

// Names separated by commas, cut after some.
export const Names = ({ names, most = 12 }) => <>{names.slice(0, most).map((name, i) => <span key={i}>{i ? ", " : ""}<Name text={name} most={LONG} /></span>)}{names.length > most ? ` and ${names.length - most} more` : ""}</>;

// What the colours of a chart mean. With `onPick` the names are buttons.
export const Key = ({ entries, picked, onPick }) => (
  <ul class="key">{entries.map(([name, colour, shown]) => <li key={name}>{onPick
    ? <button aria-pressed={name === picked} onClick={() => onPick(name === picked ? "" : name)}><i style={{ background: colour }} /><Name text={shown ?? name} most={LONG} /></button>
    : <span><i style={{ background: colour }} /><Name text={shown ?? name} most={LONG} /></span>}</li>)}</ul>
);
