/**
 * One server for all test files of a run: the first test that needs it starts it, and the process that started the run
 * ends it. A file that runs alone (`npx tsx --test FILE`) has its own.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster, removeCluster } from './cluster.ts';

/** A folder of the run, set by `runEnvironment`, that its processes share. */
const RUN_FOLDER = 'HOOKWRIGHT_TEST_RUN';
/** Files in that folder: one while a process starts a server, and one once it runs. */
const LOCK = 'postgres-lock';
const NOTE = 'postgres.json';
/** In that folder: the id of the process that ends the run. */
const RUN_PID = 'run-pid';
const WAIT_MS = 300_000;

type Note = { readonly url: string; readonly folder: string } | { readonly error: string };

/** The folder that the processes of a run share; null in a test that runs alone. */
export const runFolder = (): string | null => process.env[RUN_FOLDER] ?? null;

let own: Promise<string> | null = null;

/** The URL of the server's database `postgres`: that of HOOKWRIGHT_TEST_POSTGRES, the run's, or this process's. */
export async function sharedServer(): Promise<string> {
  const given = process.env.HOOKWRIGHT_TEST_POSTGRES;
  if (given !== undefined) return given;
  const folder = runFolder();
  own ??= folder === null ? startOwn() : startForRun(folder);
  return own;
}

async function startOwn(): Promise<string> {
  const cluster = await Cluster.create();
  process.once('exit', () => cluster.remove());
  return cluster.url();
}

async function startForRun(folder: string): Promise<string> {
  const path = join(folder, NOTE);
  if (isFirst(join(folder, LOCK))) {
    const note: Note = await Cluster.create({ owner: Number(readFileSync(join(folder, RUN_PID), 'utf8')) }).then(
      (cluster) => ({ url: cluster.url(), folder: cluster.folder }),
      (error: unknown) => ({ error: String(error) }),
    );
    writeFileSync(`${path}.new`, JSON.stringify(note));
    renameSync(`${path}.new`, path);
  }
  for (let waited = 0; waited < WAIT_MS; waited += 20) {
    const note = readNote(path);
    if (note !== null && 'url' in note) return note.url;
    if (note !== null) throw new Error(note.error);
    await sleep(20);
  }
  throw new Error(`no PostgreSQL server after ${WAIT_MS} ms`);
}

function isFirst(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}

function readNote(path: string): Note | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Note;
  } catch {
    return null;
  }
}

/** The environment of a run's processes. @param folder see `RUN_FOLDER`; this process calls `endSharedServer` */
export function runEnvironment(folder: string): NodeJS.ProcessEnv {
  writeFileSync(join(folder, RUN_PID), `${process.pid}`);
  return { ...process.env, [RUN_FOLDER]: folder };
}

/** Ends the server of a run, if one was started. */
export function endSharedServer(folder: string): void {
  const note = readNote(join(folder, NOTE));
  if (note !== null && 'folder' in note) removeCluster(note.folder);
}
