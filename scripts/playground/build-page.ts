/** Builds the playground: one self-contained page with the compiler, `explain` and the shipped catalog. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { build } from 'esbuild';
import { RULE_DATA } from '../../compiler/diagnostics/built/rules.ts';
import { nodeFiles } from '../../compiler/node/node-files.ts';
import { readYamlCatalog } from '../../compiler/source/load-catalog.ts';
import { SCHEMAS } from '../../schemas/built/schemas.ts';
import { validatorModule } from '../gen/schemas.ts';
import { joinPage } from './join-page.ts';
import * as standIns from './page/browser/node.ts';

const PAGE = 'scripts/playground/page';

/** Schemas that the page validates. It has no blueprints and runs no tests. */
const CHECKED = ['config', 'profile', 'source', 'subscriptions', 'target'];

/** Returns the validated schemas and those that they reference, because messages name valid keys and values. Tables and stored rows are not included. */
function checkedSchemas(): Readonly<Record<string, unknown>> {
  const all: Readonly<Record<string, unknown>> = SCHEMAS;
  const names = new Set(CHECKED);
  for (const name of names) {
    const refs = JSON.stringify(all[name]).matchAll(/"\$ref":"([a-z-]+)\.schema\.json/g);
    for (const [, other = ''] of refs) names.add(other);
  }
  return Object.fromEntries([...names].map((name) => [name, all[name]]));
}

/** Returns the rules without `why`, which is in `hookwright rule` and the docs. */
const shortRules = (): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(RULE_DATA).map(([id, rule]) => [id, { ...rule, why: '' }]));

/** Replacements of files in this repository that access the machine, or that the page does not need. */
const INSTEAD: readonly (readonly [path: RegExp, code: string])[] = [
  [/\/compiler\/node\/node-files\.ts$/, `export { shippedFiles as nodeFiles } from './${PAGE}/browser/files.ts';`],
  // The page has no commands.
  [/\/cli\/built\/command-files\.ts$/, 'export const COMMAND_FILES = [];'],
  // The page explains why a delivery would be rejected. It sends and watches nothing, and does not search for near misses.
  [/\/deliver\/redact\.ts$/, 'export const createRedact = () => (text) => text;'],
  [/\/deliver\/http\/send-piece\.ts$/, 'export const createPieceSender = () => null;'],
  [/\/causes\/near-misses\.ts$/, 'export const findNearMiss = () => null;'],
  [/\/mail\/runtime\/smtp-session\.ts$/, 'export const sendMail = null, smtpOutcome = null;'],
  [/\/rescue\/runtime\/rescue\.ts$/, 'export const sqliteRescue = null;'],
  [/\/guard\/runtime\/open-guard\.ts$/, 'export const openGuard = null;'],
  [/\/schemas\/built\/schemas\.ts$/, `export const SCHEMAS = ${JSON.stringify(checkedSchemas())};`],
  [
    /\/schemas\/built\/validators\.ts$/,
    `${validatorModule(CHECKED)}export const blueprint = () => true, test = blueprint;`,
  ],
  // The page stores no rows.
  [/\/schemas\/built\/rows\/Dispatch\.ts$/, 'export const isDispatch = null;'],
  [/\/diagnostics\/built\/rules\.ts$/, `export const RULE_DATA = ${JSON.stringify(shortRules())};`],
];

/** Replacements of functions in files that the page otherwise needs. */
const STUBS: readonly (readonly [path: RegExp, name: string, code: string])[] = [
  [/\/base\/files\.ts$/, 'assetFolder', "(name: string) => '/' + name"],
  [/\/codehosts\/runtime\/posts-driver\.ts$/, 'linkFindPosted', '() => null'],
  [/\/codehosts\/runtime\/github-comment\.ts$/, 'ghOutcome', '() => null'],
  [/\/deliver\/prepare-text\.ts$/, 'quietMentions', 'async (text: string) => text'],
];

/** Packages for parsing and sending that the page does not need. */
const ABSENT_PACKAGES = /^(?:undici|commonmark|@photostructure\/sqlite)$/;

/** Returns the file with a replaced function. @throws Error if the function is missing */
function withStub(path: string, name: string, code: string): string {
  const text = readFileSync(path, 'utf8');
  const declared = new RegExp(`^(?:export )?((?:async )?function) ${name}\\b`, 'm');
  if (!declared.test(text)) throw new Error(`${path} has no function ${name}`);
  return `${text.replace(declared, '$1 replaced')}\nexport const ${name} = ${code};\n`;
}

/** Returns the replacements for a Node.js module, with `absent` for every other name. */
async function replacementModule(module: string): Promise<string> {
  const names = Object.keys((await import(module)) as object).filter(
    (name) => name !== 'default' && !(name in standIns),
  );
  const file = `./${PAGE}/browser/node.ts`;
  return `export * from '${file}'; import { absent } from '${file}'; export { ${names.map((name) => `absent as ${name}`).join(', ')} };`;
}

const inBrowser = (root: string): Plugin => ({
  name: 'in-browser',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: 'node' }));
    onLoad({ filter: /.*/, namespace: 'node' }, async ({ path }) => ({
      contents: await replacementModule(path),
      resolveDir: root,
    }));
    // Parts of modules that only commands load, and the composer of mail.
    onResolve({ filter: /\/cli\/|^nodemailer\// }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: 'absent', namespace: 'absent' } : null,
    );
    onLoad({ filter: /.*/, namespace: 'absent' }, () => ({ contents: '' }));
    onResolve({ filter: ABSENT_PACKAGES }, () => ({ path: 'absent', namespace: 'absent-package' }));
    onLoad({ filter: /.*/, namespace: 'absent-package' }, () => ({ contents: 'module.exports = {};' }));
    for (const [filter, name, code] of STUBS)
      onLoad({ filter }, ({ path }) => ({ contents: withStub(path, name, code), loader: 'ts' }));
    for (const [filter, contents] of INSTEAD) onLoad({ filter }, () => ({ contents, loader: 'ts', resolveDir: root }));
  },
});

/** Large and rarely used shapes. The page says that it does not check paths into these payloads. */
const LEFT_OUT = ['adyen-platform', 'mux', 'shopify', 'square', 'stripe'];

/** Returns the files of the catalog that the page needs, by path: no blueprints, no notes of sources. They are parsed, because JSON in a string is longer. */
function shipped(root: string): Readonly<Record<string, unknown>> {
  const catalog = join(root, 'catalog');
  const texts = ['shapes', 'writers'].flatMap((folder) =>
    readdirSync(join(catalog, folder))
      .filter((name) => !LEFT_OUT.includes(name.replace('.json', '')))
      .map((name) => {
        const path = join(folder, name);
        return [path, JSON.parse(readFileSync(join(catalog, path), 'utf8')) as unknown] as const;
      }),
  );
  const { sources, ...rest } = readYamlCatalog(nodeFiles, catalog);
  const short = Object.entries(sources).map(([name, { notes: _, ...source }]) => [name, source]);
  return {
    ...Object.fromEntries(texts),
    'catalog.json': { ...rest, sources: Object.fromEntries(short), blueprints: {} },
  };
}

/** @param root folder of the sources, after `npm run gen` @returns the page */
export async function buildPlayground(root: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join(PAGE, 'page.ts')],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'esnext',
    charset: 'utf8',
    logLevel: 'warning',
    legalComments: 'none',
    mainFields: ['browser', 'module', 'main'],
    define: { SHIPPED: 'globalThis.SHIPPED', 'process.platform': '"linux"', 'process.env.NODE_ENV': '"production"' },
    banner: { js: `globalThis.SHIPPED=${JSON.stringify(shipped(root))};` },
    inject: [join(root, PAGE, 'browser/globals.ts')],
    plugins: [inBrowser(root)],
  });
  // The page has the style of the console.
  const style = readFileSync(join(root, 'modules/console/pages/page.css'), 'utf8');
  return joinPage(join(root, PAGE), outputFiles[0]?.text ?? '', '', style);
}
