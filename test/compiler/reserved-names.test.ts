/** Names that a configuration cannot choose: the built-in output, and headers that the gateway sets itself. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileConfig } from '../helpers/compile.ts';

const rulesOf = (route: string, rest = ''): readonly string[] =>
  compileConfig(`
platforms:
  webhook:
    enabled: true
    secret: env:WEBHOOK_SECRET
    routes:
      pulls:
        prompt: "{number}"
        ${route}
${rest}
`).diagnostics.map(({ rule }) => rule);

const agent = (header: string): string =>
  `agent:\n  openai: { base_url: "https://models.example/v1", model: m1, headers: { ${header}: env:VALUE } }`;

describe('a reserved name', () => {
  it('is not the name of an output', () => {
    assert.deepEqual(rulesOf('outputs: { noop: { deliver: log } }'), ['output-field']);
    for (const name of ['noop2', 'no_op', 'done'])
      assert.deepEqual(rulesOf(`outputs: { ${name}: { deliver: log } }`), [], name);
  });

  for (const header of [
    'Host',
    'HOST',
    'Connection',
    'content-type',
    'Content-Length',
    'Transfer-Encoding',
    'Keep-Alive',
  ])
    it(`is not a header of the model's requests: ${header}`, () => {
      assert.deepEqual(rulesOf('', agent(header)), ['invalid-name']);
    });

  it('does not exclude other headers', () => {
    for (const header of ['authorization', 'x-api-key', 'X_Tenant', 'OpenAI-Organization', 'hostname', 'x-host'])
      assert.deepEqual(rulesOf('', agent(header)), [], header);
  });
});
