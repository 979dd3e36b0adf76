/** Literal secrets of a config appear in no diagnostic, whatever its format, and references are not resolved into the table. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DIAGNOSTIC_FORMATS, printDiagnostics } from '../../compiler/print/print.ts';
import { compileFiles } from '../helpers/compile.ts';

const LITERAL = 'hunter2-Zq';

/** A config with faults next to, around and in the secrets. */
const CONFIG = `
platforms:
  webhook:
    secret: ${LITERAL}1
    rotues: { x: { secret: "${LITERAL}2" } }
    routes:
      a: { secret: ${LITERAL}3, promt: x, bad: 1 }
      d: { secert: ${LITERAL}16, prompt: x }
      b:
        secrets:
          - ${LITERAL}4
          - { value: ${LITERAL}5, expires_at: never }
        secret: '${LITERAL}6'
      c: { public_key: ${LITERAL}7, verify_token: ${LITERAL}8, secrets: [] }
  telegram: { enabled: true, token: ${LITERAL}9, tokn: ${LITERAL}10, variant: ${'x'} }
  email: { enabled: true, smtp_pass: ${LITERAL}11, smtp_port: x }
agent: { openai: { base_url: 1, api_key: ${LITERAL}12, modle: x } }
agents: { named: { use: codex, key: ${LITERAL}17, modle: x } }
`;

describe('a literal secret is not repeated', () => {
  const result = compileFiles({ 'hookwright.yaml': CONFIG, '~/.hookwright/.env': `A=${LITERAL}13\n` });
  test('reports diagnostics', () => assert.ok(result.diagnostics.length > 8));
  for (const format of DIAGNOSTIC_FORMATS) {
    test(format, () => {
      const text = printDiagnostics(format, result.diagnostics, { color: false, width: 120 });
      const line = text.split('\n').find((one) => one.includes(LITERAL));
      assert.equal(line, undefined);
    });
  }
});

test('the value of a reference is neither in the table nor in diagnostics', () => {
  const config = `platforms: { webhook: { enabled: true, secret: env:HOOK, routes: { a: { prompt: x, secret: env:OTHER } } } }`;
  const env = { HOOK: `${LITERAL}14`, OTHER: `${LITERAL}15` };
  const { output, diagnostics } = compileFiles({ 'hookwright.yaml': config }, { env });
  assert.deepEqual(diagnostics, []);
  assert.ok(output !== null && !output.routesJson.includes(LITERAL));
  assert.equal(output.hasLiteralSecrets, false);
});

test('marks a table with a literal secret', () => {
  const config = `platforms: { webhook: { enabled: true, routes: { a: { prompt: x, secret: ${LITERAL}-and-long-enough } } } }`;
  assert.equal(compileFiles({ 'hookwright.yaml': config }).output?.hasLiteralSecrets, true);
});
