/**
 * Sixty configs that were labelled before the rules were written, and those that the rules were wrong about later: the
 * dangerous ones are found, the safe ones are left alone.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { compileFiles, printed } from '../../../helpers/compile.ts';

interface Labelled {
  readonly name: string;
  /** Of dangerous ones: what happened in such a place. */
  readonly from?: string;
  readonly rule?: string;
  readonly routes: unknown;
  /** null: there is none; absent: one that is told its toolsets. */
  readonly agent?: unknown;
  readonly jobs?: unknown;
  readonly sources?: unknown;
  readonly platform_toolsets?: unknown;
  readonly files?: Readonly<Record<string, string>>;
}

const RULES: ReadonlySet<string> = new Set(['untrusted-input', 'agent-unconfined', 'self-trigger']);
const AGENT = { command: ['my-agent', '--tools', '{toolsets}'] };

const load = (file: string): readonly Labelled[] =>
  parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as readonly Labelled[];

/** What the rules say, with the whole config as every user would write it. */
function found({ routes, agent = AGENT, jobs, sources, platform_toolsets, files = {} }: Labelled) {
  const webhook = { enabled: true, secret: 'env:WEBHOOK_SECRET', routes };
  const platforms = { webhook, telegram: { enabled: true, token: 'env:TELEGRAM_TOKEN', home_channel: '1' } };
  const config = { platforms, ...(agent === null ? {} : { agent }), jobs, sources, platform_toolsets };
  const result = compileFiles({ 'hookwright.yaml': stringify(JSON.parse(JSON.stringify(config))), ...files });
  // Another mistake in the config would make it another case.
  assert.notEqual(result.output, null, printed(result));
  const others = result.diagnostics.filter(({ rule }) => rule.startsWith('unknown-') || rule.endsWith('-filter'));
  assert.deepEqual(others, [], printed(result));
  return result.diagnostics.filter(({ rule }) => RULES.has(rule));
}

describe('dangerous configs are found', () => {
  const dangerous = load('dangerous.yaml');
  test('there are thirty', () => assert.equal(dangerous.length, 30));
  for (const labelled of [...dangerous, ...load('dangerous-later.yaml')]) {
    test(labelled.name, () => {
      const rules = found(labelled).map(({ rule }) => rule);
      assert.deepEqual(rules, [labelled.rule ?? 'untrusted-input']);
    });
  }
});

describe('safe configs are left alone', () => {
  const safe = load('safe.yaml');
  test('there are thirty', () => assert.equal(safe.length, 30));
  for (const labelled of [...safe, ...load('safe-later.yaml')]) {
    test(labelled.name, () => {
      assert.deepEqual(
        found(labelled).map(({ message }) => message),
        [],
      );
    });
  }
});
