/** Builds the console: one self-contained document, which sends requests only to the gateway that served it. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { joinPage } from '../playground/join-page.ts';

const PAGES = 'modules/console/pages';
const ALLOWED = "; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'";

/** @param root folder of the sources, after `npm run gen` @returns the document */
export async function buildConsole(root: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join(PAGES, 'app.tsx')],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    charset: 'utf8',
    logLevel: 'warning',
    legalComments: 'none',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    treeShaking: true,
  });
  const chart = readFileSync(join(root, 'node_modules/uplot/dist/uPlot.min.css'), 'utf8');
  return joinPage(join(root, PAGES), outputFiles[0]?.text ?? '', ALLOWED, chart);
}

/** Writes the document where the gateway reads it. @param to folder of the program */
export async function writeConsole(root: string, to: string): Promise<void> {
  mkdirSync(join(to, 'console'), { recursive: true });
  writeFileSync(join(to, 'console/index.html'), await buildConsole(root));
}
