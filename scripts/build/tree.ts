/**
 * Compiles the repository into a copy for the tests, with the JavaScript next to the TypeScript. Otherwise each test process
 * would compile its imports. In an existing copy, only files with another modification time are replaced.
 */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeConsole } from '../console/build-page.ts';
import { bundleThreads } from './bundle.ts';
import { runTsc } from './run-tsc.ts';
import { writeCatalog } from './write-catalog.ts';

/** Folders and files that are compiled, or that the tests and the program read at run time. */
const PARTS = [
  'base', 'bench', 'catalog', 'cli', 'compiler', 'docs', 'examples', 'main', 'modules', 'runtime', 'schemas', 'scripts', 'test',
  'package.json', 'tsconfig.json',
];

/** Not copied: installed packages of scripts, and compiled tables of examples. */
const LEFT_OUT: ReadonlySet<string> = new Set(['node_modules', 'build', '.hookwright']);

/** File in a tree with the modification times of its sources. */
const TIMES = 'times.json';
type Times = Readonly<Record<string, number>>;

function timesOf(root: string): Times {
  const times: Record<string, number> = {};
  const add = (path: string): void => {
    const stat = statSync(join(root, path));
    if (stat.isFile()) times[path] = stat.mtimeMs;
    // Anything else is the socket of a gateway that serves an example.
    else if (stat.isDirectory()) for (const name of readdirSync(join(root, path))) if (!LEFT_OUT.has(name)) add(`${path}/${name}`);
  };
  for (const part of PARTS) add(part);
  return times;
}

function knownTimes(tree: string): Times {
  try {
    return JSON.parse(readFileSync(join(tree, TIMES), 'utf8')) as Times;
  } catch {
    return {};
  }
}

/** @param tree below the repository, so that its files find the dependencies @param types whether types are checked */
export async function buildTree(root: string, tree: string, types: boolean): Promise<void> {
  const [now, known] = [timesOf(root), knownTimes(tree)];
  const changed = Object.keys(now).filter((path) => now[path] !== known[path]);
  const gone = Object.keys(known).filter((path) => now[path] === undefined);
  if (changed.length + gone.length === 0) return;
  for (const path of gone) removeFile(tree, path);
  for (const path of changed) cpSync(join(root, path), join(tree, path));
  await translate(root, tree, changed, types);
  await bundleThreads(root, tree);
  await writeCatalog(tree, join(root, 'catalog'), join(tree, 'catalog'));
  await writeConsole(root, tree);
  writeFileSync(join(tree, TIMES), JSON.stringify(now));
}

function removeFile(tree: string, path: string): void {
  const compiled = path.replace(/\.ts$/, '.js');
  for (const each of [path, compiled, `${compiled}.map`]) rmSync(join(tree, each), { force: true });
}

/** Ends the process if a file does not compile. */
async function translate(root: string, tree: string, changed: readonly string[], types: boolean): Promise<void> {
  const { exclude } = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')) as { exclude: readonly string[] };
  const files = changed.filter((path) => path.endsWith('.ts') && !exclude.some((out) => `${path}/`.startsWith(`${out}/`)));
  if (files.length === 0) return;
  /** Without type checks, compilation needs a third of the time. */
  const quick = types ? {} : { noCheck: true, noResolve: true, types: [] };
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: { noEmit: false, declaration: false, sourceMap: true, rootDir: root, outDir: tree, ...quick },
    include: [],
    files: files.map((path) => join(root, path)),
  };
  const path = join(tree, 'tsconfig.tests.json');
  mkdirSync(tree, { recursive: true });
  writeFileSync(path, JSON.stringify(config));
  const status = await runTsc(root, ['-p', path]);
  if (status !== 0) process.exit(status);
}
