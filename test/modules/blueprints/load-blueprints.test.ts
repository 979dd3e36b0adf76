import assert from 'node:assert/strict';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { LoadedBlueprints } from '../../../compiler/module.ts';
import { nodeFiles } from '../../../compiler/node/node-files.ts';
import { createLines } from '../../../compiler/print/lines.ts';
import { loadBlueprints } from '../../../modules/blueprints/compiler/load-blueprints.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

const SHIPPED = fileURLToPath(new URL('../../../catalog/blueprints/', import.meta.url));

const TEA = `key: tea-time
title: Tea time
description: A cup of tea.
category: daily
tags: [tea]
fields:
  - { name: time, type: time, label: When?, default: 16:00 }
schedule: "{minute} {hour} * * *"
prompt: Remind me of tea.
`;

function load(cwd: string, ...folders: readonly string[]): LoadedBlueprints {
  return loadBlueprints({ files: nodeFiles, cwd, folders });
}

function printFindings({ findings }: LoadedBlueprints): readonly string[] {
  const lines = createLines();
  return findings.map(({ rule, source, range, message }) => {
    const { line, column } = lines.positionOf(source, range.start);
    return `${source.name}:${line}:${column} ${rule}: ${message}`;
  });
}

test('the shipped catalog loads without diagnostics', (t) => {
  const loaded = load(tempDir(t), SHIPPED);
  assert.deepEqual(loaded.findings, []);
  assert.equal(loaded.plans.size, 14);
});

test('a later folder adds blueprints and replaces those with the same key, regardless of file names', (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'tea.yaml'), TEA);
  writeFileSync(join(home, 'mine.yml'), TEA.replace('tea-time', 'morning-brief'));
  writeFileSync(join(home, 'notes.txt'), 'not a blueprint');
  const { plans, findings } = load(home, SHIPPED, home);
  assert.deepEqual(findings, []);
  assert.equal(plans.size, 15);
  assert.equal(plans.get('morning-brief')?.title, 'Tea time');
  assert.deepEqual([...plans.keys()], [...plans.keys()].sort());
});

test('two files of one folder with the same key are an error with both positions', (t) => {
  const home = tempDir(t);
  writeFileSync(join(home, 'a.yaml'), TEA);
  writeFileSync(join(home, 'b.yaml'), `# a comment\n${TEA}`);
  const loaded = load(home, home);
  const [found, ...others] = printFindings(loaded);
  assert.match(found ?? '', /^b\.yaml:2:6 duplicate-definition: .*`tea-time`/);
  assert.deepEqual(others, []);
  assert.equal(loaded.findings[0]?.related?.[0]?.source.name, 'a.yaml');
});

test('an error has a position, and the other files still load', (t) => {
  const home = tempDir(t);
  mkdirSync(join(home, 'folder.yaml'));
  writeFileSync(join(home, 'default.yaml'), TEA.replace('16:00', '4 pm'));
  writeFileSync(join(home, 'list.yaml'), '- 1\n');
  writeFileSync(join(home, 'misspelt.yaml'), TEA.replace('schedule:', 'shedule:'));
  writeFileSync(join(home, 'tea.yaml'), TEA);
  const loaded = load(home, join(home, 'missing'), home);
  assert.deepEqual([...loaded.plans.keys()], ['tea-time']);
  const [first, ...rest] = printFindings(loaded);
  assert.match(first ?? '', /^default\.yaml:7:54 blueprint-default: .*`HH:MM`/);
  assert.match(rest.join('\n'), /folder\.yaml:1:1 unreadable-file: /);
  assert.match(rest.join('\n'), /list\.yaml:1:1 wrong-type: /);
  assert.match(rest.join('\n'), /misspelt\.yaml:8:1 unknown-key: .*`schedule`/);
});

test('an error in a schedule has the position of the schedule', (t) => {
  const home = tempDir(t);
  cpSync(join(SHIPPED, 'morning-brief.yaml'), join(home, 'brief.yaml'));
  writeFileSync(join(home, 'brief.yaml'), TEA.replace('{hour}', '{our}'));
  assert.match(printFindings(load(home, home))[0] ?? '', /^brief\.yaml:8:21 blueprint-schedule: .*`\{our\}`/);
});
