import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SignError } from '../../../modules/workbench/cli/test-event/sign-body.ts';
import type { SignedResult } from '../../../modules/workbench/cli/test-event/sign-request.ts';
import { signRequest } from '../../../modules/workbench/cli/test-event/sign-request.ts';
import { linkAuthenticator } from '../../../runtime/verify/authenticator.ts';
import { withPayload } from '../../../runtime/verify/content.ts';
import { itemsOf } from '../../../runtime/verify/items.ts';
import type { SignedRequest } from '../../../runtime/verify/request.ts';
import { LazyRequest, readFirst } from '../../../runtime/verify/request.ts';
import type { SchemePlan } from '../../../schemas/generated/types.ts';
import { loadShippedSources } from '../../helpers/catalog-sources.ts';
import { keysOf } from '../../helpers/source-keys.ts';

const sources = loadShippedSources();
const NOW = 1_700_000_000_123;
const PUBLIC_URL = 'https://example.test/webhooks/r';
const UNSIGNED = {
  method: 'POST',
  url: '/webhooks/r?x=1',
  public_url: PUBLIC_URL,
  body: Buffer.from('{"a":"naïve","n":1}'),
  id: 'id-1',
  event: null,
};

function received(signed: SignedResult): LazyRequest {
  return new LazyRequest({
    method: 'POST',
    url: signed.url,
    headers: { ...signed.headers },
    rawHeaders: Object.entries(signed.headers).flat(),
    body: signed.body,
  });
}

test('every shipped scheme verifies its own signatures', () => {
  for (const { plan } of sources.lowered) {
    if (plan.verify === 'none') continue;
    const { signing, receiving } = keysOf(plan);
    const signed = signRequest(plan, signing, UNSIGNED, NOW);
    const secrets = [{ text: receiving, expires_at: null }];
    const authenticator = linkAuthenticator({ schemes: [plan], secrets, insecure: false, public_url: PUBLIC_URL });
    const verdict = authenticator.authenticate(received(signed), NOW);
    assert.deepEqual(verdict, { ok: true, scheme: plan.name, secret: 0 }, plan.name);
  }
});

/** The first event of a batch. */
function itemOf({ each }: SchemePlan, request: SignedRequest): SignedRequest {
  const items = each === undefined ? null : itemsOf(request.payload(), each, 9);
  return Array.isArray(items) ? withPayload(request, items[0]) : request;
}

test('puts the event type and the delivery id in the sender’s places', () => {
  for (const { plan } of sources.lowered) {
    const batch = plan.each?.reduceRight<unknown>(
      (item, list) => list.reduceRight<unknown>((inner, key) => ({ [key]: inner }), [item]),
      { a: 1 },
    );
    const body = Buffer.from(JSON.stringify(batch ?? {}));
    const unsigned = { ...UNSIGNED, ...(plan.each === undefined ? {} : { body }), event: 'thing.happened' };
    const signed = signRequest(plan, keysOf(plan).signing, unsigned, NOW);
    if (plan.event.length > 0)
      assert.equal(readFirst(plan.event, itemOf(plan, received(signed)), true), 'thing.happened', plan.name);
    if (plan.delivery.some((at) => at.in === 'header')) {
      assert.equal(readFirst(plan.delivery, received(signed), true), 'id-1', plan.name);
    }
  }
});

test('rejects a secret that is not a valid key, and a body that cannot contain the signature', () => {
  const airtight = {
    ...sources.plan('standard-webhooks'),
    secret: { strip: '', as: 'base64', otherwise: 'same' },
  } as const;
  assert.throws(() => signRequest({ ...airtight }, 'no base64!', UNSIGNED, NOW), SignError);
  assert.throws(() => signRequest(sources.plan('standard-webhooks-v1a'), 'whpk_AAAA', UNSIGNED, NOW), SignError);
});
