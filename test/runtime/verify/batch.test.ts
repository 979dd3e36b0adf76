/** Tests that a request with several signed items is verified item by item. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lowerSource } from '../../../compiler/lower/source.ts';
import { signRequest } from '../../../modules/workbench/cli/test-event/sign-request.ts';
import { identityLinker } from '../../../runtime/table/link-identity.ts';
import { linkAuthenticator } from '../../../runtime/verify/authenticator.ts';
import { itemPath, MAX_ITEMS } from '../../../runtime/verify/content.ts';
import { LazyRequest, partsOf } from '../../../runtime/verify/request.ts';
import type { SchemePlan, SourceFile } from '../../../schemas/generated/types.ts';
import { loadShippedSources } from '../../helpers/catalog-sources.ts';
import { vectors } from '../../helpers/vectors.ts';

const sources = loadShippedSources();
const adyen = sources.plan('adyen-payments');
const vector = vectors.find(({ scheme, valid }) => sources.plan(scheme).name === 'adyen-payments' && valid);
assert(vector !== undefined);
const SECRET = vector.secret;

interface Item {
  readonly NotificationRequestItem: { readonly [key: string]: unknown };
}
const [ITEM] = (JSON.parse(vector.body ?? '') as { notificationItems: readonly [Item] }).notificationItems;

const changed = (change: Readonly<Record<string, unknown>>): Item => ({
  NotificationRequestItem: { ...ITEM.NotificationRequestItem, ...change },
});

function judge(plan: SchemePlan, body: unknown, secret = SECRET): string {
  const parts = partsOf('POST', '/r', [['content-type', 'application/json']], Buffer.from(JSON.stringify(body)));
  const secrets = [{ text: secret, expires_at: null }];
  const authenticator = linkAuthenticator({ schemes: [plan], secrets, insecure: false, public_url: null });
  const verification = authenticator.authenticate(new LazyRequest(parts), 0);
  return verification.ok ? 'ok' : verification.reason;
}

it('does not verify an item that is not a member of the list', () => {
  const items = { 0: ITEM, ...changed({ success: 'false' }) };
  assert.equal(judge(adyen, { live: 'false', notificationItems: items }), 'missing_signature');
  assert.equal(judge(adyen, { live: 'false', notificationItems: ITEM }), 'missing_signature');
});

describe('a batch of Adyen', () => {
  const of = (...items: readonly unknown[]): string => judge(adyen, { live: 'false', notificationItems: items });
  const forged = changed({ success: 'false' });
  const unsigned = changed({ additionalData: {} });
  const cases: readonly (readonly [string, readonly unknown[], string])[] = [
    ['one item', [ITEM], 'ok'],
    ['two items, both signed', [ITEM, ITEM], 'ok'],
    ['a forged second item', [ITEM, forged], 'mismatch'],
    ['a forged first item', [forged, ITEM], 'mismatch'],
    ['a forged item in the middle', [ITEM, forged, ITEM], 'mismatch'],
    ["an item without a signature, which the vendor's libraries refuse", [ITEM, unsigned], 'missing_signature'],
    ['an item of another form', [ITEM, { other: 1 }], 'missing_signature'],
    ['an item that is none', [ITEM, null], 'missing_signature'],
    ['a list in the place of an item', [ITEM, [ITEM]], 'missing_signature'],
    [
      'a signature that cannot be one',
      [ITEM, changed({ additionalData: { hmacSignature: 'AAAA' } })],
      'malformed_signature',
    ],
    ['no item', [], 'missing_signature'],
    ['more items than any sender sends', Array.from({ length: MAX_ITEMS + 1 }, () => ITEM), 'too_many_parts'],
  ];
  for (const [what, items, expected] of cases) it(`${what}: ${expected}`, () => assert.equal(of(...items), expected));

  it('accepts an object instead of the list', () => {
    assert.equal(judge(adyen, { notificationItems: { 0: ITEM } }), 'ok');
    assert.equal(judge(adyen, { notificationItems: { 0: ITEM, 1: ITEM } }), 'ok');
    assert.equal(judge(adyen, { notificationItems: { 0: ITEM, 1: forged } }), 'mismatch');
    assert.equal(judge(adyen, { notificationItems: { 0: ITEM, other: unsigned } }), 'missing_signature');
    assert.equal(judge(adyen, { notificationItems: ITEM }), 'missing_signature');
    assert.equal(judge(adyen, { notificationItems: { 1: ITEM } }), 'missing_signature');
    assert.equal(judge(adyen, []), 'missing_signature');
    assert.equal(judge(adyen, null), 'missing_signature');
  });
});

describe('the delivery id of a batch', () => {
  const identify = identityLinker({ schemes: { [adyen.name]: adyen }, default_event: [], default_delivery: [] });
  const idOf = (...items: readonly unknown[]): string => {
    const body = Buffer.from(JSON.stringify({ notificationItems: items }));
    const parts = partsOf('POST', '/r', [['content-type', 'application/json']], body);
    return identify(null, false)(adyen.name).digest?.(new LazyRequest(parts)) ?? '';
  };
  const other = changed({ pspReference: 'another' });

  it('depends on the signed values of each item', () => {
    assert.equal(new Set([idOf(ITEM), idOf(other), idOf(ITEM, other), idOf(other, ITEM), idOf(ITEM, ITEM)]).size, 5);
  });
  it('does not depend on anything else', () => {
    assert.equal(idOf(ITEM), idOf(changed({ reason: 'unsigned' })));
    assert.equal(idOf(ITEM, other), idOf(ITEM, changed({ pspReference: 'another', reason: 'unsigned' })));
  });
});

const own = (file: SourceFile): SchemePlan => {
  const { plan, problems } = lowerSource('own', file);
  assert.deepEqual(problems, []);
  assert(plan !== null);
  return plan;
};

describe('a batch of a custom source', () => {
  const nested = own({
    verify: 'hmac-sha256',
    signature: { json: 'groups.0.items.0.sig' },
    signed: '{json:groups.0.items.0.id}',
  });
  const array = own({ verify: 'hmac-sha256', signature: { json: '0.sig' }, signed: '{json:0.id}:{json:0.n}' });
  const tokens = own({ verify: 'token', signature: { json: 'value.0.clientState' } });
  const whole = own({ verify: 'hmac-sha256', signature: { json: 'signatures.0.value' }, signed: '{json:payload}' });
  const sign = (plan: SchemePlan, body: unknown): unknown => {
    const unsigned = { method: 'POST', url: '/r', public_url: null, id: 'i', event: null };
    const { body: bytes } = signRequest(plan, SECRET, { ...unsigned, body: Buffer.from(JSON.stringify(body)) }, 0);
    return JSON.parse(bytes.toString());
  };

  it('knows the sources with signed items', () => {
    assert.deepEqual(itemPath(nested), ['groups', '0', 'items', '0']);
    assert.deepEqual(itemPath(array), ['0']);
    assert.deepEqual(itemPath(tokens), ['value', '0']);
    assert.equal(itemPath(whole), null);
    const shipped = sources.lowered.flatMap(({ name, plan }) => (itemPath(plan) === null ? [] : [name]));
    assert.deepEqual(shipped, ['adyen-payments']);
  });

  it('verifies the items that `webhook test` signs', () => {
    const bodies: readonly (readonly [SchemePlan, unknown, (signed: never) => void])[] = [
      [
        nested,
        { groups: [{ items: [{ id: 1 }, { id: 2 }] }, { items: [{ id: 3 }] }] },
        ({ groups }: { groups: [unknown, { items: [{ id: number }] }] }) => {
          groups[1].items[0].id = 4;
        },
      ],
      [
        array,
        [
          { id: 1, n: 1 },
          { id: 2, n: 2 },
        ],
        ([, second]: [unknown, { n: number }]) => {
          second.n = 3;
        },
      ],
      [
        tokens,
        { value: [{ a: 1 }, { a: 2 }] },
        ({ value }: { value: [unknown, { clientState: string }] }) => {
          value[1].clientState = 'other';
        },
      ],
    ];
    for (const [plan, body, forge] of bodies) {
      const signed = sign(plan, body);
      assert.equal(judge(plan, signed), 'ok');
      forge(signed as never);
      assert.equal(judge(plan, signed), 'mismatch');
    }
    const one = sign(whole, { payload: 'p', signatures: [{ value: '' }, { value: 'of another key' }] });
    assert.equal(judge(whole, one), 'ok');
  });
});
