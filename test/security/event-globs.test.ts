/** Tests that event globs are matched in linear time for any event type, and match like picomatch. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import picomatch from 'picomatch';
import { pathGlob } from '../../compiler/globs/linear-glob.ts';
import { lowerEvents } from '../../compiler/lower/route.ts';
import { linkEvents } from '../../runtime/table/link-events.ts';
import type { TestFiles } from '../helpers/compile.ts';
import { compileFiles } from '../helpers/compile.ts';
import { cpuTime } from '../helpers/cpu-time.ts';

/** null: rejected. */
function matcher(glob: string): ((event: string) => boolean) | null {
  const { plan } = lowerEvents([glob]);
  return plan === null ? null : linkEvents(plan).accepts;
}

/** Events of senders of the catalog, and the globs that people write for them. */
const USUAL = [
  '*',
  'pull_request*',
  'pull_request{,_review}',
  '*_request',
  '*.created',
  'customer.*',
  'customer.subscription.*',
  '*.{created,updated}',
  '{issues,issue_comment}',
  'orders/*',
  '*/create',
  'orders/{create,paid}',
  'item:*',
  'v[12].*',
  '*Hook',
  '* Hook',
  '*[0-9]',
  '*{a,b}',
  '?ush',
  '*-*',
  '*_*_*',
  'repo:*:*',
  'com.example.*.v?',
  '*.v[0-9]',
  '*?',
  '*/*',
  '*/*.created',
]; // prettier-ignore

describe('the globs that people write', () => {
  for (const glob of USUAL) test(glob, () => assert.notEqual(matcher(glob), null));
});

const REFUSED = ['**', 'a/**', '!(push)*', '!push*', '*(a|b)', 'a\\d*', `${'a*'.repeat(200)}`, '[ab', '{a,b'];

describe('globs that need look-ahead are rejected', () => {
  for (const glob of REFUSED) {
    test(glob.slice(0, 20), () => {
      const { plan, problems } = lowerEvents(['push', glob]);
      assert.equal(plan, null);
      assert.deepEqual(
        problems.map(({ rule, path }) => [rule, path]),
        [['event-glob', [1]]],
      );
    });
  }
  test('with an alternative in the hint', () => {
    const route = 'a: { events: ["!push*"], prompt: x }';
    const config = `platforms: { webhook: { enabled: true, secret: env:A, routes: { ${route} } } }\n`;
    const [found] = compileFiles({ 'hookwright.yaml': config }).diagnostics;
    assert.match(found?.message ?? '', /"!push\*"/);
  });
});

const PIECES = [
  '*',
  '*',
  '*',
  '?',
  'a',
  'b',
  'ab',
  '.',
  '/',
  '-',
  '_',
  ':',
  ' ',
  '@',
  '+',
  '=',
  '$',
  '^',
  ',',
  '|',
  '!',
  '~',
  '{a,b}',
  '{a*,b}',
  '{.a,.b}',
  '{,a}',
  '{*,b}',
  '{a,b/*}',
  '{1..3}',
  '{a,{b,c}}',
  '[ab]',
  '[a.]',
  '[^a]',
  '[!a]',
  '[0-9]',
  '(a|b)',
  '(*|b)',
  '@(a|b)',
  '?(a)',
  '+(a)',
  '!(a)',
  '*(a)',
  '**',
  '\\*',
  '\\.',
  '\\[',
  '"',
  "'",
  '()',
  '[[:alpha:]]',
]; // prettier-ignore

const glob = fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 7 }).map((pieces) => pieces.join(''));
const shortText = fc
  .array(
    fc.constantFrom('a', 'b', 'ab', '.', '/', '-', '_', ':', '1', ' ', '*', '\n', '\r', '\u2028', 'é', '[', '!', '|'),
    {
      maxLength: 6,
    },
  )
  .map((pieces) => pieces.join(''));
/** As long as texts matched against globs, and similar to matches. */
const hostileText = fc
  .tuple(fc.constantFrom('a', 'ab', '.a', 'a.', 'aab', '1', 'a/'), fc.constantFrom('', '!', '\n', 'b', '/', '.'))
  .map(([unit, end]) => unit.repeat(256).slice(0, 256 - end.length) + end);

/** Number of globs; each is tried on a handful of texts. All 10,000 in the long form. */
const GLOBS = process.env.HOOKWRIGHT_LONG_TESTS === '1' ? 10_000 : 500;

test('random globs match like picomatch, or are rejected', () => {
  let taken = 0;
  const property = fc.property(glob, fc.array(shortText, { minLength: 4, maxLength: 6 }), (pattern, texts) => {
    fc.pre(/[*?[{]/.test(pattern));
    const accepts = matcher(pattern);
    if (accepts === null) return;
    taken++;
    const regex = picomatch.makeRe(pattern, { strictBrackets: true });
    assert.ok(regex);
    for (const text of texts) assert.equal(accepts(text), regex.test(text), JSON.stringify([pattern, text]));
  });
  fc.assert(property, { numRuns: GLOBS });
  assert.ok(taken > GLOBS * 0.4, `${taken} taken`);
});

test('random globs with many stars are fast on any text', () => {
  const stars = fc.array(fc.constantFrom('*', 'a*', '*a', '*b*'), { minLength: 1, maxLength: 12 });
  const patterns = fc.tuple(glob, stars).map(([start, rest]) => start + rest.join(''));
  for (const [pattern, text] of fc.sample(fc.tuple(patterns, hostileText), GLOBS)) {
    const accepts = matcher(pattern);
    if (accepts === null) continue;
    // The best of three: a slow match is slow each time.
    const spent = Math.min(...[1, 2, 3].map(() => cpuTime(() => accepts(text))));
    assert.ok(spent < 100, `${JSON.stringify([pattern, text])}: ${spent} ms`);
  }
});

test('a hostile event type takes no longer than any other', () => {
  const accepts = matcher('*a*a*a*a*a*a*a*a*b');
  assert.ok(accepts);
  const spent = cpuTime(() => assert.equal(accepts('a'.repeat(256)), false));
  assert.ok(spent < 250, `${spent} ms`);
});

/** Globs of wildcards that a backtracking expression tries in every way on the event names of the catalog. */
const HOSTILE = [
  "'?*'".repeat(60),
  '*?'.repeat(120),
  '*?'.repeat(8),
  '*a'.repeat(7),
  '*[a-z_]'.repeat(8),
  '{*,?*}'.repeat(4),
];
/** Far more than any needs, and far less than the fastest backtracking one needed. */
const MOST_MS = 2500;

describe('a config of hostile globs is checked in time', () => {
  const webhook = (more: string): string => `platforms: { webhook: { enabled: true, secret: env:A, ${more} } }\n`;
  const rulesIn = (files: TestFiles): readonly string[] => {
    let rules: readonly string[] = [];
    const spent = cpuTime(() => {
      rules = compileFiles(files).diagnostics.map(({ rule }) => rule);
    });
    assert.ok(spent < MOST_MS, `${Math.round(spent)} ms`);
    return rules;
  };
  for (const glob of HOSTILE) {
    const isRefused = glob.length > 60;
    const name = `${glob.slice(0, 8)} (${glob.length})`;
    for (const source of ['', 'source: github, ']) {
      test(`${name} of a route${source && ' that pins its source'}`, () => {
        const config = webhook(`routes: { a: { ${source}events: [${JSON.stringify(glob)}], prompt: "{t}" } }`);
        assert.equal(rulesIn({ 'hookwright.yaml': config }).includes('event-glob'), isRefused);
      });
    }
    test(`${name} of a subscription`, () => {
      const text = JSON.stringify({ evil: { events: [glob], prompt: '{t}', secret: 'kd83Hs0-qP2xVb71_tYw' } });
      const files = { 'hookwright.yaml': webhook('routes: {}'), '~/.hookwright/webhook_subscriptions.json': text };
      assert.equal(rulesIn(files).includes('subscription-rejected'), isRefused);
    });
    test(`${name} of an include`, () => {
      const files = { 'hookwright.yaml': `include: [${JSON.stringify(`x/${glob}`)}]\n`, [`x/${'a_'.repeat(100)}`]: '' };
      assert.equal(rulesIn(files).includes('wrong-type'), isRefused);
    });
  }

  test('a hundred routes of them', () => {
    const routes = Array.from({ length: 100 }, (_, at) => `r${at}: { events: ["*?*?*?*?*?*?*${at}"], prompt: x }`);
    rulesIn({ 'hookwright.yaml': webhook(`routes: { ${routes.join(', ')} }`) });
  });
});

test('globs of files match like picomatch', () => {
  const GLOBS = [
    '**',
    '**/*.yaml',
    '**/b',
    '**.yaml',
    '*/*.yaml',
    '{a,b/c}.yaml',
    '{a,b}/**/*.yaml',
    'a*/**',
    '[ab].yaml',
    '**/**/a*',
    '?/**/b',
  ];
  const NAMES = ['a', 'b', 'a.yaml', 'b.yaml', '.a.yaml', '.git', 'c.yaml', 'ab'];
  const below = NAMES.flatMap((name) => NAMES.map((folder) => `${folder}/${name}`));
  const paths = [...NAMES, ...below, ...below.flatMap((path) => ['a', '.git'].map((folder) => `${folder}/${path}`))];
  for (const pattern of GLOBS) {
    const found = pathGlob(pattern);
    assert.ok(!(found instanceof Error), pattern);
    const base = found.base === '' ? '' : `${found.base}/`;
    const expected = paths.filter((path) => picomatch(pattern)(path));
    const matched = paths.filter((path) => path.startsWith(base) && found.matches(path.slice(base.length)));
    assert.deepEqual(matched, expected, pattern);
  }
});
