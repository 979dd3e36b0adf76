/** Converted configs are served and get signed events: what the original's documentation says of them happens here, too. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseEnvLines } from '../../../base/env-lines.ts';
import type { Ending } from '../../helpers/at-end.ts';
import { runInProcess } from '../../helpers/cli.ts';
import type { TestGateway } from '../../helpers/gateway.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

interface Served {
  readonly gateway: TestGateway;
  readonly secrets: ReadonlyMap<string, string>;
  readonly cwd: string;
}

/** Converts a file, and serves what came of it with its `.env`. */
async function serve(t: Ending, program: string, text: string, env: NodeJS.ProcessEnv = {}): Promise<Served> {
  const [home, cwd] = [tempDir(t), tempDir(t)];
  writeFileSync(join(cwd, 'foreign.yaml'), text);
  const argv = ['convert', program, 'foreign.yaml', '--out', 'out', '--allow-loss'];
  const converted = await runInProcess(argv, { home, cwd });
  assert.equal(converted.code, 0, converted.stderr);
  const config = readFileSync(join(cwd, 'out/hookwright.yaml'), 'utf8');
  copyFileSync(join(cwd, 'out/.env'), join(home, '.env'));
  const gateway = await startGateway(t, { home, config, env });
  return { gateway, secrets: parseEnvLines(readFileSync(join(home, '.env'), 'utf8')).values, cwd };
}

const hmac = (algorithm: string, secret: string | undefined, body: string): string =>
  createHmac(algorithm, secret ?? assert.fail('no secret'))
    .update(body)
    .digest('hex');

/** A program that notes its arguments and its stdin in the file `seen` beside it. */
function noting(t: Ending, name: string): { readonly env: NodeJS.ProcessEnv; readonly seen: () => Promise<string> } {
  const folder = tempDir(t);
  const seen = join(folder, 'seen');
  writeFileSync(join(folder, name), `#!/bin/sh\n{ printf '%s|' "$@"; cat; } > ${seen}.new && mv ${seen}.new ${seen}\n`);
  chmodSync(join(folder, name), 0o755);
  return {
    env: { PATH: `${folder}:${process.env.PATH}` },
    seen: () => until(async () => existsSync(seen) && readFileSync(seen, 'utf8')),
  };
}

const HERMES = `
model: some/model
platforms:
  webhook:
    enabled: true
    extra:
      secret: global-hooks-9c1e77
      routes:
        review:
          events: [pull_request]
          secret: review-hook-4d2f90
          filters: [{ field: action, equals: opened }]
          prompt: "Look at {pull_request.title}"
`;

test('hermes: a signed event runs the agent; what is not signed, filtered or unknown is answered as there', async (t) => {
  const { env, seen } = noting(t, 'hermes');
  const { gateway, secrets } = await serve(t, 'hermes', HERMES, env);
  const post = (route: string, body: string, headers: Record<string, string>): Promise<Response> =>
    fetch(`${gateway.url}/webhooks/${route}`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    });
  const opened = JSON.stringify({ action: 'opened', pull_request: { title: 'A title' } });
  const signed = (body: string, secret = secrets.get('REVIEW_SECRET')): Record<string, string> => ({
    'x-hub-signature-256': `sha256=${hmac('sha256', secret, body)}`,
    'x-github-event': 'pull_request',
  });
  assert.equal((await post('review', opened, signed(opened))).status, 202);
  assert.equal((await post('review', opened, signed(opened, secrets.get('WEBHOOK_SECRET')))).status, 401);
  assert.equal((await post('review', opened, { 'x-github-event': 'pull_request' })).status, 401);
  assert.equal((await post('nothing', opened, signed(opened))).status, 404);
  const closed = JSON.stringify({ action: 'closed' });
  const ignored = await post('review', closed, signed(closed));
  assert.deepEqual([ignored.status, ((await ignored.json()) as { reason: string }).reason], [200, 'filter']);
  assert.equal(await seen(), 'chat|--quiet|--query-file|-|--toolsets|web,clarify|Look at A title');
});
