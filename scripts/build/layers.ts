/**
 * Joins files that are always loaded together into one file. esbuild splits a program by the entries that reach a file, so a
 * hundred commands split the compiler into a hundred files, each with half a millisecond of start-up time. A layer is therefore
 * loaded as a whole: an import of one of its files from outside imports all of them.
 */
import { join } from 'node:path';
import type { Metafile, Plugin } from 'esbuild';

type Inputs = Metafile['inputs'];

/** Returns `entries` and all their static imports. */
function closure(inputs: Inputs, entries: readonly string[]): ReadonlySet<string> {
  const found = new Set(entries);
  for (const file of found) {
    for (const { path, kind } of inputs[file]?.imports ?? []) {
      const isOurs = inputs[path] !== undefined && !path.startsWith('node_modules/');
      if (kind === 'import-statement' && isOurs) found.add(path);
    }
  }
  return found;
}

/**
 * The layers: what commands share with threads, the rest of the start of every command, files that the compiler shares with a
 * running gateway, and the rest of the compiler. A thread must not load the compiler: it would take 10 MB of memory.
 * @param inputs of a build of the whole program @param threads entries of threads
 * @returns the files of each layer, none of which is in two
 */
export function findLayers(inputs: Inputs, threads: readonly string[]): readonly (readonly string[])[] {
  const start = closure(inputs, ['main/cli.ts']);
  const compiler = closure(inputs, ['cli/compile/compile-files.ts', 'modules/payloads/compiler/part.ts', 'modules/tutor/compiler/tutor.ts']);
  const runtime = closure(inputs, ['main/runtime.ts', 'cli/serve.ts']);
  const shared = closure(inputs, threads);
  const rest = [...compiler].filter((file) => !start.has(file) && !shared.has(file));
  return [
    [...start, ...compiler].filter((file, at, all) => shared.has(file) && all.indexOf(file) === at),
    // An entry runs when imported, so it is not part of a layer.
    [...start].filter((file) => !file.startsWith('main/') && !shared.has(file)),
    rest.filter((file) => runtime.has(file)),
    rest.filter((file) => !runtime.has(file)),
  ];
}

/** @param root folder of the sources @param layers from `findLayers` */
export function joinLayers(root: string, layers: readonly (readonly string[])[]): Plugin {
  const layerOf = new Map(layers.flatMap((files, layer) => files.map((file) => [join(root, file), layer] as const)));
  return {
    name: 'layers',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\./ }, ({ path, importer, namespace, resolveDir, kind }) => {
        const layer = layerOf.get(join(resolveDir, path));
        if (kind !== 'import-statement' || namespace === 'layer' || layer === undefined) return null;
        return layer === layerOf.get(importer) ? null : { path: String(layer), namespace: 'layer' };
      });
      onLoad({ filter: /.*/, namespace: 'layer' }, ({ path }) => {
        const files = layers[Number(path)] ?? [];
        const contents = files.map((file) => `export * from ${JSON.stringify(`./${file}`)};`).join('\n');
        return { contents, resolveDir: root };
      });
    },
  };
}
