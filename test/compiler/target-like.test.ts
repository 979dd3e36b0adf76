/** `like` of a target names one beside it: in its folder, or in the configuration. Any other name is an error there, and the only one. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileFiles } from '../helpers/compile.ts';

const MAIN = 'platforms: { webhook: { enabled: true, secret: env:S, routes: { a: { prompt: x, deliver: local } } } }\n';
const FORM = { address: { chat_id: { help: 'Chat.' } }, request: { path: '/x/{token}', json: { text: '{text}' } } };
const OWN = { base: 'https://chat.example', settings: { token: { help: 'Token.', secret: true } } };
const FIRST = { title: 'First', ...OWN, ...FORM };

type Targets = Readonly<Record<string, object>>;

/** Where the targets are defined. */
const PLACES: Readonly<Record<string, (targets: Targets) => Readonly<Record<string, string>>>> = {
  'a folder': (targets) => ({
    'hookwright.yaml': MAIN,
    ...Object.fromEntries(
      Object.entries(targets).map(([name, file]) => [
        `~/.hookwright/catalog/targets/${name}.yaml`,
        JSON.stringify(file),
      ]),
    ),
  }),
  'a configuration': (targets) => ({ 'hookwright.yaml': `${MAIN}targets: ${JSON.stringify(targets)}\n` }),
};

for (const [place, filesOf] of Object.entries(PLACES))
  describe(`in ${place}`, () => {
    const errors = (targets: Targets) =>
      compileFiles(filesOf(targets)).diagnostics.map(
        ({ rule, source, range }) => `${rule} ${source.text.slice(range.start, range.end)}`,
      );

    test('a target inherits from the one beside it', () => {
      assert.deepEqual(errors({ first: FIRST, second: { title: 'Second', like: 'first', ...FORM } }), []);
    });

    for (const more of [{}, OWN])
      for (const like of ['telegram', 'nosuch', 'second', 'third', 'constructor'])
        test(`${like} is not beside it${more === OWN ? ', also if nothing is to be inherited' : ''}`, () => {
          const second = { title: 'Second', like, ...more, ...FORM };
          const third = { title: 'Third', like: 'first', ...FORM };
          assert.deepEqual(errors({ first: FIRST, second, third }), [`target-driver "${like}"`]);
        });
  });

test('a configuration cannot name a target of the folder, nor the folder one of the configuration', () => {
  const second = { title: 'Second', like: 'first', ...FORM };
  const both = (inFolder: Targets, inConfig: Targets) =>
    compileFiles({ ...PLACES['a folder']?.(inFolder), ...PLACES['a configuration']?.(inConfig) });
  for (const { diagnostics } of [both({ first: FIRST }, { second }), both({ second }, { first: FIRST })])
    assert.deepEqual(
      diagnostics.map(({ rule }) => rule),
      ['target-driver'],
    );
});
