/**
 * The short run, each sync and write of which is made to fail once: a gateway, its agent, and the requests of its
 * senders.
 */
import { cpSync, lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSender, startGatewayProcess } from '../helpers/gateway-process.ts';

const SECRET = 'a-secret-for-the-fault-tests';

const configOf = (durability: string): string => `platforms:
  webhook:
    enabled: true
    port: 0
    secret: ${SECRET}
    rate_limit: 100000
    routes:
      runs: { prompt: "<{id}>" }
      bursts: { prompt: "<{id}>", coalesce: { key: entity, window_seconds: 0.3 } }
agent:
  command: [sh, -c, 'cat >> "$HOME/prompts"; echo ok']
gateway: { durability: ${durability} }
`;

export interface FaultEvent {
  readonly id: string;
  readonly route: 'runs' | 'bursts';
}

const run = (id: string): FaultEvent => ({ id, route: 'runs' });
const burst = (id: string): FaultEvent => ({ id, route: 'bursts' });

/** Batches run one after the other; the events of one batch are sent at once. */
export const WAVES: readonly (readonly FaultEvent[])[] = [
  [run('alone')],
  [run('three-1'), run('three-2'), run('three-3')],
  [burst('burst-1'), burst('burst-2')],
  ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'].map((name) => run(`many-${name}`)),
];

export const EVENTS: readonly FaultEvent[] = WAVES.flat();

const post = createSender(SECRET);

/** The status, 0 if there was no response; and its code. */
export async function send(
  url: string,
  { id, route }: FaultEvent,
): Promise<{ readonly status: number; readonly code: string; readonly retryAfter: string | null }> {
  try {
    return await post(url, route, id, { id, entity: 'x' });
  } catch (error) {
    return { status: 0, retryAfter: null, code: String(error instanceof Error ? (error.cause ?? error) : error) };
  }
}

export function writeConfig(home: string, durability: 'full' | 'normal' = 'full'): void {
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'config.yaml'), configOf(durability), { mode: 0o600 });
}

/** A home whose gateway has run once, so that only the ordinary steps of a start remain. */
export async function prepareHome(home: string, program?: readonly string[]): Promise<void> {
  writeConfig(home);
  const gateway = await startGatewayProcess({ home, ...(program === undefined ? {} : { program }) });
  const ended = new Promise((resolve) => gateway.child.once('exit', resolve));
  gateway.child.kill('SIGTERM');
  await ended;
}

/** Without the control socket that a killed gateway leaves behind, because it cannot be copied. */
export function copyHome(from: string, to: string): void {
  cpSync(from, to, { recursive: true, filter: (path) => !lstatSync(path).isSocket() });
}

/** An agent that a killed gateway had started may still write. */
export const removeHome = (home: string): void =>
  rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
