/**
 * Compiles the whole repository into a copy of it for one run of the tests, the JavaScript beside the TypeScript. Each
 * process of the tests would otherwise translate what it imports.
 */
import { cpSync } from 'node:fs';
import { basename, join } from 'node:path';
import { bundleThreads } from './bundle.ts';
import { runTsc } from './run-tsc.ts';
import { writeCatalog } from './write-catalog.ts';

/** What is compiled, and what the tests and the program read at run time. */
const PARTS = [
  ...['base', 'bench', 'catalog', 'cli', 'compiler', 'docs', 'examples', 'main', 'modules', 'runtime', 'schemas', 'scripts', 'test'],
  'package.json',
];

const TRANSLATE = ['--noEmit', 'false', '--declaration', 'false', '--sourceMap'];
/** Reduces the time to a third. */
const WITHOUT_TYPES = ['--noCheck', '--noResolve', '--types', 'null'];

/** @param tree below the repository, so that its files find the dependencies @param types whether they are checked on the way */
export async function buildTree(root: string, tree: string, types: boolean): Promise<void> {
  const options = types ? TRANSLATE : [...TRANSLATE, ...WITHOUT_TYPES];
  const status = runTsc(root, ['-p', 'tsconfig.json', '--outDir', tree, ...options]);
  if (status !== 0) process.exit(status);
  // Packages of a script's own are not for tests.
  const filter = (path: string): boolean => basename(path) !== 'node_modules';
  for (const part of PARTS) cpSync(join(root, part), join(tree, part), { recursive: true, filter });
  await bundleThreads(tree);
  await writeCatalog(tree, join(root, 'catalog'), join(tree, 'catalog'));
}
