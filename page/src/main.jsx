// The page: which part is shown, who is looking, light or dark.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { get, post, remove } from "./api.js";
import { List } from "./list.jsx";
import { Results } from "./results.jsx";
import { StudyPage } from "./study.jsx";

function Login({ onDone }) {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState("");
  const send = (event) => {
    event.preventDefault();
    post("/v1/session", { token }).then(onDone, (error) => setProblem(error.message));
  };
  return (
    <main id="main"><form class="card login" onSubmit={send}>
      <h1>rising-bandits</h1>
      <p class="faint small" id="about-token">This service needs a token: the value of RISING_TOKEN, or one made with <code>rising serve token create</code>.</p>
      <p><label for="token">Token</label></p>
      <p class="row"><input id="token" type="password" aria-describedby="about-token" autocomplete="current-password" value={token} onInput={(event) => setToken(event.target.value)} /><button class="main">Enter</button></p>
      {problem && <p class="bad" role="alert">{problem}</p>}
    </form></main>
  );
}

const LOOKS = ["system", "light", "dark"];
function Look() {
  const [look, setLook] = useState(() => { try { return localStorage.getItem("look") || "system"; } catch { return "system"; } });
  useEffect(() => {
    if (look === "system") delete document.documentElement.dataset.look; else document.documentElement.dataset.look = look;
    try { localStorage.setItem("look", look); } catch { /* without storage the choice lasts as long as the page */ }
    window.dispatchEvent(new Event("look"));
  }, [look]);
  return <label class="small">Look <select aria-label="Look" value={look} onChange={(event) => setLook(event.target.value)}>{LOOKS.map((each) => <option key={each}>{each}</option>)}</select></label>;
}

// Moves the focus to the content, so that the keyboard and screen readers go on there.
const toContent = () => { const main = document.getElementById("main"); if (main) { main.tabIndex = -1; main.focus({ preventScroll: true }); } };
const here = () => { const text = location.hash.replace(/^#\/?/, ""); try { return decodeURIComponent(text); } catch { return text; } };

function App() {
  const [who, setWho] = useState(null);
  const [path, setPath] = useState(here());
  const [look, setLook] = useState(0);
  const ask = () => get("/v1/me").then(setWho, (error) => setWho({ missing: true, status: error.status, problem: error.message }));
  useEffect(() => {
    ask();
    const move = () => { setPath(here()); window.scrollTo(0, 0); setTimeout(toContent); };
    const dress = () => setLook((old) => old + 1);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    window.addEventListener("hashchange", move);
    window.addEventListener("look", dress);
    window.addEventListener("ended", ask);
    dark.addEventListener("change", dress);
    return () => { window.removeEventListener("hashchange", move); window.removeEventListener("look", dress); window.removeEventListener("ended", ask); dark.removeEventListener("change", dress); };
  }, []);
  if (!who) return <p class="wait">Loading …</p>;
  if (who.missing && who.status === 401) return <Login onDone={ask} />;
  if (who.missing) return <main id="main"><p class="bad" role="alert">{who.problem}</p></main>;
  const study = path.startsWith("study/") ? path.slice(6) : null;
  return <>
    <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); toContent(); }}>Skip to the content</a>
    <header class="top">
      <a href="#/" aria-label="All studies"><img src="/static/icon.svg" alt="" /></a><b>rising-bandits</b>
      <nav aria-label="Main">
        {!who.results && <a href="#/">Studies</a>}{!who.results && <a href="/docs">HTTP</a>}<Look />
        {who.tokens && <button onClick={() => remove("/v1/session").then(ask, ask)}>Leave ({who.name})</button>}
      </nav>
    </header>
    {who.results ? <Results key={look} /> : study ? <StudyPage key={`${study} ${look}`} name={study} rights={who.rights} /> : <List key={look} />}
  </>;
}

render(<App />, (() => { const root = document.getElementById("root"); root.textContent = ""; return root; })());
