/**
 * Joins the modules of the program into few files, split where a command is loaded only when it runs. Node.js takes half
 * a millisecond for each file it imports: four hundred of them were half of what a command took.
 */
import { join } from 'node:path';
import { build } from 'esbuild';

/** By output, without its ending. */
const ENTRIES: Readonly<Record<string, string>> = {
  'cli/main': 'cli/main.ts',
  'cli/run': 'cli/run.ts',
  'cli/context': 'cli/base/context.ts',
  'compiler/index': 'compiler/index.ts',
  'runtime/index': 'runtime/index.ts',
  'schemas/generated/types': 'schemas/generated/types.ts',
  // Threads are looked for beside the file that starts them.
  'cli/parts/recompile-thread': 'cli/serve/recompile-thread.ts',
  'cli/parts/store-thread': 'runtime/store/sqlite/store-thread.ts',
  'cli/parts/capture-thread': 'runtime/capture/sqlite/capture-thread.ts',
};

/** Two folders deep, as the modules are: their paths to the catalog and the schemas stay right. */
const PARTS = 'cli/parts/[name]-[hash]';

/** @param root folder of the sources @param dist where the files go */
export async function bundle(root: string, dist: string): Promise<void> {
  await build({
    entryPoints: Object.fromEntries(Object.entries(ENTRIES).map(([to, from]) => [to, join(root, from)])),
    outdir: dist,
    chunkNames: PARTS,
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    charset: 'utf8',
    logLevel: 'warning',
  });
}
