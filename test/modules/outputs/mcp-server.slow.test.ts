/** The outputs of a run as tools of MCP: with the official client, and in a sandbox behind a gateway. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describe, it } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { openHandover } from '../../../modules/outputs/runtime/open-handover.ts';
import type { AgentRequest } from '../../../runtime/dispatch/agent-runner.ts';
import { openOutputs } from '../../../runtime/dispatch/agents/outputs-folder.ts';
import { WorkFolders } from '../../../runtime/dispatch/agents/work-folders.ts';
import { silentLog } from '../../../runtime/platform/log.ts';
import type { DispatchOutput } from '../../../schemas/generated/types.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { noSandbox } from '../sandbox/run-sandboxed.ts';

const delivery = { target: 'chat', extra: { chat_id: 'C-address' }, unresolved: [] };
const OUTPUTS: readonly DispatchOutput[] = [
  { name: 'note', fields: [{ name: 'text', kind: 'text', required: true }], allow: {}, max: 2, delivery },
  {
    name: 'label',
    fields: [{ name: 'labels', kind: 'list', required: true }],
    allow: { labels: ['bug', 'docs'] },
    max: 1,
    delivery,
  },
];

interface McpConfig {
  readonly mcpServers: { readonly hookwright?: { readonly command: string; readonly args: string[] } };
}

async function open(t: TestContext) {
  const handover = openHandover(OUTPUTS, (text) => text.replaceAll('k3y', '***'));
  const workFolders = new WorkFolders(silentLog);
  const request = { outputs: handover, route: 'r' } as unknown as AgentRequest;
  const folder = await openOutputs(request, { workFolders, folder: tempDir(t) });
  const { hookwright } = (JSON.parse(readFileSync(folder.config, 'utf8')) as McpConfig).mcpServers;
  const client = new Client({ name: 'a-program', version: '1' });
  const connect = () => client.connect(new StdioClientTransport(hookwright ?? assert.fail()));
  return { handover, folder, client, connect, end: () => workFolders.close() };
}

const call = async (client: Client, name: string, fields: object) => {
  const { isError = false, content } = await client.callTool({ name, arguments: { ...fields } });
  return [isError, JSON.stringify(content)] as const;
};

describe('the server of outputs', () => {
  it('declares them as tools, without their addresses, and hands over what a model calls', async (t) => {
    const { handover, folder, client, connect, end } = await open(t);
    await connect();
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name, inputSchema }) => [name, inputSchema.required]),
      [
        ['note', ['text']],
        ['label', ['labels']],
        ['noop', ['reason']],
      ],
    );
    assert.ok(!readFileSync(join(folder.folder, 'outputs.json'), 'utf8').includes('C-address'));
    assert.equal((await call(client, 'note', { text: 'one\ntwo', output: 'label' }))[0], false);
    assert.equal((await call(client, 'label', { labels: ['bug'] }))[0], false);
    await client.close();
    await folder.close();
    const { deliveries, dropped } = handover.checked();
    assert.deepEqual(dropped, []);
    assert.deepEqual(
      deliveries.map(({ output }) => output),
      [
        { name: 'note', content: { text: 'one\ntwo' } },
        { name: 'label', content: { labels: ['bug'] } },
      ],
    );
    await end();
  });

  it('says why a call is not accepted, so that the model can correct it, and writes nothing then', async (t) => {
    const { handover, folder, client, connect, end } = await open(t);
    const path = folder.env.HOOKWRIGHT_OUTPUTS_FILE ?? '';
    await connect();
    for (const [name, fields, reason] of [
      ['label', { labels: ['merge'] }, /merge/],
      ['label', {}, /labels/],
      ['merge', { text: 'x' }, /no such output/],
      ['note', { text: '' }, /text/],
      ['note', { text: 'x'.repeat(300_000) }, /262144/],
    ] as const) {
      const [isError, text] = await call(client, name, fields);
      assert.ok(isError, text);
      assert.match(text, reason);
    }
    assert.ok(!existsSync(path), 'no file');
    // Lines that the program wrote itself count too.
    writeFileSync(path, `${JSON.stringify({ output: 'note', text: 'by hand' })}`);
    const sent = await Promise.all(['a', 'b', 'c'].map((text) => call(client, 'note', { text })));
    assert.deepEqual(sent.map(([isError]) => isError).sort(), [false, true, true]);
    await client.close();
    await folder.close();
    assert.equal(handover.checked().deliveries.length, 2);
    await end();
  });

  it('ends with its client, and a route without outputs has none', async (t) => {
    const { folder, client, connect, end } = await open(t);
    await connect();
    const { pid } = client.transport as StdioClientTransport;
    await client.close();
    await until(async () => {
      try {
        return !process.kill(pid ?? 0, 0);
      } catch {
        return true;
      }
    });
    await folder.close();
    const workFolders = new WorkFolders(silentLog);
    const none = await openOutputs({ route: 'r' } as AgentRequest, { workFolders, folder: tempDir(t) });
    assert.deepEqual(JSON.parse(readFileSync(none.config, 'utf8')), { mcpServers: {} });
    assert.deepEqual(none.env, {});
    await none.close();
    await workFolders.close();
    await end();
  });
});

/** A program that speaks MCP by itself: it starts the configured server, calls what the prompt says, and prints the results. */
const PROGRAM = String.raw`
const { spawn } = require('node:child_process'), fs = require('node:fs');
const calls = JSON.parse(/\[.*\]/s.exec(fs.readFileSync(0, 'utf8'))[0]);
const { command, args } = JSON.parse(fs.readFileSync(process.argv.at(-1), 'utf8')).mcpServers.hookwright;
const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], env: {} });
const send = (message) => server.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
let rest = '';
const waiting = new Map();
server.stdout.on('data', (chunk) => {
  rest += chunk;
  for (let at; (at = rest.indexOf('\n')) >= 0; rest = rest.slice(at + 1)) {
    const { id, result } = JSON.parse(rest.slice(0, at));
    waiting.get(id)?.(result);
  }
});
let id = 0;
const ask = (method, params) => new Promise((resolve) => { waiting.set(++id, resolve); send({ id, method, params }); });
(async () => {
  await ask('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'p', version: '1' } });
  send({ method: 'notifications/initialized' });
  const { tools } = await ask('tools/list', {});
  const said = [];
  for (const [name, fields] of calls) said.push((await ask('tools/call', { name, arguments: fields })).isError === true);
  console.log(JSON.stringify([tools.map(({ name }) => name), said]));
  server.stdin.end();
})();
`;

const SECRET = 'the-secret-of-a-route-1';

for (const sandbox of ['', 'sandbox: { network: none }'])
  describe(`a program ${sandbox === '' ? 'without a sandbox' : 'in a sandbox'}`, {
    skip: sandbox !== '' && noSandbox,
  }, () => {
    it('hands over outputs with the tools of the server that {outputs_mcp} names', async (t) => {
      const home = tempDir(t);
      writeFileSync(join(home, '.env'), `WEBHOOK_SECRET=${SECRET}\n`, { mode: 0o600 });
      const config = `
platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      r:
        source: github
        prompt: "{calls}"
        deliver: log
        outputs: { note: { deliver: local, max: 2 } }
agent:
  command: [${JSON.stringify(process.execPath)}, -e, ${JSON.stringify(PROGRAM)}, "{outputs_mcp}"]
  ${sandbox === '' ? 'confined: It is a test.' : sandbox}
`;
      const gateway = await startGateway(t, { home, env: { PATH: process.env.PATH ?? '' }, config });
      const body = JSON.stringify({
        calls: [
          ['note', { text: 'handed over' }],
          ['merge', {}],
        ],
      });
      const headers = {
        'x-github-event': 'push',
        'x-github-delivery': 'd',
        'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
      };
      const { status } = await sendAgain(`${gateway.url}/webhooks/r`, { method: 'POST', headers, body });
      assert.equal(status, 202);
      const row = await until(async () => {
        const list = JSON.parse((await gateway.cli('deliveries', 'list', '--json')).stdout) as {
          readonly id: string;
          readonly state: string;
        }[];
        const [first] = list;
        return first !== undefined && ['done', 'dead'].includes(first.state) && first;
      });
      const { stdout } = await gateway.cli('deliveries', 'show', row.id, '--json');
      const shown = JSON.parse(stdout) as { readonly answer: string };
      assert.deepEqual(
        JSON.parse(shown.answer),
        [
          ['note', 'noop'],
          [false, true],
        ],
        stdout,
      );
      const text = (await gateway.cli('deliveries', 'show', row.id)).stdout;
      assert.match(text, /handed over/);
    });
  });
