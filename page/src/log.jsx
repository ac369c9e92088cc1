// The newest decisions and changes.
import { OWN } from "./chart.jsx";
import { Name, Names } from "./names.jsx";
import { cut, when, withUnit } from "./words.js";

const newestFirst = (a, b) => b.at - a.at || (b.seq || 1e15) - (a.seq || 1e15) || b.id - a.id;

export function Newest({ data, onShow }) {
  const rows = [...data.changes.map((each) => ({ ...each, change: true })), ...data.newest].sort(newestFirst).slice(0, 80);
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Newest decisions and changes">
      <ol class="log">{rows.map((each) => (each.change ? <Change key={`c${each.seq}`} each={each} /> : <Decision key={`d${each.id}`} each={each} data={data} onShow={onShow} />))}</ol>
    </div>
  );
}

const Change = ({ each }) => <li><b>{each.kind}</b> <Name text={each.what} /> <span class="faint small">{each.author && <>by <Name text={each.author} /> · </>}{when(each.at)}</span></li>;

const Decision = ({ each, data, onShow }) => (
  <li>
    <button aria-label={`Show decision ${each.id}`} onClick={() => onShow(each.id)}>{each.id}</button> <Names names={each.arms} />
    {" "}<span class="faint small">{each.told ? `${data.earns} ${withUnit(each.earned, data.study.unit)}` : data.study.expires !== null && each.at + data.study.expires < Date.now() / 1000 ? "expired" : "open"} · {when(each.at)}{each.source !== OWN && <> · <Name text={each.source} /></>}{each.metadata && <> · <Name text={cut(JSON.stringify(each.metadata), 120)} /></>}</span>
  </li>
);
