/**
 * Bundles the modules of the program into few files, split where a command is loaded on demand. Node.js needs half a
 * millisecond to import a file: four hundred files were half of the run time of a command.
 */
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { build } from 'esbuild';
import { findLayers, joinLayers } from './layers.ts';

/** Entries of threads, and files that they load by URL, without extensions. Each must be next to the file that names it. */
const THREADS = [
  'runtime/store/sqlite/store-thread',
  'modules/rescue/runtime/rescue-thread',
  'modules/workbench/runtime/capture/capture-thread',
  'modules/guard/runtime/run-limits',
  'modules/outputs/runtime/store-part',
] as const;

/** A program that agents start in their sandboxes, which hide the other files: one file with all of its packages. */
const SERVER = 'modules/outputs/runtime/outputs-server';

/** Entries by output path, without extension. */
const ENTRIES: Readonly<Record<string, string>> = {
  'cli/main': 'main/cli.ts',
  'cli/recompile-thread': 'main/recompile-thread.ts',
  'cli/modules': 'main/modules.ts',
  'cli/run': 'cli/run.ts',
  'cli/context': 'cli/base/context.ts',
  'main/hookwright': 'main/hookwright.ts',
  'main/modules-entry': 'main/modules-entry.ts',
  'compiler/index': 'main/compiler.ts',
  'runtime/index': 'main/runtime.ts',
  'schemas/generated/types': 'schemas/generated/types.ts',
  ...Object.fromEntries(THREADS.map((thread) => [`cli/parts/${basename(thread)}`, `${thread}.ts`])),
};

/** Packages that are bundled, with the bundled module. Otherwise, most files that a command opens would be theirs. */
export const BUILT_IN: Readonly<Record<string, string>> = {
  clipanion: 'lib/advanced/index.mjs',
  yaml: 'browser/dist/index.js',
};

/** Packages of which a part is bundled. */
export const BUNDLED: readonly string[] = [...Object.keys(BUILT_IN), '@modelcontextprotocol/sdk'];

/** The file with a package's license, if it has no license file. */
const LICENSES: Readonly<Record<string, string>> = { clipanion: 'README.md' };

/** Validates clipanion's options; loaded only by users of that feature. */
const LEFT_OUT = 'typanion';

const OPTIONS = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  charset: 'utf8',
  logLevel: 'warning',
} as const;

/** Two folders deep, like the modules, so that their paths to the catalog and the schemas stay valid. */
const PARTS = 'cli/parts/[name]-[hash]';

/** Returns the packages that are installed with the program, and those that are bundled. */
function packagesOf(root: string): Pick<BuildOptions, 'external' | 'alias'> {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as PackageJson;
  const alias = Object.entries(BUILT_IN).map(([name, path]) => [name, join(root, 'node_modules', name, path)]);
  return { external: [...Object.keys({ ...dependencies, ...peerDependencies }), LEFT_OUT], alias: Object.fromEntries(alias) };
}

interface PackageJson {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** @param root folder of the sources @param dist folder for the bundles */
export async function bundle(root: string, dist: string): Promise<void> {
  const whole = {
    ...OPTIONS, ...packagesOf(root), absWorkingDir: root, entryPoints: ENTRIES,
    outdir: dist, chunkNames: PARTS, splitting: true,
  };
  const { metafile } = await build({ ...whole, write: false, metafile: true });
  await build({ ...whole, plugins: [joinLayers(root, findLayers(metafile.inputs, THREADS.map((thread) => `${thread}.ts`)))] });
  const entryPoints = { [`cli/parts/${basename(SERVER)}`]: `${SERVER}.ts` };
  const server = { ...OPTIONS, absWorkingDir: root, entryPoints, outdir: dist, minify: true, metafile: true } as const;
  const { inputs } = (await build(server)).metafile;
  for (const name of new Set([...Object.keys(BUILT_IN), ...packagesIn(Object.keys(inputs))]))
    copyFileSync(licenseOf(join(root, 'node_modules', name), name), join(dist, 'cli/parts', `${name.replace('/', '-')}.LICENSE`));
}

const packagesIn = (paths: readonly string[]): readonly string[] =>
  paths.flatMap((path) => /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);

function licenseOf(folder: string, name: string): string {
  const file = LICENSES[name] ?? readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  if (file === undefined) throw new Error(`${name} has no license file`);
  return join(folder, file);
}

/** Path of the bundled recompile thread in a compiled tree; two folders deep, like `PARTS`. */
const RECOMPILE = 'main/parts/recompile-thread';

/** Writes the entry of each thread into a compiled tree as one file, because tests start hundreds of threads. */
export async function bundleThreads(root: string, tree: string): Promise<void> {
  const entries = [...[...THREADS, SERVER].map((entry) => [entry, entry]), [RECOMPILE, 'main/recompile-thread']];
  const entryPoints = Object.fromEntries(entries.map(([to, from]) => [to, join(root, `${from}.ts`)]));
  await build({ ...OPTIONS, ...packagesOf(root), entryPoints, outdir: tree });
}
