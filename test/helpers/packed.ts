/** The packed package, installed in an empty folder the way npm would lay it out, for end-to-end tests. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { systemClock } from '../../runtime/platform/clock.ts';
import { waitForLock } from '../../runtime/store/sqlite/file-lock.ts';
import { runFolder } from './postgres/shared-cluster.ts';
import { ROOT } from './root.ts';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/**
 * Where a dependency of the package in `folder` is installed, or null if it is not (an optional one of another system).
 */
function findPackage(name: string, folder: string): string | null {
  for (const base of createRequire(join(folder, 'package.json')).resolve.paths(name) ?? []) {
    try {
      return realpathSync(join(base, name));
    } catch {
      // Not here: the next folder up.
    }
  }
  return null;
}

/** Two tests that pack concurrently would build into the same folder. @returns the packed file */
async function pack(dir: string): Promise<string> {
  const lock = await waitForLock(join(ROOT, 'build/pack.lock'), 600_000, systemClock);
  assert(lock !== null, 'another test packs for ten minutes');
  try {
    // All tests of a run use one packed file; a test that runs alone packs the current state.
    const run = runFolder();
    const to = run === null ? dir : join(run, 'packed');
    mkdirSync(to, { recursive: true });
    const packed = (): string | undefined => readdirSync(to).find((name) => name.endsWith('.tgz'));
    if (packed() === undefined) {
      // The same steps as `prepack`.
      execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT });
      execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', to], { cwd: ROOT });
    }
    return join(to, packed() ?? '');
  } finally {
    lock.release();
  }
}

/**
 * Packs the repository, unpacks it below `dir` and gives it exactly its own dependencies, so that it cannot find
 * undeclared ones. No registry is used: they come from this repository's node_modules.
 * @param peers optional ones that the user has installed beside it; copied with their dependencies, because their
 * location can matter
 * @returns the installed program
 */
export async function installPacked(dir: string, peers: readonly string[] = []): Promise<string> {
  const tarball = await pack(dir);
  const modules = join(dir, 'node_modules');
  const installed = join(modules, 'hookwright');
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['xzf', tarball, '--strip-components=1', '-C', installed]);
  // A linked dependency finds its own dependencies beside its real folder.
  for (const name of Object.keys(readManifest(installed).dependencies ?? {})) {
    const found = findPackage(name, ROOT);
    if (found === null) throw new Error(`${name} is not installed`);
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(found, join(modules, name));
  }
  for (const name of peers) copyPackage(name, ROOT, modules);
  return join(installed, 'dist/cli/main.js');
}

function copyPackage(name: string, from: string, modules: string): void {
  const found = findPackage(name, from);
  if (found === null) throw new Error(`${name} is not installed`);
  cpSync(found, join(modules, name), { recursive: true });
  for (const needed of Object.keys(readManifest(found).dependencies ?? {})) copyPackage(needed, found, modules);
}
