/** Tests properties of every shipped scheme and any input: it never throws, and accepts only the signed content. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Authenticator } from '../../../runtime/verify/authenticator.ts';
import { linkAuthenticator } from '../../../runtime/verify/authenticator.ts';
import type { RequestParts } from '../../../runtime/verify/request.ts';
import { LazyRequest, splitParts } from '../../../runtime/verify/request.ts';
import type { SchemePlan } from '../../../schemas/generated/types.ts';
import { anyText } from '../../helpers/any-text.ts';
import { loadShippedSources } from '../../helpers/catalog-sources.ts';
import { vectorRequest, vectors } from '../../helpers/vectors.ts';

interface Sample {
  readonly plan: SchemePlan;
  readonly parts: RequestParts;
  readonly authenticator: Authenticator;
  readonly now: number;
}

const sources = loadShippedSources();

/** One genuine request of every shipped scheme. */
const samples: readonly Sample[] = sources.lowered.flatMap(({ name, plan }) => {
  const vector = vectors.find(({ scheme, valid }) => valid && sources.plan(scheme).name === name);
  if (vector === undefined) return [];
  const { public_url, ...parts } = vectorRequest(vector);
  const secrets = [{ text: vector.secret, expires_at: null }];
  const authenticator = linkAuthenticator({ schemes: [plan], secrets, insecure: false, public_url });
  return [{ plan, parts, authenticator, now: (vector.now ?? 0) * 1000 }];
});

function accepts({ authenticator, now, parts }: Sample, changes: Partial<RequestParts> = {}): boolean {
  return authenticator.authenticate(new LazyRequest({ ...parts, ...changes }), now).ok;
}

function withHeader(parts: RequestParts, name: string, value: string): Partial<RequestParts> {
  const others = parts.rawHeaders.filter(
    (_text, index) => parts.rawHeaders[index - (index % 2)]?.toLowerCase() !== name,
  );
  return { headers: { ...parts.headers, [name]: value }, rawHeaders: [...others, name, value] };
}

const BINDS_BODY = samples.filter(
  ({ plan }) => plan.body_hash !== null || plan.signed.some(({ kind }) => kind === 'body'),
);
/** Headers that a scheme reads, besides the body that some read too. */
const headersOf = ({ plan, parts }: Sample): string[] => {
  const places = [...plan.signature, plan.timestamp?.at ?? null, plan.id];
  const names = new Set(places.flatMap((at) => (at?.in === 'header' ? [at.name] : [])));
  return [...names].filter((name) => parts.headers[name] !== undefined);
};

const sample = fc.constantFrom(...samples);
const latin1 = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  maxLength: 200,
});
const oddText = fc.oneof(
  latin1,
  anyText(),
  fc.constantFrom(
    ...samples.flatMap(({ parts }) => Object.values(parts.headers).filter((value) => typeof value === 'string')),
  ),
);

test('every shipped scheme accepts its genuine request', () => {
  assert.equal(samples.length, sources.lowered.length);
  for (const each of samples) assert.equal(accepts(each), true, each.plan.name);
});

test('no headers and no body make a verifier throw', () => {
  const property = fc.property(
    sample,
    fc.array(oddText, { maxLength: 4 }),
    fc.uint8Array({ maxLength: 100 }),
    oddText,
    (each, values, body, query) => {
      const headers = Object.fromEntries(headersOf(each).map((name, index) => [name, values[index]]));
      const rawHeaders = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
      const changed = { headers, rawHeaders, body: Buffer.from(body), url: `/?${query}` };
      assert.equal(typeof accepts(each, changed), 'boolean');
    },
  );
  fc.assert(property, { seed: 2, numRuns: 2000 });
});

test('a body with one byte changed, added or removed is rejected if the scheme signs it', () => {
  const property = fc.property(
    fc.constantFrom(...BINDS_BODY),
    fc.nat(),
    fc.integer({ min: 1, max: 255 }),
    fc.constantFrom('change', 'insert', 'remove'),
    (each, seed, delta, how) => {
      const { body } = each.parts;
      const at = seed % body.length;
      const byte = Buffer.from([((body[at] ?? 0) + delta) % 256]);
      const rest = body.subarray(how === 'insert' ? at : at + 1);
      const mutated = Buffer.concat([body.subarray(0, at), how === 'remove' ? Buffer.alloc(0) : byte, rest]);
      fc.pre(!mutated.equals(body));
      assert.equal(accepts(each, { body: mutated }), false, `${each.plan.name} at ${at}`);
    },
  );
  fc.assert(property, { seed: 3, numRuns: 1500 });
});

test('a signature, timestamp or id with one changed character is rejected', () => {
  const property = fc.property(
    sample,
    fc.nat(),
    fc.nat(),
    // Headers contain only one-byte characters.
    fc.oneof(fc.integer({ min: 0x21, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff })),
    (each, which, seed, code) => {
      const names = headersOf(each);
      fc.pre(names.length > 0);
      const name = names[which % names.length] ?? '';
      const value = String(each.parts.headers[name]);
      const at = seed % value.length;
      const mutated = value.slice(0, at) + String.fromCharCode(code) + value.slice(at + 1);
      // Hex has two spellings; a list may contain other versions, wrong signatures and spaces beside the right one.
      fc.pre(mutated.toLowerCase() !== value.toLowerCase() && !isBesideTheRightOne(each.plan, name, value));
      fc.pre(value[at] !== ' ' || !isList(each.plan, name));
      assert.equal(accepts(each, withHeader(each.parts, name, mutated)), false, `${each.plan.name}: ${mutated}`);
    },
  );
  fc.assert(property, { seed: 4, numRuns: 3000 });
});

const isList = (plan: SchemePlan, name: string): boolean =>
  plan.signature.some((place) => place.name === name && place.split !== '');

/** True if a header has elements that the verifier rightly ignores. */
function isBesideTheRightOne(plan: SchemePlan, name: string, value: string): boolean {
  const at = plan.signature.find((place) => place.name === name);
  if (plan.signature.length > 1) return true;
  if (at === undefined || at.split === '') return false;
  const wanted = [at.prefix, plan.timestamp?.at.prefix ?? at.prefix];
  const parts = value.split(at.split).map((part) => part.trim());
  return (
    parts.some((part) => !wanted.some((prefix) => part.startsWith(prefix))) ||
    parts.filter((part) => part.startsWith(at.prefix)).length > 1
  );
}

/** The rejection by the head alone. The body cannot be read: it has not arrived yet. */
function refusedByHead({ authenticator, now, parts }: Sample, changes: Partial<RequestParts> = {}): string | null {
  const request = new LazyRequest({ ...parts, ...changes, body: Buffer.alloc(0) });
  request.payload = () => assert.fail('reads the body');
  request.form = () => assert.fail('reads the body');
  return authenticator.refuseByHead(request, now)?.reason ?? null;
}

const SIGNED_IN_HEAD = samples.filter(({ plan }) => plan.signature.every((at) => at.in === 'header'));

test('a malformed signature in a header is rejected before the body is read', () => {
  assert.ok(SIGNED_IN_HEAD.length > 0.8 * samples.length, String(SIGNED_IN_HEAD.length));
  for (const each of samples) assert.equal(refusedByHead(each), null, `${each.plan.name}: a genuine one`);
  for (const each of SIGNED_IN_HEAD) {
    for (const odd of [
      () => '00',
      () => '',
      (own: string) => `${own}0`,
      (own: string) => own.slice(0, -3),
      NO_ALPHABET,
    ]) {
      const parts = { ...each.parts };
      for (const at of each.plan.signature) {
        const value = String(parts.headers[at.name] ?? '');
        const own = splitParts(at, value);
        assert.ok(Array.isArray(own));
        const changed = own.reduce((text, part) => text.replaceAll(part, odd(part)), value);
        if (own.length > 0) Object.assign(parts, withHeader(parts, at.name, changed));
      }
      assert.notEqual(refusedByHead(each, parts), null, `${each.plan.name}: ${odd('x')}`);
    }
  }
});

const NO_ALPHABET = (own: string): string => '\xff'.repeat(own.length);

test('a rejection by the head is the same with every body', () => {
  const property = fc.property(sample, fc.nat(), oddText, fc.nat(), fc.boolean(), (each, which, text, cut, whole) => {
    const names = headersOf(each);
    fc.pre(names.length > 0);
    const name = names[which % names.length] ?? '';
    const value = String(each.parts.headers[name]);
    const changes = withHeader(each.parts, name, whole ? text : value.slice(0, cut % value.length) + text);
    const reason = refusedByHead(each, changes);
    if (reason === null) return;
    const { authenticator, now, parts } = each;
    const found = authenticator.authenticate(new LazyRequest({ ...parts, ...changes }), now);
    assert.deepEqual(found.ok ? null : found.reason, reason, each.plan.name);
  });
  fc.assert(property, { seed: 5, numRuns: 3000 });
});

test('a repeated header is rejected, with the same or another value', () => {
  for (const each of samples) {
    for (const name of headersOf(each)) {
      const value = String(each.parts.headers[name]);
      for (const second of [value, 'x']) {
        const rawHeaders = [...each.parts.rawHeaders, name.toUpperCase(), second];
        assert.equal(accepts(each, { rawHeaders }), false, `${each.plan.name}: ${name}`);
      }
    }
  }
});

test('a header joined with itself is rejected, unless it is a list of signatures with a valid one', () => {
  for (const each of samples) {
    for (const name of headersOf(each)) {
      const at = each.plan.signature.find((place) => place.name === name);
      const { [name]: _merged, ...others } = each.parts.headers;
      const isBeside = accepts(each, { headers: others });
      // A comma that also separates timestamps makes two of them.
      const isTwice = at?.split === ',' && each.plan.timestamp?.at.name === name;
      const ownList = (at?.split ?? '') !== '' && !isTwice;
      const value = String(each.parts.headers[name]);
      const merged = withHeader(each.parts, name, `${value}, ${value}`);
      assert.equal(accepts(each, merged), ownList || isBeside, `${each.plan.name}: ${name}`);
    }
  }
});

test('no scheme accepts what another one signed with the same secret', () => {
  const inHeaders = samples.filter(({ plan }) => plan.signature.every((at) => at.in === 'header'));
  for (const each of inHeaders) {
    const others = inHeaders.filter(({ plan }) => plan.signature[0]?.name !== each.plan.signature[0]?.name);
    for (const other of others)
      assert.equal(accepts(other, { headers: each.parts.headers, rawHeaders: each.parts.rawHeaders }), false);
  }
});
