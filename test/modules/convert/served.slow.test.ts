/** Serves converted configs and sends signed events: they behave as the original's documentation says. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { chmodSync, copyFileSync, existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseEnvLines } from '../../../base/files.ts';
import type { Ending } from '../../helpers/at-end.ts';
import { runInProcess } from '../../helpers/cli.ts';
import type { TestGateway } from '../../helpers/gateway.ts';
import { startGateway, until } from '../../helpers/gateway.ts';
import { sendAgain } from '../../helpers/send-again.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

interface Served {
  readonly gateway: TestGateway;
  readonly secrets: ReadonlyMap<string, string>;
  readonly cwd: string;
}

/** Converts a file, and serves the result with its `.env`. */
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

/** A program that records its arguments and its stdin in the file `seen` next to it. */
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

test('hermes: a signed event runs the agent; unsigned, filtered and unknown ones are answered as in the original', async (t) => {
  const { env, seen } = noting(t, 'hermes');
  const { gateway, secrets } = await serve(t, 'hermes', HERMES, env);
  const post = (route: string, body: string, headers: Record<string, string>): Promise<Response> =>
    sendAgain(`${gateway.url}/webhooks/${route}`, {
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

const HOOKS = (command: string): string => `
- id: Site
  execute-command: ${command}
  command-working-directory: /tmp
  pass-arguments-to-command:
    - { source: string, name: --ref }
    - { source: payload, name: after }
    - { source: payload, name: commits.0.author }
    - { source: payload, name: not.there }
    - { source: header, name: X-GitHub-Event }
    - { source: entire-payload }
  pass-environment-to-command:
    - { source: payload, name: pusher.name, envname: WHO }
    - { source: payload, name: count }
  pass-file-to-command:
    - { source: payload, name: image, envname: IMAGE, base64decode: true }
  trigger-rule:
    and:
      - match:
          type: payload-hmac-sha256
          secret: site-hook-3f9a01
          parameter: { source: header, name: X-Hub-Signature-256 }
      - match: { type: value, value: refs/heads/main, parameter: { source: payload, name: ref } }
- id: open
  execute-command: ${command}
- id: address
  execute-command: ${command}
  trigger-rule: { match: { type: ip-whitelist, ip-range: 127.0.0.1 } }
`;

test('adnanh: the command gets its arguments, variables and files; requests that the rule rejects are rejected', async (t) => {
  const folder = tempDir(t);
  const [command, seen] = [join(folder, 'command.sh'), join(folder, 'seen')];
  const script = `{ printf '<%s>' "$@"; echo; echo "$WHO/$HOOK_count/$(pwd)"; cat "$IMAGE"; } > ${seen}.new; mv ${seen}.new ${seen}`;
  writeFileSync(command, `#!/bin/sh\n${script}\n`);
  chmodSync(command, 0o755);
  const { gateway, secrets } = await serve(t, 'adnanh', HOOKS(command));
  const post = async (route: string, body: string, headers: Record<string, string> = {}): Promise<number> => {
    const all = { 'content-type': 'application/json', 'x-github-event': 'push', ...headers };
    return (await sendAgain(`${gateway.url}/webhooks/${route}`, { method: 'POST', body, headers: all })).status;
  };
  // A value that could be mistaken for two arguments, a template or a command.
  const author = '"; touch x\n{ref} $(id)';
  const push = { ref: 'refs/heads/main', after: 'abc', commits: [{ author }], pusher: { name: 'ada' }, count: 0 };
  const image = Buffer.from('png').toString('base64');
  // A number that JavaScript cannot hold.
  const body = JSON.stringify({ ...push, image, price: '1.00' }).replace('"count":0', '"count":8202522731445525542');
  const sign = (text: string): Record<string, string> => ({
    'x-hub-signature-256': `sha256=${hmac('sha256', secrets.get('SITE_SECRET'), text)}`,
  });
  assert.equal(await post('site', body), 401);
  assert.equal(await post('site', `${body} `, sign(body)), 401);
  const other = JSON.stringify({ ...push, ref: 'refs/heads/other' });
  assert.equal(await post('site', other, sign(other)), 200);
  assert.equal(await post('open', body), 401);
  assert.equal(await post('address', body), 403);
  assert.equal(existsSync(seen), false);
  assert.equal(await post('site', body, sign(body)), 202);
  const text = await until(async () => existsSync(seen) && readFileSync(seen, 'utf8'));
  assert.equal(text, `<--ref><abc><${author}><><push><${body}>\nada/8202522731445525542/${realpathSync('/tmp')}\npng`);
});

const RULES = `
- id: plain
  execute-command: /bin/true
  trigger-rule:
    match: { type: payload-hmac-sha512, secret: plain-hook-91d0, parameter: { source: header, name: X-Signature } }
- id: rotation
  execute-command: /bin/true
  trigger-signature-soft-failures: true
  trigger-rule:
    or:
      - match: { type: payload-hmac-sha256, secret: rotation-new-44, parameter: { source: header, name: X-Signature } }
      - match: { type: payload-hmac-sha256, secret: rotation-old-99, parameter: { source: header, name: X-Signature } }
- id: hub
  execute-command: /bin/true
  trigger-rule:
    match: { type: payload-hmac-sha256, secret: hub-hook-5e, parameter: { source: header, name: X-Hub-Signature } }
- id: query
  execute-command: /bin/true
  trigger-rule: { match: { type: value, value: query-token-42, parameter: { source: url, name: token } } }
- id: bearer
  execute-command: /bin/true
  trigger-rule: { match: { type: value, value: Bearer bearer-token-6b, parameter: { source: header, name: Authorization } } }
- id: slash
  execute-command: /bin/true
  trigger-rule: { match: { type: value, value: slash-token-0d, parameter: { source: payload, name: token } } }
- id: filters
  execute-command: /bin/true
  trigger-rule:
    and:
      - match: { type: value, value: filter-token-11, parameter: { source: header, name: X-Token } }
      - match: { type: value, value: "3", parameter: { source: payload, name: size } }
      - not: { match: { type: regex, regex: "^test", parameter: { source: payload, name: event } } }
`;

test('adnanh: checks senders as the trigger rules do', async (t) => {
  const { gateway } = await serve(t, 'adnanh', RULES);
  const sign = (algorithm: string, secret: string): string => hmac(algorithm, secret, '{"a":1}');
  const json = { 'content-type': 'application/json' };
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const filtered = { ...json, 'x-token': 'filter-token-11' };
  const requests: readonly (readonly [path: string, headers: Record<string, string>, body: string, status: string])[] =
    [
      ['plain', { ...json, 'x-signature': sign('sha512', 'plain-hook-91d0') }, '{"a":1}', '202'],
      ['plain', { ...json, 'x-signature': `sha512=${sign('sha512', 'plain-hook-91d0')}` }, '{"a":1}', '401'],
      ['plain', { ...json, 'x-signature': sign('sha512', 'plain-hook-91d1') }, '{"a":1}', '401'],
      ['plain', { ...json, 'x-signature': sign('sha256', 'plain-hook-91d0') }, '{"a":1}', '401'],
      ['rotation', { ...json, 'x-signature': sign('sha256', 'rotation-new-44') }, '{"a":1}', '202'],
      ['rotation', { ...json, 'x-signature': sign('sha256', 'rotation-old-99') }, '{"a":1}', '202'],
      ['hub', { ...json, 'x-hub-signature': `sha256=${sign('sha256', 'hub-hook-5e')}` }, '{"a":1}', '202'],
      ['query?token=query-token-42', json, '{"a":1}', '202'],
      ['query', json, '{"a":1}', '401'],
      ['bearer', { ...json, authorization: 'Bearer bearer-token-6b' }, '{"a":1}', '202'],
      ['bearer', { ...json, authorization: 'bearer-token-6b' }, '{"a":1}', '401'],
      ['slash', json, '{"token":"slash-token-0d"}', '202'],
      ['slash', form, 'token=slash-token-0d&text=hello', '202'],
      ['slash', form, 'token=slash-token-0e', '401'],
      ['filters', filtered, '{"size":3,"event":"push"}', '202'],
      ['filters', filtered, '{"size":"3","event":"push"}', '202'],
      ['filters', filtered, '{"size":4,"event":"push"}', '200 ignored'],
      ['filters', filtered, '{"size":3,"event":"testing"}', '200 ignored'],
      // The original's `and` is false where a field below `not` is missing.
      ['filters', filtered, '{"size":3}', '200 ignored'],
    ];
  for (const [path, headers, body, expected] of requests) {
    const response = await sendAgain(`${gateway.url}/webhooks/${path}`, { method: 'POST', headers, body });
    const { status } = (await response.json()) as { status: string };
    const seen = status === 'ignored' ? `${response.status} ignored` : String(response.status);
    assert.equal(seen, expected, `${path} ${JSON.stringify(headers)} ${body}`);
  }
});
