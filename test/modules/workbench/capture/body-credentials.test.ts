/** Tests that credentials in bodies are not captured, for each shipped source and for a custom source. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it, test } from 'node:test';
import { lowerSource } from '../../../../compiler/lower/source.ts';
import { withoutBodyCredentials } from '../../../../modules/workbench/runtime/capture/capture-thread.ts';
import type { BodyCredentials } from '../../../../modules/workbench/runtime/capture/record.ts';
import {
  credentialPlaces,
  pathWithoutCredentials,
  withoutCredentials,
} from '../../../../modules/workbench/runtime/capture/record.ts';
import { BODY_MARKER } from '../../../../modules/workbench/runtime/removed.ts';
import type { LocatorPlan } from '../../../../schemas/generated/types.ts';
import { loadShippedSources } from '../../../helpers/catalog-sources.ts';
import { serveKeeping } from '../../../helpers/keeping.ts';

const CANARY = 'https://canary.example/a/b?c=1&d=€';
const json = (path: string): LocatorPlan => ({ in: 'json', name: '', path: path.split('.'), split: '', prefix: '' });

function strip(
  body: string,
  paths: readonly string[],
  type = 'application/json',
  format: BodyCredentials['format'] = null,
): string | null {
  const head = { method: 'POST', path: '/r', headers: [['content-type', type]] as const };
  const captured = withoutBodyCredentials(Buffer.from(body), head, { places: paths.map(json), format });
  return captured === null ? null : captured.toString();
}

/** Returns a payload with the canary at this path. `*` is the second item of a list, `**` an object or nothing. */
function payloadAt(path: readonly string[], depth: number): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return CANARY;
  if (key === '**') return depth === 0 ? payloadAt(rest, depth) : { some: [{ thing: payloadAt(rest, depth) }] };
  return key === '*' ? ['first', payloadAt(rest, depth)] : { before: 'kept', [key]: payloadAt(rest, depth) };
}

describe('shipped sources', () => {
  for (const { name, plan } of loadShippedSources().lowered) {
    for (const at of plan.credentials ?? []) {
      if (at.in === 'form') {
        it(`${name}: the form's ${at.name}`, () => {
          const body = Buffer.from(new URLSearchParams({ a: '1', [at.name]: CANARY }).toString());
          const headers = [['content-type', 'application/x-www-form-urlencoded']] as const;
          const captured = withoutBodyCredentials(
            body,
            { method: 'POST', path: '/r', headers },
            { places: [at], format: null },
          );
          assert.equal(decodeURIComponent(captured?.toString() ?? 'canary').includes('canary'), false);
        });
      }
      if (at.in !== 'json') continue;
      it(`${name}: ${at.path.join('.')}`, () => {
        for (const depth of [0, 1]) {
          const payload = payloadAt(at.path, depth);
          const bodies: readonly (readonly [string, string])[] = [
            [JSON.stringify(payload), 'application/json'],
            [JSON.stringify(payload).replaceAll('/', '\\/').replaceAll('€', '\\u20AC'), 'application/json'],
            [JSON.stringify(payload, null, 2), 'application/json; charset=utf-8'],
            [new URLSearchParams({ payload: JSON.stringify(payload) }).toString(), 'application/x-www-form-urlencoded'],
          ];
          for (const [body, type] of bodies) {
            const captured = strip(body, [at.path.join('.')], type);
            assert.ok(captured !== null);
            assert.equal(decodeURIComponent(captured).includes('canary'), false, captured);
            assert.ok(captured.includes(BODY_MARKER));
          }
        }
      });
    }
  }
});

describe('bodies', () => {
  const cases: readonly (readonly [string, string | null, string | null])[] = [
    ['a form', strip('token=canary-1&a=1', ['token'], 'application/x-www-form-urlencoded'), `token=${BODY_MARKER}&a=1`],
    [
      'a field that is repeated',
      strip('token=canary-1&token=canary-2', ['token'], 'application/x-www-form-urlencoded'),
      `token=${BODY_MARKER}&token=${BODY_MARKER}`,
    ],
    [
      'XML',
      strip('<a><token>canary-1</token></a>', ['a.token'], 'text/xml', 'xml'),
      `<a><token>${BODY_MARKER}</token></a>`,
    ],
    [
      'the same text elsewhere',
      strip('{"t":"otp 4711","c":"4711","n":47112}', ['c']),
      `{"t":"otp ${BODY_MARKER}","c":"${BODY_MARKER}","n":47112}`,
    ],
    ['a number, which leaves no JSON', strip('{"pin":123456}', ['pin']), null],
    ['a text that is too short', strip('{"pin":"12"}', ['pin']), null],
    ['a body that cannot be parsed', strip('{"token":"canary-1"', ['token']), null],
    [
      'nothing at the place',
      strip('{"token":null,"a":[1]}', ['token', 'a.token', 'b.*', '**.c']),
      '{"token":null,"a":[1]}',
    ],
    ['an empty text', strip('{"token":""}', ['token']), '{"token":""}'],
    ['keys that objects inherit', strip('{"a":1}', ['__proto__.a', 'constructor.name', 'length']), '{"a":1}'],
  ];
  for (const [what, kept, expected] of cases) it(what, () => assert.equal(kept, expected));

  it('terminates for deep nesting', () => {
    const body = `${'{"a":'.repeat(90)}{"token":"canary-1"}${'}'.repeat(90)}`;
    assert.equal(strip(body, ['**.token'])?.includes('canary'), false);
  });
});

test('a source also defines headers and parameters', () => {
  const { plan, problems } = lowerSource('own', {
    verify: 'none',
    credentials: [{ header: 'X-Reply-To' }, { query: 'reply' }],
  });
  assert.deepEqual(problems, []);
  assert(plan !== null);
  const places = credentialPlaces([plan]);
  assert.deepEqual(withoutCredentials(['X-REPLY-TO', 'canary'], places), [['X-REPLY-TO', '[removed: credential]']]);
  assert.equal(pathWithoutCredentials('/r?reply=canary&a=1', places).includes('canary'), false);
});

test('a route reads values that are not captured', async (t) => {
  const { post, last, capture, dispatcher, path, log } = await serveKeeping(t, { routes: { ci: { source: 'slack' } } });
  const body = { token: 'canary-1', response_urls: [{ response_url: 'https://h/canary-2' }], other: 'kept' };
  await post('/webhooks/ci', body);
  const captured = await last();
  assert.equal(captured.outcome, 'accepted');
  assert.match(JSON.stringify(dispatcher.handed), /canary-1/);
  const text = Buffer.from(captured.body ?? '', 'base64').toString();
  const expected = { token: BODY_MARKER, response_urls: [{ response_url: BODY_MARKER }], other: 'kept' };
  assert.equal(text, JSON.stringify(expected));
  await capture.close();
  const files = [path, `${path}-wal`].filter((file) => existsSync(file)).map((file) => readFileSync(file, 'latin1'));
  const written = [JSON.stringify(captured), JSON.stringify(log.lines), ...files];
  assert.deepEqual(
    written.filter((each) => each.includes('canary')),
    [],
  );
});
