/** Runs a known program in a real sandbox with a hidden key, and searches all that it had, wrote and printed for the key. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openSandbox } from '../../../modules/sandbox/runtime/sandbox.ts';
import { systemClock } from '../../../runtime/platform/clock.ts';
import { silentLog } from '../../../runtime/platform/log.ts';
import type { ProcessRequest } from '../../../runtime/platform/process/run-process.ts';
import { runProcess } from '../../../runtime/platform/process/run-process.ts';
import type { Confine } from '../../../runtime/platform/process/sandbox.ts';
import type { AgentConfig } from '../../../schemas/generated/types.ts';
import { filesBelow, readIfThere } from '../../helpers/files-below.ts';
import { compileAgent, KEY, knownAgent } from '../../helpers/known-agent.ts';
import { ROOT } from '../../helpers/root.ts';
import { reveals } from '../../helpers/secret-spellings.ts';

/** Starts the program, and keeps what it could read of its environment and its temporary files. */
const PROBE = `#!/bin/sh
"$@"
code=$?
env > "$(dirname "$0")/kept/environment"
cat /proc/[0-9]*/environ > "$(dirname "$0")/kept/environments" 2> /dev/null
cp -r "$TMPDIR" "$(dirname "$0")/kept/temporary"
exit $code
`;

/** Passes connections on to a port of this machine. Prints its own port, and ends with the process that started it. */
const RELAY = `
const { connect, createServer } = require('node:net');
const server = createServer((from) => {
  const to = connect(Number(process.argv[1]), '127.0.0.1');
  for (const [one, other] of [[from, to], [to, from]]) one.pipe(other).on('error', () => one.destroy());
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.resume().on('end', () => process.exit());
`;

/** Uses a server of this process at a port of another one: a sandbox refuses the ports of the process that opens it. */
export async function relayed<T>(server: string, use: (server: string) => Promise<T>): Promise<T> {
  const url = new URL(server);
  const relay = spawn(process.execPath, ['-e', RELAY, url.port], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [port] = await once(relay.stdout, 'data');
    url.port = String(port).trim();
    return await use(url.origin);
  } finally {
    relay.stdin.end();
  }
}

/** The paths that a program of this package needs besides its own. */
export const packagesOf = (program: string): readonly string[] => [dirname(dirname(program)), ROOT];

/**
 * @param agent without a sandbox; its server has TLS
 * @param home an empty folder @param certificate of the server's authority
 */
export function walledAgent(agent: AgentConfig & { readonly command: [string] }, home: string, certificate: string) {
  const folder = mkdtempSync(join(home, 'probe-'));
  const kept = join(folder, 'kept');
  mkdirSync(kept);
  const probe = join(folder, 'probe.sh');
  writeFileSync(probe, PROBE, { mode: 0o700 });
  const base = { run: (request: ProcessRequest) => runProcess(request, { clock: systemClock, home }), home };
  const sandbox = openSandbox({
    ...base,
    userHome: home,
    hidden: () => [],
    kept: () => [],
    log: silentLog,
    sweep: false,
  });
  /** Where the key was found. */
  const found: string[] = [];
  const look = (place: string, bytes: Buffer | null): void => {
    if (bytes !== null && reveals(bytes, KEY)) found.push(place);
  };
  const confine: Confine = (plan, walls) => async (request) => {
    if (plan === null) throw new Error('the agent has no sandbox');
    const result = await sandbox.run(plan, walls ?? {}, request);
    look('stderr', Buffer.from(result.stderr));
    if ('stdout' in result && result.stdout !== undefined) look('stdout', result.stdout);
    for (const place of [kept, ...(request.writable ?? [])])
      for (const path of filesBelow(place)) look(path, readIfThere(join(place, path)));
    return result;
  };
  const read = [probe, ...packagesOf(agent.command[0])];
  const plan = compileAgent({
    ...agent,
    command: [probe, ...agent.command],
    sandbox: { read, write: [kept] },
  });
  const run = knownAgent(plan, { home, confine, env: { HOME: home, NODE_EXTRA_CA_CERTS: certificate } });
  return { run, found, environment: () => readFileSync(join(kept, 'environment'), 'utf8') };
}
