/**
 * Joins the modules of the program into few files, split where a command is loaded only when it runs. Node.js takes half
 * a millisecond for each file it imports: four hundred of them were half of what a command took.
 */
import { copyFileSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { build } from 'esbuild';
import { findLayers, joinLayers } from './layers.ts';

/** Entries of threads, without their endings. Each is looked for beside the file that starts it. */
const THREADS = [
  'runtime/store/sqlite/store-thread',
  'modules/rescue/runtime/rescue-thread',
  'modules/workbench/runtime/capture/capture-thread',
] as const;

/** By output path, without its extension. */
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

/** Packages that are part of the program, by the module that is bundled: their files would be most of those that a command opens. */
export const BUILT_IN: Readonly<Record<string, string>> = {
  clipanion: 'lib/advanced/index.mjs',
  yaml: 'browser/dist/index.js',
};

/** Where a package has its license, if not in a file of its own. */
const LICENSES: Readonly<Record<string, string>> = { clipanion: 'README.md' };

/** What validates clipanion's options, and is loaded by those who use that. */
const LEFT_OUT = 'typanion';

const OPTIONS = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  charset: 'utf8',
  logLevel: 'warning',
} as const;

/** Two folders deep, as the modules are: their paths to the catalog and the schemas stay right. */
const PARTS = 'cli/parts/[name]-[hash]';

/** What is installed beside the program, and what is part of it. */
function packagesOf(root: string): Pick<BuildOptions, 'external' | 'alias'> {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as PackageJson;
  const alias = Object.entries(BUILT_IN).map(([name, path]) => [name, join(root, 'node_modules', name, path)]);
  return { external: [...Object.keys({ ...dependencies, ...peerDependencies }), LEFT_OUT], alias: Object.fromEntries(alias) };
}

interface PackageJson {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** @param root folder of the sources @param dist where the files go */
export async function bundle(root: string, dist: string): Promise<void> {
  const whole = {
    ...OPTIONS, ...packagesOf(root), absWorkingDir: root, entryPoints: ENTRIES,
    outdir: dist, chunkNames: PARTS, splitting: true,
  };
  const { metafile } = await build({ ...whole, write: false, metafile: true });
  await build({ ...whole, plugins: [joinLayers(root, findLayers(metafile.inputs))] });
  for (const name of Object.keys(BUILT_IN))
    copyFileSync(join(root, 'node_modules', name, LICENSES[name] ?? 'LICENSE'), join(dist, 'cli/parts', `${name}.LICENSE`));
}

/** Where a compiled tree has the thread that recompiles as one file; two folders deep, as `PARTS`. */
const RECOMPILE = 'main/parts/recompile-thread';

/** Writes the entry of each thread into a compiled tree as one file: tests start hundreds of them. */
export async function bundleThreads(root: string, tree: string): Promise<void> {
  const entries = [...THREADS.map((thread) => [thread, thread]), [RECOMPILE, 'main/recompile-thread']];
  const entryPoints = Object.fromEntries(entries.map(([to, from]) => [to, join(root, `${from}.ts`)]));
  await build({ ...OPTIONS, ...packagesOf(root), entryPoints, outdir: tree });
}
