/**
 * `npm run first-hour`: follows README's section "Install" literally, with an empty home and folder. Prints the time to the first
 * event and to a custom route, and the number of typed commands. Exits 1 beyond the limits; times are judged only on an idle
 * machine.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeBlocks } from '../test/helpers/markdown.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LIMITS = { firstEventSeconds: 120, ownRouteSeconds: 600, commands: 8 };
/** A slow typist who does not copy text: 3 characters per second. */
const SECONDS_PER_CHARACTER = 1 / 3;

const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
const [, section = ''] = /^## Install\n([\s\S]*?)^## /m.exec(readme) ?? [];
const blocks = codeBlocks(section);

const dir = mkdtempSync(join(tmpdir(), 'hookwright-first-hour-'));
const work = join(dir, 'work');
mkdirSync(work);
const env: NodeJS.ProcessEnv = {
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('HOOKWRIGHT_'))),
  HOME: dir,
  HOOKWRIGHT_HOME: join(dir, '.hookwright'),
  PATH: `${join(dir, 'global/bin')}:${process.env.PATH}`,
  npm_config_prefix: join(dir, 'global'),
  npm_config_userconfig: process.env.npm_config_userconfig ?? join(process.env.HOME ?? '', '.npmrc'),
  // Another gateway may use the default port.
  WEBHOOK_PORT: String(await freePort()),
};

let machineMs = 0;
let characters = 0;
let commands = 0;
const answered: { machine: number; typed: number }[] = [];
try {
  for (const { text, note, language } of blocks) {
    if (note === 'first-hour: below routes:') {
      const config = join(work, 'hookwright.yaml');
      writeFileSync(config, addBelow(readFileSync(config, 'utf8'), '    routes:\n', text));
      characters += text.length;
    } else if (language === 'sh') {
      for (const line of text.trim().split('\n')) runLine(line, note?.includes('in the clone') === true);
    }
  }
  // The custom route does not change the lines that `init` wrote.
  commands -= 2;
  for (const line of ['hookwright lint --strict', 'hookwright test']) runLine(line, false);
} finally {
  spawnSync('hookwright', ['gateway', 'stop'], { cwd: work, env });
  rmSync(dir, { recursive: true, force: true });
  for (const file of readdirSync(ROOT)) if (/^hookwright-.*\.tgz$/.test(file)) rmSync(join(ROOT, file));
}

const seconds = (at: { machine: number; typed: number } | undefined): number =>
  at === undefined ? Number.POSITIVE_INFINITY : at.machine + at.typed;
const show = (name: string, at: { machine: number; typed: number } | undefined, limit: number): void =>
  console.log(
    `${name}: ${Math.round(seconds(at))} s (machine ${at?.machine.toFixed(1)} s, typing ${at?.typed.toFixed(0)} s), limit ${limit} s`,
  );
const [first, own] = answered;
show('first event answered', first, LIMITS.firstEventSeconds);
show('custom route answered', own, LIMITS.ownRouteSeconds);
console.log(`commands typed: ${commands}, limit ${LIMITS.commands}`);
const isQuick = seconds(first) <= LIMITS.firstEventSeconds && seconds(own) <= LIMITS.ownRouteSeconds;
const [load = 0] = loadavg();
const isBusy = load > 1.5 * availableParallelism();
if (!isQuick && isBusy) console.log(`the machine is busy (load ${load.toFixed(1)}): times are not judged`);
process.exit((isQuick || (isBusy && own !== undefined)) && commands <= LIMITS.commands ? 0 : 1);

function runLine(line: string, isInClone: boolean): void {
  commands++;
  characters += line.length;
  const started = performance.now();
  const { status, stdout, stderr } = spawnSync('bash', ['-c', line], {
    cwd: isInClone ? ROOT : work,
    env,
    encoding: 'utf8',
  });
  machineMs += performance.now() - started;
  console.log(`$ ${line}\n${stdout.trimEnd().split('\n').slice(0, 12).join('\n')}`);
  assert.equal(status, 0, stderr);
  if (/^202 \{"status":"accepted"/m.test(stdout)) {
    answered.push({ machine: machineMs / 1000, typed: characters * SECONDS_PER_CHARACTER });
  }
}

function addBelow(config: string, line: string, text: string): string {
  assert.ok(config.includes(line), `there is no line ${JSON.stringify(line)}`);
  return config.replace(line, () => `${line}${text.trimEnd()}\n`);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}
