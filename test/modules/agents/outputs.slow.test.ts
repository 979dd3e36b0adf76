/** Known programs hand over outputs with the tools of MCP, behind a gateway: a program in a few lines with the official client. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { startGateway, until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const sdk = (name: string): string =>
  JSON.stringify(import.meta.resolve(`@modelcontextprotocol/sdk/client/${name}.js`));

/** Starts the server that its arguments describe, calls what the prompt says, and keeps what it learnt. */
const program = (config: string, printed: string): string => `
import { readFileSync, writeFileSync } from 'node:fs';
import { Client } from ${sdk('index')};
import { StdioClientTransport } from ${sdk('stdio')};
const args = process.argv.slice(2);
const after = (start) => args.find((each) => each.startsWith(start))?.slice(start.length);
const calls = JSON.parse(/\\[.*\\]/s.exec(readFileSync(0, 'utf8'))[0]);
const client = new Client({ name: 'a-program', version: '1' });
await client.connect(new StdioClientTransport(${config}));
const { tools } = await client.listTools();
const said = [];
for (const [name, fields] of calls) {
  const { isError = false, content } = await client.callTool({ name, arguments: fields });
  said.push([isError, content[0].text]);
}
await client.close();
writeFileSync(process.env.SEEN, JSON.stringify({ tools, said }));
for (const line of ${printed}) console.log(JSON.stringify(line));
`;

const PROGRAMS = {
  'claude-code': program(
    `JSON.parse(args[args.indexOf('--mcp-config') + 1]).mcpServers.hookwright`,
    `[{ type: 'result', subtype: 'success', is_error: false, stop_reason: 'end_turn', result: 'Done.' }]`,
  ),
  codex: program(
    `{ command: JSON.parse(after('mcp_servers.hookwright.command=')), args: JSON.parse(after('mcp_servers.hookwright.args=')) }`,
    `[{ type: 'turn.started' }, { type: 'item.completed', item: { type: 'agent_message', text: 'Done.' } }, { type: 'turn.completed' }]`,
  ),
} as const;

interface Shown {
  readonly state: string;
}

for (const [use, text] of Object.entries(PROGRAMS))
  describe(`outputs of ${use}`, () => {
    test('are tools of its model: accepted calls are delivered, others are refused with the reason, and none is a failure', async (t) => {
      const home = tempDir(t);
      const [script, seen] = [join(home, 'program.mjs'), join(home, 'seen.json')];
      writeFileSync(script, text);
      const { cli } = await startGateway(t, {
        home,
        env: { HOOK: 'a-secret-of-twenty-characters', MODEL_KEY: 'a-key-of-the-model-server', PATH: process.env.PATH },
        config: `
agent:
  use: ${use}
  key: env:MODEL_KEY
  command: [${JSON.stringify(process.execPath)}, ${JSON.stringify(script)}]
  env: { SEEN: ${JSON.stringify(seen)} }
platforms:
  webhook:
    enabled: true
    secret: env:HOOK
    routes:
      ask:
        prompt: "{calls}"
        deliver: log
        outputs: { level: { deliver: local, required: true, allow: { text: [low, high] } } }
`,
      });
      /** The event when it has ended, and what the program saw. */
      const ask = async (...calls: readonly unknown[]) => {
        const { stdout } = await cli('webhook', 'test', 'ask', '--payload', JSON.stringify({ calls }));
        const [, id = ''] = /"delivery_id":"([^"]+)"/.exec(stdout) ?? [];
        const state = await until(async () => {
          const shown = JSON.parse((await cli('deliveries', 'show', id, '--json')).stdout) as Shown;
          return /^(?:done|dead)$/.test(shown.state) && shown;
        });
        assert.ok(existsSync(seen), JSON.stringify(state));
        const program = JSON.parse(readFileSync(seen, 'utf8')) as {
          readonly tools: readonly { readonly name: string; readonly inputSchema: object }[];
          readonly said: readonly (readonly [isError: boolean, text: string])[];
        };
        return { state: state.state, text: JSON.stringify(state), ...program };
      };
      const sent = await ask(['level', { text: 'high' }], ['level', { text: 'low' }], ['level', { text: 'high' }]);
      assert.equal(sent.state, 'done', sent.text);
      assert.match(sent.text, /"text":"high"/);
      assert.doesNotMatch(sent.text, /"text":"low"/);
      assert.deepEqual(
        sent.said.map(([isError]) => isError),
        [false, true, true],
      );
      assert.deepEqual(
        sent.tools.map(({ name }) => name),
        ['level', 'noop'],
      );
      assert.match(JSON.stringify(sent.tools), /"enum":\["low","high"\]/);
      const corrected = await ask(['level', { text: 'merge' }], ['level', { text: 'low' }]);
      assert.equal(corrected.state, 'done', corrected.text);
      assert.match(corrected.said[0]?.[1] ?? '', /merge/);
      const nothing = await ask(['noop', { reason: 'It has an answer.' }]);
      assert.equal(nothing.state, 'done', nothing.text);
      assert.match(nothing.text, /It has an answer\./);
      for (const calls of [[], [['level', { text: 'merge' }]]] as const) {
        const failed = await ask(...calls);
        assert.equal(failed.state, 'dead', failed.text);
        assert.match(failed.text, /no_output/);
      }
    });
  });
