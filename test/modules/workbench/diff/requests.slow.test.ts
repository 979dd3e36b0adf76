/** Tests captured requests under two configurations: `diff --requests` and `explain --request`. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { RequestsReport } from '../../../../modules/workbench/cli/diff/replay-requests.ts';
import { useRequests } from '../../../../modules/workbench/cli/use-requests.ts';
import { contextFor } from '../../../helpers/cli.ts';
import { goldenTexts } from '../../../helpers/golden-texts.ts';
import { CONFIG, FILTERED, keptHomes } from './captured-home.ts';

const compare = goldenTexts('modules/workbench/diff/requests.txt');

/** Removes ids and times, which differ between runs. */
const printed = (name: string, text: string): void => {
  const timeless = text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>').replace(/\btest-\d{13}-[0-9a-f]+/g, '<id>');
  compare(name, timeless.replace(/^([~✗]) [0-9a-z]{10}(?= )/gm, '$1 <id>'));
};

const counts = ({ total, same, lost, gained, changed, unjudged }: RequestsReport) =>
  `${total}: ${same} same, ${lost} lost, ${gained} gained, ${changed} changed, ${unjudged.no_body} without body`;

describe('captured requests under two configurations', () => {
  const { open } = keptHomes();

  describe('diff --requests', () => {
    it('prints the result of each captured request, and those that it cannot evaluate', async (t) => {
      const { report } = open(t);
      const cases = [
        [CONFIG, '5: 4 same, 0 lost, 0 gained, 0 changed, 1 without body'],
        [FILTERED, '5: 3 same, 1 lost, 0 gained, 0 changed, 1 without body'],
        [
          CONFIG.replace('[opened, reopened]', '[opened, reopened, closed]'),
          '5: 3 same, 0 lost, 1 gained, 0 changed, 1 without body',
        ],
        [CONFIG.replace('Review', 'Look at'), '5: 2 same, 0 lost, 0 gained, 2 changed, 1 without body'],
        [CONFIG.replace('deliver: local', 'deliver: log'), '5: 2 same, 0 lost, 0 gained, 2 changed, 1 without body'],
        [CONFIG.replace('[pull_request]', '[push]'), '5: 1 same, 2 lost, 0 gained, 1 changed, 1 without body'],
        [CONFIG.replace('review:', 'reviews:'), '5: 1 same, 2 lost, 0 gained, 1 changed, 1 without body'],
        [
          CONFIG.replace('      review:\n', '      review:\n        source: stripe\n'),
          '5: 1 same, 2 lost, 0 gained, 1 changed, 1 without body',
        ],
      ] as const;
      for (const [text, expected] of cases) assert.equal(counts(await report(text)), expected, text);
    });

    it('does not evaluate an unsigned request if the new configuration requires a signature', async (t) => {
      const { diff, report } = open(t);
      const signed = CONFIG.replace('        secret: INSECURE_NO_AUTH\n', '');
      const { unjudged, lost, same } = await report(signed);
      assert.deepEqual([unjudged.unsigned, lost, same], [1, 0, 3]);
      const { stdout } = await diff(signed, '--requests', '100');
      printed('without the signature that is asked for now', stdout);
    });

    it('evaluates an unsigned request of a route without signatures', async (t) => {
      const { report } = open(t);
      const open0 = CONFIG.replace(
        '        secret: INSECURE_NO_AUTH\n',
        '        secret: INSECURE_NO_AUTH\n        events: [push]\n',
      );
      const { lost, same, changes } = await report(open0);
      assert.deepEqual([lost, same], [1, 3]);
      assert.deepEqual(
        changes.map(({ route, new: now }) => [route, now.outcome, now.reason]),
        [['open', 'ignored', 'event']],
      );
    });

    it('evaluates the newest requests, and counts those evaluated without their script', async (t) => {
      const { home, report, diff } = open(t);
      mkdirSync(join(home, 'scripts'));
      writeFileSync(join(home, 'scripts/slim.sh'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
      const scripted = CONFIG.replace('      review:\n', '      review:\n        script: slim.sh\n');
      const { scripts, lost } = await report(scripted);
      assert.deepEqual([scripts, lost], [3, 0]);
      printed('without its script', (await diff(scripted, '--requests', '100')).stdout);
      assert.match((await diff(CONFIG, '--requests', '2')).stdout, /^2 /m);
    });

    it('prints the outcome, the prompt as a diff and the address', async (t) => {
      const { diff } = open(t);
      const lost = await diff(FILTERED, '--requests', '100');
      assert.equal(lost.code, 1);
      printed('a request that is lost', lost.stdout);
      const changed = await diff(
        CONFIG.replace('Review', 'Look at').replace('deliver: local', 'deliver: log'),
        '--requests',
        '100',
      );
      printed('another prompt and target', changed.stdout);
    });

    it('exits 1 with --fail-on only for the named differences', async (t) => {
      const { diff } = open(t);
      const codes = async (text: string) => {
        const failOn = async (named: string) => (await diff(text, '--fail-on', named)).code;
        return [await failOn('lost'), await failOn('changed'), await failOn('lost,changed')];
      };
      assert.deepEqual(await codes(FILTERED), [1, 1, 1]);
      assert.deepEqual(await codes(CONFIG.replace('Review', 'Look at')), [0, 1, 1]);
      assert.deepEqual(await codes(`${CONFIG}agent: { command: [cat] }\n`), [0, 0, 0]);
      const wrong = await diff(CONFIG, '--fail-on', 'everything');
      assert.equal(wrong.code, 2);
      assert.match(wrong.stderr, /--fail-on.*\blost\b.*\bchanged\b.*\bnone\b.*"everything"/);
    });
  });

  describe('explain --request', () => {
    it('explains a captured request with the current configuration, without its signature', async (t) => {
      const { cli, config, report } = open(t);
      const [lost] = (await report(FILTERED)).changes;
      const id = lost?.id ?? '';
      const taken = await cli('explain', '--request', id);
      assert.equal(taken.code, 0, taken.stderr);
      printed('explained', taken.stdout);
      config(FILTERED);
      const ignored = await cli('explain', 'review', '--request', id);
      assert.equal(ignored.code, 1);
      printed('explained, and lost', ignored.stdout);
    });

    it('rejects an unknown id, a request without a captured body, and an additional payload', async (t) => {
      const { home, cli } = open(t);
      const [newest] = await useRequests(contextFor({ home }), (requests) => requests.list({}, { limit: 1 }));
      const refused = await cli('explain', '--request', newest?.id ?? '');
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /\bhookwright requests show\b/);
      assert.match((await cli('explain', '--request', 'none')).stderr, /"none"/);
      assert.equal((await cli('explain', '--request', 'x', '--payload', '{}')).code, 2);
    });
  });
});
