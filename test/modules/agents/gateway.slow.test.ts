import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startGateway, until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

/** Claude Code in a few lines: a transcript for each id, in its private folder and by its working folder. */
const PROGRAM = `
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
const args = process.argv.slice(2);
const after = (flag) => args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined;
const folder = join(process.env.CLAUDE_CONFIG_DIR, 'projects', encodeURIComponent(process.cwd()));
mkdirSync(folder, { recursive: true });
const path = join(folder, (after('--session-id') ?? after('--resume') ?? 'none'));
if ((after('--resume') !== undefined) !== existsSync(path)) { console.error('No conversation found'); process.exit(1); }
const said = [...(existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : []), readFileSync(0, 'utf8').trim()];
writeFileSync(path, JSON.stringify(said));
const isRefused = said.at(-1) === 'refuse';
const modelUsage = { a: { inputTokens: 10, outputTokens: 1 }, b: { inputTokens: 5, outputTokens: 1 } };
const result = { type: 'result', subtype: 'success', is_error: false, result: said.join('+'), modelUsage, total_cost_usd: 0.5 };
console.log(JSON.stringify({ ...result, stop_reason: isRefused ? 'refusal' : 'end_turn' }));
`;

test('a gateway runs a known program, continues its conversations, and resets one', async (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'claude.mjs'), PROGRAM);
  const { cli } = await startGateway(t, {
    home,
    env: { HOOK: 'a-secret-of-twenty-characters', MODEL: 'a-key-of-the-model-server', PATH: process.env.PATH },
    config: `
agent: { use: claude-code, key: env:MODEL, command: [${process.execPath}, ${join(home, 'claude.mjs')}] }
platforms:
  webhook:
    enabled: true
    secret: env:HOOK
    routes:
      ask: { prompt: "{text}", session_key: "{topic}", deliver: log }
`,
  });
  interface Shown {
    readonly state: string;
    readonly result?: { readonly text?: string; readonly reason?: string };
  }
  const ask = async (text: string) => {
    const payload = JSON.stringify({ text, topic: 'tea' });
    const sent = await cli('webhook', 'test', 'ask', '--payload', payload);
    const [, id = ''] = /"delivery_id":"([^"]+)"/.exec(sent.stdout) ?? [];
    return until(async () => {
      const { stdout } = await cli('deliveries', 'show', id, '--json');
      const shown = JSON.parse(stdout) as Shown;
      return /^(?:done|delivered|failed|dead|skipped)$/.test(shown.state) ? JSON.stringify(shown) : null;
    });
  };
  assert.match(await ask('one'), /"one"/);
  assert.match(await ask('two'), /"one\+two"/);
  assert.match(await ask('refuse'), /refusal/);
  const { stdout } = await cli('usage', '--json');
  assert.match(stdout, /"input_tokens": 45/);
  await cli('session', 'reset', 'webhook:ask:tea');
  assert.match(await ask('three'), /"three"/);
  assert.ok(!readFileSync(join(home, 'config.yaml'), 'utf8').includes('a-key-of'));
});
