/** Runs a shipped example the way its README says, with fake programs on the PATH and real payloads. */
import { createHmac } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { TestGateway } from './gateway.ts';
import { startGateway } from './gateway.ts';
import { sendAgain } from './send-again.ts';
import { tempDir } from './temp-dir.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));
export const SECRET = 'a-secret-for-the-examples-only';

export interface RunningExample extends TestGateway {
  /** Posts an event as its code host does. */
  readonly post: (route: string, event: string, payload: unknown) => Promise<{ status: number; body: Sent }>;
}

type Sent = Readonly<Record<string, unknown>>;

export interface ExampleOptions {
  /** Programs on the PATH, as shell scripts by name; `$DIR` is the test's folder. */
  readonly programs?: Readonly<Record<string, string>>;
  readonly env?: NodeJS.ProcessEnv;
  /** Changes the configuration if a test needs that, such as the address of a service. */
  readonly edit?: (config: string) => string;
}

/** Files that a gateway writes beside them may appear and disappear. @param name of one file; else all */
export const copyExamples = (to: string, name = ''): void =>
  cpSync(join(EXAMPLES, name), to, { recursive: true, filter: (path) => basename(path) !== 'build' });

/** A folder with a copy of the example and its programs; nothing is written into the repository. */
export function prepareExample(t: TestContext, name: string, { programs = {}, edit }: ExampleOptions = {}) {
  const dir = tempDir(t);
  copyExamples(join(dir, name), name);
  const config = join(dir, name, 'hookwright.yaml');
  const text = readFileSync(config, 'utf8');
  if (edit !== undefined) writeFileSync(config, edit(text));
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  for (const [program, script] of Object.entries(programs)) {
    writeFileSync(join(bin, program), `#!/bin/sh\nDIR='${dir}'\n${script}\n`);
    chmodSync(join(bin, program), 0o755);
  }
  return { dir, config, text, path: `${bin}:${process.env.PATH}` };
}

export async function startExample(t: TestContext, name: string, options: ExampleOptions = {}) {
  const { dir, config, path } = prepareExample(t, name, options);
  const env = { PATH: path, WEBHOOK_SECRET: SECRET, GITHUB_WEBHOOK_SECRET: SECRET, ...options.env };
  const argv = ['gateway', 'run', '--port', '0', '--config', config];
  const home = join(dir, 'home');
  mkdirSync(home);
  const gateway = await startGateway(t, { home, cwd: dir, env, argv, config: '' });
  const post: RunningExample['post'] = async (route, event, payload) => {
    const body = JSON.stringify(payload);
    const headers = {
      'content-type': 'application/json',
      'x-github-event': event,
      'x-github-delivery': crypto.randomUUID(),
      'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    };
    const response = await sendAgain(`${gateway.url}/webhooks/${route}`, { method: 'POST', headers, body });
    return { status: response.status, body: (await response.json()) as Sent };
  };
  return { ...gateway, dir, post };
}

interface Recorded {
  readonly name: string;
  readonly examples: readonly Readonly<Record<string, unknown>>[];
}

/** Recorded events of a code host: the first matching one of this kind. */
export function recorded(event: string, fits: (payload: Readonly<Record<string, unknown>>) => boolean = () => true) {
  const events: unknown = createRequire(import.meta.url)('@octokit/webhooks-examples');
  const payload = (events as readonly Recorded[]).find(({ name }) => name === event)?.examples.find(fits);
  if (payload === undefined) throw new Error(`no recorded ${event} fits`);
  return payload;
}
