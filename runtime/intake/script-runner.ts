/**
 * Runs a route's filter or transform script over a payload, for the script stage (§2.6).
 *
 * After symbolic links are resolved, the script must be a regular file inside its profile's `scripts` folder, without other
 * hard links, which could expose a file from outside the folder. This is checked for each event, because the folder may
 * change while the server runs. The script runs in its own folder without a shell, with the payload as JSON on stdin and
 * an environment without secrets.
 */
import { dirname, sep } from 'node:path';
import { isJsonObject, writeJson } from '../../base/exact-number.ts';
import type { ScriptFile } from '../platform/files.ts';
import type { ProcessResult, RunProcess } from '../platform/process/run-process.ts';
import { lackOf } from '../platform/process/run-process.ts';
import { SANDBOX_UNAVAILABLE } from '../platform/process/sandbox.ts';
import type { LinkedScript } from '../table/linked-table.ts';
import { parseJson } from './parse-json.ts';

export interface ScriptRequest {
  readonly script: LinkedScript;
  readonly profile: string;
  readonly route: string;
  readonly event: string;
  readonly deliveryId: string;
  readonly payload: unknown;
}

export type ScriptOutcome =
  /** The payload is replaced. */
  | { readonly kind: 'payload'; readonly payload: unknown }
  /** The payload gains `script_output`. */
  | { readonly kind: 'text'; readonly text: string }
  /** The event is ignored. `failed`: because the script failed, not by its decision; `stderr`: the end of its error output. */
  | { readonly kind: 'ignored'; readonly reason: string; readonly failed: boolean; readonly stderr: string }
  /** The machine cannot start a program now, or has no sandbox for it; the sender should retry. */
  | { readonly kind: 'busy'; readonly reason: string };

/** Never rejects. */
export type RunScript = (request: ScriptRequest) => Promise<ScriptOutcome>;

export interface ScriptContext {
  readonly run: RunProcess;
  /** Absolute path without symbolic links; rejects as node:fs/promises does. */
  readonly realPath: (path: string) => Promise<string>;
  /** Rejects as node:fs/promises does. */
  readonly describe: (path: string) => Promise<ScriptFile>;
  /** The process environment; only the variables in `INHERITED` are passed on. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `<home_dir>`. */
  readonly home: string;
  /** Aborted when a drain times out. */
  readonly signal: AbortSignal;
}

const IGNORE_KEY = '__hookwright_ignore__';
const SILENT = '[SILENT]';
const MAX_STDOUT_BYTES = 1_048_576;
const INHERITED = ['PATH', 'HOME', 'LANG', 'TZ'] as const;

/** Creates the runner. It never rejects: each failure is an outcome. */
export function createScriptRunner(context: ScriptContext): RunScript {
  return async (request) => {
    const { path, problem } = await locate(request.script, context);
    if (path === null) return failed(problem);
    const result = await context.run({
      argv: [request.script.interpreter, path],
      cwd: dirname(path),
      env: environment(request, context),
      stdin: writeJson(request.payload),
      timeoutMs: request.script.timeoutMs,
      maxStdoutBytes: MAX_STDOUT_BYTES,
      signal: context.signal,
      readable: [path],
    });
    return scriptOutcome(result);
  };
}

type Located = { readonly path: string; readonly problem?: never } | { readonly path: null; readonly problem: string };

const NOT_THERE = { path: null, problem: 'script is missing or outside the scripts folder' } as const;
const LINKED = { path: null, problem: 'script is a hard link: the file has another name elsewhere' } as const;

/** Returns the script's real path, or why it is not allowed to run. */
async function locate(script: LinkedScript, { realPath, describe }: ScriptContext): Promise<Located> {
  try {
    const [path, folder] = await Promise.all([realPath(script.path), realPath(script.folder)]);
    if (!path.startsWith(folder + sep)) return NOT_THERE;
    const { isFile, links } = await describe(path);
    if (!isFile) return NOT_THERE;
    return links === 1 ? { path } : LINKED;
  } catch {
    return NOT_THERE;
  }
}

function environment(request: ScriptRequest, { env, home }: ScriptContext): Record<string, string | undefined> {
  return {
    ...Object.fromEntries(INHERITED.map((name) => [name, env[name]])),
    HOOKWRIGHT_HOME: home,
    HOOKWRIGHT_ROUTE: request.route,
    HOOKWRIGHT_EVENT: request.event,
    HOOKWRIGHT_DELIVERY_ID: request.deliveryId,
    HOOKWRIGHT_PROFILE: request.profile,
  };
}

/** Converts the result of the script's process to an outcome. */
export function scriptOutcome(result: ProcessResult): ScriptOutcome {
  const lack = lackOf(result);
  if (lack !== null) return { kind: 'busy', reason: `script: ${lack}` };
  switch (result.kind) {
    case 'spawn_failed':
    case 'input_failed':
      // The machine lacks the sandbox, so the event must not be lost until it is available.
      if (result.code.startsWith(SANDBOX_UNAVAILABLE)) return { kind: 'busy', reason: `script: ${result.code}` };
      return failed(`script could not be started: ${result.code}`);
    case 'timeout':
      return failed('script timed out', result.stderr);
    case 'overflow':
      return failed('script printed too much output', result.stderr);
    case 'aborted':
      return { kind: 'busy', reason: 'script was stopped with the server' };
    case 'exit':
      if (result.code === 0) return readOutput(result.stdout);
      return failed(
        result.code === null ? `script was terminated by ${result.signal}` : `script exited with ${result.code}`,
        result.stderr,
      );
  }
}

/** Reads the script's output (§2.6.4). JSON other than an object counts as text. */
function readOutput(stdout: Buffer): ScriptOutcome {
  const text = stdout.toString('utf8').trim();
  if (text === '' || text === SILENT) return ignored(`script printed ${text === '' ? 'nothing' : SILENT}`);
  const parsed = parseJson(Buffer.from(text));
  if (!parsed.ok || !isJsonObject(parsed.value)) return { kind: 'text', text };
  const payload = parsed.value;
  if (Object.hasOwn(payload, IGNORE_KEY) && payload[IGNORE_KEY] === true) return ignored(`script set ${IGNORE_KEY}`);
  return { kind: 'payload', payload };
}

function ignored(reason: string): ScriptOutcome {
  return { kind: 'ignored', reason, failed: false, stderr: '' };
}

function failed(reason: string, stderr = ''): ScriptOutcome {
  return { kind: 'ignored', reason, failed: true, stderr };
}
