import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RoutePlan } from '../../schemas/generated/types.ts';
import { compileConfig, compileFiles, printed } from '../helpers/compile.ts';

function config(route: string, top = ''): string {
  return `platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      r: { prompt: "{x}", ${route} }
${top}`;
}

function plan(route: string, top = ''): RoutePlan {
  const result = compileConfig(config(route, top));
  const found = result.output?.table.routes.r;
  assert.ok(found !== undefined, printed(result));
  return found;
}

test('`source` selects the scheme by any of its names; without it, headers select it', () => {
  const names = ['github', 'forgea'].map((name) => plan(`source: ${name}`));
  for (const { source, schemes } of names) assert.deepEqual([source, schemes], ['github', ['github']]);
  const { source, schemes } = plan('events: [push]');
  assert.equal(source, null);
  assert.deepEqual(schemes, ['standard-webhooks', 'svix', 'github', 'gitlab', 'generic-v2', 'generic-v1']);
});

test('`auth` restricts schemes by name or alias, in the order of the catalog', () => {
  assert.deepEqual(plan('auth: [generic-v2, github]').schemes, ['github', 'generic-v2']);
});

test('accepts both signatures of a sender that signs in two ways', () => {
  const twilio = plan('source: twilio, public_url: "https://example.test/webhooks/r"');
  assert.deepEqual(twilio.schemes, ['twilio-json', 'twilio']);
});

test('the URL of a route is its own, or the server’s URL with its path', () => {
  const top = 'public_url: https://hooks.example.test/base/';
  assert.equal(plan('source: square', top).public_url, 'https://hooks.example.test/base/webhooks/r');
  assert.equal(plan('source: square, public_url: "https://other.test/x"', top).public_url, 'https://other.test/x');
  assert.equal(plan('source: github').public_url, null);
});

test('the default idempotency window is the sender’s retry period, at least an hour', () => {
  assert.equal(plan('source: stripe').idempotency_ttl_seconds, 259_200);
  assert.equal(plan('source: slack').idempotency_ttl_seconds, 3600);
  assert.equal(plan('events: [push]').idempotency_ttl_seconds, 3600);
  assert.equal(plan('source: stripe, idempotency_ttl_seconds: 300000').idempotency_ttl_seconds, 300_000);
});

test('an event waits for a slow commit as long as its sender, if that sends an id', () => {
  const seconds = (route: string, top?: string): number => plan(route, top).accept_timeout_seconds;
  assert.equal(seconds('source: github'), 8);
  assert.equal(seconds('source: stripe'), 8);
  assert.equal(seconds('source: linear'), 3);
  assert.equal(seconds('source: slack'), 2.5);
  assert.equal(seconds('events: [push]'), 2.5);
  assert.equal(seconds('source: github, accept_timeout_seconds: 0.5'), 0.5);
  assert.equal(seconds('source: github', '    accept_timeout_seconds: 4'), 4);
  assert.equal(seconds('source: github, accept_timeout_seconds: 20', '    accept_timeout_seconds: 4'), 20);
});

const OWN = `
    title: My shop
    aliases: [shop]
    verify: hmac-sha256
    signature: { header: X-Shop-Signature }
    signed: "{body}"
    delivery: { header: X-Shop-Id }
`;

test('finds sources of config and home by name and alias; they replace shipped ones', () => {
  const indented = `sources:\n  my-shop:${OWN}`;
  assert.equal(plan('source: shop', indented).source, 'my-shop');
  const home = compileFiles({
    'hookwright.yaml': config('source: shop'),
    '~/.hookwright/catalog/sources/my-shop.yaml': OWN.replace(/^ {4}/gm, ''),
  });
  assert.equal(home.output?.table.routes.r?.source, 'my-shop', printed(home));
  const replaced = compileConfig(config('source: grafana', `sources:\n  grafana:${OWN}`));
  assert.equal(replaced.output?.table.schemes.grafana?.signature[0]?.name, 'x-shop-signature', printed(replaced));
});

test('reports an invalid source at its position', () => {
  // Each with the text at its position.
  const faults: readonly (readonly [string, string])[] = [
    ['{ verify: hmac-sha256, signature: { header: X-A }, signed: "{bdy}" }', '"{bdy}"'],
    ['{ verify: hmac-sha256, signature: { header: X-A }, signed: "{timestamp}.{body}" }', '"{timestamp}.{body}"'],
    [
      '{ verify: hmac-sha256, signature: { header: X-A }, signed: "{body}", timestamp: { header: X-T, unit: s, tolerance: 300 } }',
      '{ header: X-T, unit: s, tolerance: 300 }',
    ],
    ['{ verify: hmac-sha256, signature: { header: X-A, json: b }, signed: "{body}" }', '{ header: X-A, json: b }'],
    ['{ verify: hmac-sha256, signature: { header: X-A }, signed: "static" }', '"static"'],
    ['{ verify: token, signature: { header: X-A }, signed: "{body}" }', '"{body}"'],
    ['{ verify: ed25519, signature: { header: X-A }, signed: "{body}", secret: { as: utf8 } }', 'utf8'],
    ['{ verify: hmac-sha256, signature: { header: X-A }, signed: "{body}", challenge: { kind: ok } }', '{ kind: ok }'],
  ];
  for (const [source, expected] of faults) {
    const result = compileConfig(config('events: [a]', `sources:\n  mine: ${source}\n`));
    assert.equal(result.output, null, source);
    for (const { rule, source: file, range } of result.diagnostics)
      assert.deepEqual([rule, file.text.slice(range.start, range.end)], ['source-scheme', expected]);
  }
});

test('suggests the sender’s spelling of an event', () => {
  const found = (source: string, event: string): string | undefined =>
    compileConfig(config(`source: ${source}, events: ["${event}"]`)).diagnostics.find(
      ({ rule }) => rule === 'unknown-event',
    )?.message;
  for (const [source, event, meant] of [
    ['gitlab', 'merge_requests', '`Merge Request Hook`'],
    ['github', 'pull_requests', '`pull_request`'],
    ['linear', 'issue', '`Issue`'],
    ['stripe', 'invoice.payed', '`invoice.paid`'],
    ['github', 'pul*_*x', '`pul*_*x`'],
  ] as const)
    assert.ok(found(source, event)?.includes(meant), event);
  assert.equal(found('github', 'pull_*'), undefined);
});

test('finds a direct delivery without retries by `source`, `auth` and events', () => {
  /** The senders that the message names. */
  const warned = (keys: string): string | undefined => {
    const direct = `${keys}, deliver: telegram, deliver_only: true, deliver_extra: { chat_id: "-5" }`;
    const platform = '  telegram: { enabled: true, token: env:BOT_TOKEN }\n';
    const { diagnostics } = compileConfig(config(direct, platform));
    const message = diagnostics.find(({ rule }) => rule === 'no-second-attempt')?.message;
    return message?.match(/`(?:github|gitlab|gitea)`/g)?.join(' ');
  };
  const found: readonly (readonly [string, string | undefined])[] = [
    ['source: gitea', '`gitea`'],
    ['auth: [github, gitea]', '`github` `gitea`'],
    ['events: [pull_request, "issue_*"]', '`github`'],
    ['events: [push]', '`github` `gitlab`'],
    // None of the senders documents both of them.
    ['events: [push, invoice.paid]', undefined],
    ['events: [pull_request, merge_request]', undefined],
    ['auth: [github, generic-v2]', undefined],
    ['source: stripe', undefined],
    ['description: any', undefined],
  ];
  for (const [keys, expected] of found) assert.equal(warned(keys), expected, keys);
});
