/**
 * Copies the repository's Markdown and pictures to `pages/`, where VitePress reads them. A README becomes the index of its folder.
 * YAML files of docs/ are copied unchanged, for download.
 */
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGES = fileURLToPath(new URL('pages/', import.meta.url));
const SHOWN = /\.(md|svg)$/;
const LOADED = /\.ya?ml$/;

const filesIn = (folder) =>
  readdirSync(ROOT + folder, { recursive: true })
    .map((path) => `${folder}/${path}`)
    .filter((path) => SHOWN.test(path));

const examples = readdirSync(`${ROOT}examples`).map((name) => `examples/${name}/README.md`);
const top = readdirSync(ROOT).filter((name) => SHOWN.test(name));

rmSync(PAGES, { recursive: true, force: true });
for (const path of [...top, 'bench/README.md', ...filesIn('docs'), ...examples]) {
  cpSync(ROOT + path, PAGES + path.replace(/README\.md$/, 'index.md'));
}
for (const path of readdirSync(`${ROOT}docs`).filter((name) => LOADED.test(name)))
  cpSync(`${ROOT}docs/${path}`, `${PAGES}public/docs/${path}`);
