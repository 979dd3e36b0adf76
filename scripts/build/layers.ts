/**
 * Files that are always loaded together become one file. esbuild divides a program by which entries reach a file, and a
 * hundred commands divide the compiler into a hundred files, half a millisecond of start-up each. So a layer is reached as
 * a whole: an import of one of its files from outside imports all of it.
 */
import { join } from 'node:path';
import type { Metafile, Plugin } from 'esbuild';

type Inputs = Metafile['inputs'];

/** What `entries` and what they import statically are, with it. */
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
 * The start of every command; what the compiler shares with a running gateway; the rest of the compiler.
 * @param inputs of a build of the whole program @returns the files of each layer, none of which is in two
 */
export function findLayers(inputs: Inputs): readonly (readonly string[])[] {
  const start = closure(inputs, ['main/cli.ts']);
  const compiler = closure(inputs, ['cli/compile/compile-files.ts', 'modules/payloads/compiler/part.ts', 'modules/tutor/compiler/tutor.ts']);
  const runtime = closure(inputs, ['main/runtime.ts', 'cli/serve.ts']);
  const rest = [...compiler].filter((file) => !start.has(file));
  return [
    // An entry runs when it is imported.
    [...start].filter((file) => !file.startsWith('main/')),
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
