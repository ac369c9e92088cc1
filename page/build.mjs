// Builds the page into src/rising_bandits/serve/static. The same sources and lock file give the same bytes.
import { build } from "esbuild";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";

const out = new URL("../src/rising_bandits/serve/static/", import.meta.url).pathname;
await mkdir(out, { recursive: true });
await build({
  entryPoints: { page: "src/main.jsx" },
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2021",
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  define: { "process.env.NODE_ENV": '"production"' },
  outdir: out,
});
await build({ entryPoints: ["src/page.css"], minify: true, outdir: out });
for (const file of ["index.html", "icon.svg"]) await copyFile(`src/${file}`, out + file);
let licences = "The page contains these works.\n";
for (const name of ["echarts", "zrender", "preact"]) {
  const about = JSON.parse(await readFile(`node_modules/${name}/package.json`, "utf8"));
  licences += `\n${"=".repeat(72)}\n${name} ${about.version} (${about.license})\n\n`;
  licences += (await readFile(`node_modules/${name}/LICENSE`, "utf8")).trim() + "\n";
  if (name === "echarts") licences += "\n" + (await readFile(`node_modules/${name}/NOTICE`, "utf8")).trim() + "\n";
}
await writeFile(out + "LICENSES.txt", licences);
