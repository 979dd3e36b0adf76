import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { signRequest } from '../../../../modules/workbench/cli/test-event/sign-request.ts';
import { signTestEvent } from '../../../../modules/workbench/cli/test-event/sign-test-event.ts';
import { createSecrets } from '../../../../runtime/platform/secrets.ts';
import type { RouteTable } from '../../../../schemas/generated/types.ts';
import { loadShippedSources } from '../../../helpers/catalog-sources.ts';
import { startGateway } from '../../../helpers/gateway.ts';
import { sendAgain } from '../../../helpers/send-again.ts';
import { keysOf } from '../../../helpers/source-keys.ts';
import { tempDir } from '../../../helpers/temp-dir.ts';

const sources = loadShippedSources();

test('every shipped source’s test event is accepted by its route', async (t) => {
  const home = tempDir(t);
  const keys = new Map<string, string>();
  const routes = sources.lowered.map(({ name, plan }) => {
    const { signing, receiving } = keysOf(plan);
    keys.set(name, signing);
    const key = plan.verify === 'ed25519' || plan.verify === 'ecdsa-p256' ? 'public_key' : 'secret';
    return `      ${name}: { source: ${name}, ${key}: ${JSON.stringify(receiving)}, prompt: "{a}", respond: { accepted: { status: 202 } } }`;
  });
  const config = `public_url: https://hooks.example.test\nplatforms:\n  webhook:\n    enabled: true\n    routes:\n${routes.join('\n')}\n`;
  const gateway = await startGateway(t, { home, config });
  const { table: status } = await gateway.status();
  const table = JSON.parse(readFileSync(status.file, 'utf8')) as RouteTable;
  const sample = (): Record<string, unknown> => ({ a: 'b' });
  const fixed = {
    table,
    event: undefined,
    body: null,
    source: undefined,
    secrets: createSecrets({ env: {}, home }),
    sample,
  };
  for (const [name, signing] of keys) {
    const plan = table.routes[name];
    assert.ok(plan !== undefined);
    const key = { kind: 'literal' as const, value: signing, scope: 'default' };
    const event = signTestEvent({ ...fixed, plan, key, now: Date.now(), random: randomBytes });
    const answer = await sendAgain(`${gateway.url}/webhooks/${name}${event.query}`, {
      method: 'POST',
      headers: event.headers,
      body: new Uint8Array(event.body),
    });
    assert.equal(answer.status, 202, `${name}: ${await answer.text()}`);
  }
});

test('`webhook test --source` signs as another sender, which the route may reject', async (t) => {
  const config = `platforms:
  webhook:
    enabled: true
    secret: a-global-secret-for-tests
    routes: { any: { prompt: "{a}" }, mine: { source: stripe, prompt: "{a}" } }
`;
  const gateway = await startGateway(t, { home: tempDir(t), config });
  const send = async (...argv: string[]): Promise<string> => {
    const { stdout, stderr } = await gateway.cli('webhook', 'test', ...argv);
    return `${stdout.slice(0, 3)} ${stderr}`;
  };
  assert.match(await send('any', '--source', 'gitlab', '--event', 'Push Hook'), /^202 POST \S+ \(gitlab, Push Hook\)/);
  assert.match(
    await send('mine', '--source', 'stripe', '--event', 'invoice.paid'),
    /^202 POST \S+ \(stripe, invoice\.paid\)/,
  );
  assert.match(await send('mine', '--source', 'github'), /^401 /);
  assert.match(await send('any', '--source', 'unknown'), /"unknown"/);
});

test('sends an event with its sender’s name and a payload of that event', async (t) => {
  const config = `platforms:
  webhook:
    enabled: true
    secret: a-global-secret-for-tests
    routes: { mr: { source: gitlab, events: [merge_request], prompt: "{event_type} {project.id}" } }
`;
  const gateway = await startGateway(t, { home: tempDir(t), config });
  const { stdout, stderr } = await gateway.cli('webhook', 'test', 'mr', '--dry-run');
  assert.match(stdout, /\bMerge Request Hook\b[\s\S]*"merge_request"[\s\S]*│ Merge Request Hook 1\n/, stderr);
});

test('sends and signs a form like its sender', async (t) => {
  const config = `public_url: https://hooks.example.test
platforms:
  webhook:
    enabled: true
    routes: { sms: { source: twilio, secret: an-auth-token-for-tests, prompt: "{Body} from {From}" } }
`;
  const gateway = await startGateway(t, { home: tempDir(t), config });
  const { stdout, stderr } = await gateway.cli('webhook', 'test', 'sms', '--payload', 'Body=hi&From=%2B15550100');
  assert.match(stdout, /^200 /, stderr);
  const dry = await gateway.cli('webhook', 'test', 'sms', '--payload', 'Body=hi&From=%2B15550100', '--dry-run');
  assert.match(dry.stdout, /hi from \+15550100/);
});

test('the test event has its sender’s headers, and the captured request names the event', async (t) => {
  const config = `platforms:
  webhook:
    enabled: true
    secret: a-global-secret-for-tests
    routes: { hub: { source: github, prompt: "{a}" }, any: { prompt: "{a}" }, lab: { source: gitlab, prompt: "{a}" } }
`;
  const gateway = await startGateway(t, { home: tempDir(t), config });
  const sent = async (...argv: string[]): Promise<string> => {
    assert.match((await gateway.cli('webhook', 'test', ...argv)).stdout, /^202/);
    return (await gateway.cli('requests', 'show')).stdout;
  };
  for (const shown of [await sent('hub', '--event', 'push'), await sent('any', '--event', 'push')]) {
    assert.match(shown, /^ {2}x-github-event: push$/im);
    assert.match(shown, /^ {2}x-github-delivery: /im);
    assert.match(shown, /^signature .*\bgithub\b/m);
    assert.doesNotMatch(shown, /forgea/i);
  }
  const lab = await sent('lab', '--event', 'Push Hook');
  assert.match(lab, /^ {2}x-gitlab-event: Push Hook$/im);
  assert.doesNotMatch(lab, /forgeb/i);
});

test('verifies YouTube’s Atom and renders the prompt, from a file and as a sample', async (t) => {
  const home = tempDir(t);
  const config = `platforms:
  webhook:
    enabled: true
    secret: a-global-secret-for-tests
    routes: { tube: { source: youtube, prompt: "{feed.entry.title} ({feed.entry.yt_videoId}): {feed.entry.link.href}" } }
`;
  const gateway = await startGateway(t, { home, config });
  const file = join(home, 'upload.xml');
  writeFileSync(
    file,
    `<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:yt="http://www.youtube.com/xml/schemas/2015" xmlns="http://www.w3.org/2005/Atom">
  <link rel="hub" href="https://hub.example.test"/>
  <entry>
    <yt:videoId>abc123</yt:videoId>
    <title>Tea &amp; biscuits</title>
    <link rel="alternate" href="https://video.example.test/?v=abc123"/>
  </entry>
</feed>`,
  );
  const shown = await gateway.cli('webhook', 'test', 'tube', '--payload', `@${file}`, '--dry-run', '--json');
  const { prompt } = JSON.parse(shown.stdout) as { readonly prompt: string };
  assert.equal(prompt, 'Tea & biscuits (abc123): https://video.example.test/?v=abc123');
  assert.match((await gateway.cli('webhook', 'test', 'tube', '--payload', `@${file}`)).stdout, /^202 /);
  const sample = await gateway.cli('webhook', 'test', 'tube', '--dry-run');
  assert.doesNotMatch(sample.stdout, /\{feed/);
  const captured = await gateway.cli('requests', 'show');
  assert.match(captured.stdout, /content-type: application\/xml/);
});

test('a test event has the headers that the SDKs of Shopify and Box require', () => {
  const headersOf = (name: string, event: string | null): Readonly<Record<string, string>> => {
    const plan = sources.lowered.find((source) => source.name === name)?.plan;
    assert.ok(plan !== undefined);
    const request = { method: 'POST', url: '/', public_url: null, body: Buffer.from('{}'), id: 'id-1', event };
    return signRequest(plan, 'a-secret-for-tests', request, Date.now()).headers;
  };
  const shopify = headersOf('shopify', null);
  for (const name of ['api-version', 'shop-domain', 'topic', 'webhook-id', 'hmac-sha256'])
    assert.ok(shopify[`x-shopify-${name}`], name);
  assert.equal(headersOf('shopify', 'app/uninstalled')['x-shopify-topic'], 'app/uninstalled');
  const box = headersOf('box', null);
  assert.equal(box['box-signature-version'], '1');
  assert.equal(box['box-signature-algorithm'], 'HmacSHA256');
});
