/** Runs the session that README shows, with a home and a folder of its own, and returns what the terminal shows. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInShell, userEnvironment } from '../../test/helpers/run-document.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const QUICKSTART = join(ROOT, 'examples/quickstart');
const PROGRAM = [process.execPath, '--import', import.meta.resolve('tsx'), join(ROOT, 'main/cli.ts')];

/** An agent that repeats its prompt, so that there is no warning at the start. */
const AGENT = 'agent: { command: [cat], confined: It repeats its prompt. }\n';

const TYPED = [
  'hookwright lint',
  'hookwright lint --fix',
  'hookwright gateway start',
  'hookwright webhook test pull-requests --payload @pull_request.json',
  'hookwright requests list',
];

/** Text that differs between runs, and its replacement. */
const MASKS: readonly (readonly [RegExp, string])[] = [
  [/127\.0\.0\.1:\d+/g, '127.0.0.1:8644'],
  [/pid \d+/g, 'pid 4242'],
  [/test-\d{13}-[0-9a-f]{8}/g, 'test-1764000000000-5f1c2a90'],
  [/^i[0-9a-z]{9}(?= {2})/gm, 'i3owav6wao'],
  [/(?<= {2})\d+ (ms|s)(?= {2})/g, '1 s'],
];

/** Takes some seconds: every command is a process. */
export async function recordSession(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'hookwright-session-'));
  mkdirSync(join(dir, 'home'), { mode: 0o700 });
  cpSync(join(QUICKSTART, 'pull_request.json'), join(dir, 'pull_request.json'));
  const config = readFileSync(join(QUICKSTART, 'hookwright.yaml'), 'utf8');
  writeFileSync(join(dir, 'hookwright.yaml'), config.replace('events: [', 'event: [') + AGENT);
  writeFileSync(join(dir, '.env'), 'WEBHOOK_SECRET=a-secret-for-the-session-in-readme\n', { mode: 0o600 });
  const { NO_COLOR: _, ...plain } = userEnvironment(dir, PROGRAM);
  const env = { ...plain, FORCE_COLOR: '1', WEBHOOK_PORT: '0' };
  try {
    let shown = '';
    for (const line of TYPED) shown += `$ ${line}\n${await runInShell(line, dir, env)}`;
    return MASKS.reduce(
      (text, [found, fixed]) => text.replace(found, fixed),
      shown.replaceAll(`${dir}/home`, '~/.hookwright'),
    );
  } finally {
    await runInShell('hookwright gateway stop', dir, env);
    rmSync(dir, { recursive: true, force: true });
  }
}
