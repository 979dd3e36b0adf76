/** The agents of docs/agents.md: each configuration lints without a warning, and its program gets the prompt and gives the answer. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { parse } from 'yaml';
import { runInProcess } from '../helpers/cli.ts';
import { startGateway, until } from '../helpers/gateway.ts';
import { codeBlocks } from '../helpers/markdown.ts';
import { ROOT } from '../helpers/root.ts';
import { tempDir } from '../helpers/temp-dir.ts';

const agents = codeBlocks(readFileSync(join(ROOT, 'docs/agents.md'), 'utf8')).filter(({ note }) =>
  note?.startsWith('agent: '),
);
const WEBHOOK = `platforms:
  webhook:
    enabled: true
    port: 0
    secret: env:WEBHOOK_SECRET
    routes:
      review: { source: github, events: [issues], prompt: "Read this: {issue.title}" }
`;

describe('docs/agents.md', () => {
  test('has programs', () => assert.notDeepEqual(agents, []));

  for (const { note, text } of agents) {
    const name = note?.slice('agent: '.length) ?? '';
    test(`${name} gets the prompt on stdin and answers on stdout`, async (t) => {
      const { agent } = parse(text) as { agent: { command: string[]; env?: Record<string, string> } };
      assert.equal(agent.command[0], name);
      const home = tempDir(t);
      const given = Object.values(agent.env ?? {});
      const secrets = given.filter((value) => value.startsWith('env:'));
      const env = {
        ...Object.fromEntries(secrets.map((ref) => [ref.slice('env:'.length), 'an-api-key-for-tests-only'])),
        WEBHOOK_SECRET: 'a-secret-for-agents-1234567890',
        PATH: `${home}:${process.env.PATH}`,
      };
      const script = `#!/bin/sh\nfor word; do printf '[%s]' "$word"; done; echo "<${Object.keys(agent.env ?? {}).map((key) => `$${key}`)}>"; cat`;
      writeFileSync(join(home, name), `${script}\n`, { mode: 0o755 });
      const gateway = await startGateway(t, { home, env, config: WEBHOOK + text });
      const lint = await runInProcess(['lint', '--strict'], { home, env });
      assert.equal(lint.code, 0, lint.stdout + lint.stderr);
      await gateway.cli('webhook', 'test', 'review', '--payload', '{"issue":{"title":"Two and two"}}');
      const said = await until(async () => /"text":"(.*?)"[,}]/.exec(gateway.running.stderr())?.[1] ?? null);
      const words = agent.command.slice(1).map((word) => `[${word}]`);
      // The keys reached it: what it says of them is hidden in the log.
      const shown = given.map((value) => (secrets.includes(value) ? '***' : value));
      assert.equal(said, `${words.join('')}<${shown.join(',')}>\\nRead this: Two and two`);
    });
  }
});
