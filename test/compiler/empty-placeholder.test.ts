/**
 * An empty or malformed placeholder is an error, at its position, wherever the text names something. In a text for people an
 * empty one is literal.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileConfig } from '../helpers/compile.ts';
import { TARGET_CASES } from '../helpers/target-cases.ts';
import { shippedTargets } from '../helpers/targets.ts';

const TELEGRAM = { enabled: true, token: 'env:T', home_channel: '7' };

/** The errors that have the text at their position, and how far into the value they begin. */
function found(platforms: object, more: object = {}): readonly string[] {
  const text = JSON.stringify({ ...more, platforms: { telegram: TELEGRAM, ...platforms } });
  return compileConfig(text)
    .diagnostics.filter(({ severity }) => severity === 'error')
    .map(({ source, range }) => source.text.slice(range.start, range.end));
}

const routeOf = (route: object) => ({
  webhook: { enabled: true, secret: 'env:S', routes: { a: { prompt: 'x', agent: 'none', ...route } } },
});

const EMPTY = ['{}', '{ }', '-100{}', '{n}{}'];
const MALFORMED = ['{ ops.x }', '{ops..x}', '{#each}', '{ops'];

describe('an empty placeholder is refused in', () => {
  const job = { schedule: '0 9 * * *', prompt: 'x', agent: 'none' };
  const to = (chat_id: string) => ({ deliver: 'telegram', deliver_extra: { chat_id } });
  const PLACES: Readonly<Record<string, (text: string) => readonly string[]>> = {
    'an address': (text) => found(routeOf(to(text))),
    'a thread': (text) =>
      found(routeOf({ deliver: 'telegram', deliver_extra: { chat_id: '7', message_thread_id: text } })),
    'a group of a target': (text) =>
      found(routeOf({ deliver: ['telegram', 'log'], deliver_extra: { telegram: { chat_id: text } } })),
    on_failure: (text) => found(routeOf({ agent: undefined, on_failure: to(text) })),
    'an output': (text) =>
      found(routeOf({ agent: undefined, outputs: { page: { deliver: 'telegram', chat_id: text, max: 1 } } })),
    'a coalesce key': (text) => found(routeOf({ agent: undefined, coalesce: { key: text } })),
    'a session key': (text) => found(routeOf({ agent: undefined, session_key: text })),
  };
  for (const [place, errorsOf] of Object.entries(PLACES))
    test(place, () => {
      assert.deepEqual(errorsOf('{n}'), []);
      for (const text of EMPTY) assert.deepEqual(errorsOf(text), [JSON.stringify(text)]);
      for (const text of MALFORMED) assert.ok(errorsOf(text).includes(text), text);
    });

  // No event fills these, so any placeholder is refused.
  const OTHERS: Readonly<Record<string, (text: string) => readonly string[]>> = {
    'a job': (text) => found({}, { jobs: { j: { ...job, ...to(text) } } }),
    alerts: (text) => found({}, { gateway: { alerts: to(text) } }),
    approvals: (text) => found({}, { gateway: { approvals: to(text) } }),
    'a home channel': (text) => found({ telegram: { ...TELEGRAM, home_channel: text } }),
    'the URL of a service': (text) =>
      found({ http: { enabled: true, url: `https://example.org/${text}`, secret: 'env:H' } }),
  };
  for (const [place, errorsOf] of Object.entries(OTHERS))
    test(place, () => {
      for (const text of EMPTY) assert.ok(errorsOf(text).length > 0, text);
      assert.equal(errorsOf('{}').length, 1);
      for (const text of MALFORMED)
        assert.ok(
          errorsOf(text).some((found) => found.includes(text)),
          text,
        );
    });
});

/** Texts for people. */
const TITLES = ['subject', 'title', 'name'];

describe('an empty placeholder is refused in every address of', () => {
  for (const { target, name, extra = {} } of TARGET_CASES)
    test(`${target}: ${name}`, () => {
      for (const key of Object.keys(extra)) {
        if (TITLES.includes(key)) continue;
        const platforms = {
          ...routeOf({ deliver: target, deliver_extra: { ...extra, [key]: '{}' } }),
          [shippedTargets()[target]?.platform ?? target]: { enabled: true },
        };
        assert.ok(found(platforms).includes('"{}"'), key);
      }
    });
});

test('a text for people or agents may contain empty braces', () => {
  const email = { enabled: true, from: 'a@example.org', smtp_host: 'mail.example.org' };
  const extra = { chat_id: 'ops@example.org', subject: 'interface{} in {repository.name}' };
  const route = { deliver: 'email', deliver_extra: extra, prompt: 'return {}; {n}' };
  assert.deepEqual(found({ ...routeOf(route), email }), []);
});
