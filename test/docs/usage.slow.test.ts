/** The agents of "Usage" in docs/agents.md: doubles that print what the programs print; the answer and the counts are found in it. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import type { Usage } from '../../runtime/store/usage.ts';
import { runInProcess } from '../helpers/cli.ts';
import { startGateway, until } from '../helpers/gateway.ts';
import { codeBlocks } from '../helpers/markdown.ts';
import { ROOT } from '../helpers/root.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const agents = codeBlocks(readFileSync(join(ROOT, 'docs/agents.md'), 'utf8')).filter(({ note }) =>
  note?.startsWith('usage: '),
);
const WEBHOOK = `platforms:
  webhook:
    enabled: true
    port: 0
    secret: env:WEBHOOK_SECRET
    routes:
      review: { source: github, events: [issues], prompt: "Read this: {issue.title}" }
`;

/** The end of what each prints, and what it reports. */
const PRINTED: Readonly<Record<string, readonly [output: readonly unknown[], usage: Usage]>> = {
  claude: [
    [
      {
        ...{ type: 'result', subtype: 'success', is_error: false, duration_ms: 2549, num_turns: 1, result: 'Four.' },
        ...{ session_id: 'b2c5', total_cost_usd: 0.0123 },
        usage: {
          input_tokens: 4,
          cache_creation_input_tokens: 1000,
          cache_read_input_tokens: 300,
          output_tokens: 9,
        },
      },
    ],
    { input_tokens: 1304, output_tokens: 9, cost: 0.0123 },
  ],
  codex: [
    [
      { type: 'thread.started', thread_id: '0199' },
      { type: 'turn.started' },
      { type: 'item.completed', item: { id: 'item_0', type: 'reasoning', text: '**Adding**' } },
      { type: 'item.completed', item: { id: 'item_1', type: 'agent_message', text: 'Four.' } },
      { type: 'turn.completed', usage: { input_tokens: 24763, cached_input_tokens: 24448, output_tokens: 122 } },
    ],
    { input_tokens: 24763, output_tokens: 122, cost: null },
  ],
  gemini: [
    [
      {
        response: 'Four.',
        stats: {
          models: {
            'gemini-2.5-pro': { api: { totalRequests: 1 }, tokens: { prompt: 2000, candidates: 20, total: 2100 } },
            'gemini-2.5-flash': { api: { totalRequests: 2 }, tokens: { prompt: 300, candidates: 4, total: 310 } },
          },
          tools: { totalCalls: 0 },
        },
      },
    ],
    { input_tokens: 2300, output_tokens: 24, cost: null },
  ],
};

describe('usage in docs/agents.md', () => {
  test('is shown for three programs', () => assert.equal(agents.length, Object.keys(PRINTED).length));

  for (const { note, text } of agents) {
    const name = note?.slice('usage: '.length) ?? '';
    test(`${name} answers, and tells what it has used`, async (t) => {
      const { agent } = parse(text) as { agent: { command: string[] } };
      assert.equal(agent.command[0], name);
      const home = tempDir(t);
      const [output = [], usage] = PRINTED[name] ?? [];
      const printed = output.map((line) => JSON.stringify(line, null, output.length === 1 ? 2 : 0)).join('\n');
      writeFileSync(join(home, 'printed'), printed);
      writeFileSync(join(home, name), '#!/bin/sh\ncat > /dev/null\ncat "$HOOKWRIGHT_HOME/printed"\n', { mode: 0o755 });
      const env = { WEBHOOK_SECRET: 'a-secret-for-agents-1234567890', PATH: `${home}:${process.env.PATH}` };
      const gateway = await startGateway(t, { home, env, config: WEBHOOK + text });
      const lint = await runInProcess(['lint', '--strict'], { home, env });
      assert.equal(lint.code, 0, lint.stdout + lint.stderr);
      await gateway.cli('webhook', 'test', 'review', '--payload', '{"issue":{"title":"Two and two"}}');
      const said = await until(async () => /"text":"(.*?)"[,}]/.exec(gateway.running.stderr())?.[1] ?? null);
      assert.equal(said, 'Four.');
      // The answer is logged before it is stored.
      const [listed] = await until(async () => {
        const { stdout } = await gateway.cli('deliveries', 'list', '--state', 'done', '--json');
        const done = JSON.parse(stdout) as readonly { readonly id: string }[];
        return done.length > 0 && done;
      });
      const shown = await gateway.cli('deliveries', 'show', listed?.id ?? '', '--json');
      assert.deepEqual((JSON.parse(shown.stdout) as { usage: Usage }).usage, usage);
      const used = JSON.parse((await gateway.cli('usage', '--by', 'agent', '--json')).stdout) as unknown;
      assert.deepEqual(used, [{ agent: 'default', profile: 'default', runs: 1, ...usage }]);
    });
  }
});
