/** A command beside a gateway of an older version: it names the version and what to do, and never fails as a bug. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { controlPaths } from '../../../runtime/control/control-client.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { runInProcess } from '../../helpers/cli.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

/** Answers every call but `ping` in one way. */
async function olderGateway(t: TestContext, status: number, answer: unknown): Promise<string> {
  const home = tempDir(t);
  const { folder, socket } = controlPaths(home, tmpdir());
  mkdirSync(folder, { mode: 0o700 });
  const server = createServer((request, response) => {
    const isPing = request.url === '/ping';
    response.writeHead(isPing ? 200 : status).end(JSON.stringify(isPing ? { pid: process.pid } : answer));
  });
  await new Promise<void>((listening) => server.listen(socket, listening));
  atEnd(t, () => server.close());
  return home;
}

const COMMANDS = [
  ['deliveries', 'list'],
  ['approvals', 'list'],
  ['gateway', 'status'],
  ['requests', 'list'],
];

for (const [name, status, answer] of [
  ['does not know the form of the request', 400, { code: 'malformed', message: 'request.filter is not valid' }],
  ['does not know the operation', 404, { code: 'unknown_operation', message: 'no such operation' }],
  ['answers in another form', 200, { old: true }],
] as const) {
  test(`says that the running gateway is another version if it ${name}`, async (t) => {
    const home = await olderGateway(t, status, answer);
    for (const argv of COMMANDS) {
      const { code, stderr } = await runInProcess(argv, { home });
      assert.equal(code, 1, `${argv.join(' ')}: ${stderr}`);
      assert.match(stderr, /version[\s\S]*hookwright gateway restart/, `${argv.join(' ')}: ${stderr}`);
    }
  });
}
